//! Tries a state of virtual machines without a boot, where an earlier session knows the answers.

use std::time::{Duration, SystemTime};

use record::{Environment, Note};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use study::{Condition, Effective};
use testbed::guest::{self, TrialCache};
use testbed::{RunOrder, Switches, TurnsOrder};

use crate::lab::{Bench, Readings};

/// Builds the testbed and returns how long that took.
type Build = Box<dyn FnMut() -> Result<(Box<dyn Bench>, Duration), testbed::Error>>;

/// A testbed that is built at the first question without a known answer. Answers are kept.
pub(crate) struct CachedProbe {
    memory: TrialCache,
    key: Value,
    build: Build,
    bench: Option<Box<dyn Bench>>,
    known: CachedAnswers,
    /// When an earlier session asked, if one did.
    when: Option<SystemTime>,
    /// Whether there are new answers to keep.
    news: bool,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct CachedAnswers {
    notes: Vec<Note>,
    /// The time to build the testbed.
    built_in: Duration,
    lacking: Vec<(load::Traffic, load::Family, Vec<String>)>,
    settled: Vec<(Switches, Effective)>,
}

impl CachedProbe {
    /// The testbed that `build` builds; `memory` may hold answers for `key`.
    pub(crate) fn new(memory: TrialCache, key: Value, build: Build) -> Result<Self, testbed::Error> {
        let recalled = memory.recall(&key);
        let (known, when) = recalled.map_or_else(Default::default, |known| (known.what, Some(known.when)));
        let mut new = Self { memory, key, build, bench: None, known, when, news: false };
        if new.when.is_none() {
            new.bench()?;
        }
        Ok(new)
    }

    fn bench(&mut self) -> Result<&mut Box<dyn Bench>, testbed::Error> {
        if self.bench.is_none() {
            let (bench, built_in) = (self.build)()?;
            self.known.built_in = built_in;
            self.known.notes = bench.notes();
            self.when = None;
            self.news = true;
            self.bench = Some(bench);
        }
        Ok(self.bench.as_mut().expect("it was just built"))
    }
}

impl Bench for CachedProbe {
    fn notes(&self) -> Vec<Note> {
        let recalled = self.when.map(|when| Note::Recalled(guest::date(when)));
        self.known.notes.iter().cloned().chain(recalled).collect()
    }

    fn environment(&mut self) -> Result<Environment, testbed::Error> {
        self.bench()?.environment()
    }

    fn settle(&mut self, switches: &Switches) -> Result<Effective, testbed::Error> {
        if let Some((_, known)) = self.known.settled.iter().find(|(asked, _)| asked == switches) {
            return Ok(known.clone());
        }
        let effective = self.bench()?.settle(switches)?;
        self.known.settled.push((switches.clone(), effective.clone()));
        Ok(effective)
    }

    fn lacking(
        &mut self,
        traffic: &load::Traffic,
        family: load::Family,
    ) -> Result<Vec<String>, testbed::Error> {
        let same =
            |asked: &&(load::Traffic, load::Family, Vec<String>)| asked.0 == *traffic && asked.1 == family;
        if let Some((_, _, known)) = self.known.lacking.iter().find(same) {
            return Ok(known.clone());
        }
        let lacking = self.bench()?.lacking(traffic, family)?;
        self.known.lacking.push((traffic.clone(), family, lacking.clone()));
        Ok(lacking)
    }

    fn run(
        &mut self,
        condition: &Condition,
        order: &RunOrder,
        tick: &mut dyn FnMut(),
    ) -> Result<Readings, testbed::Error> {
        self.bench()?.run(condition, order, tick)
    }

    fn take_turns(
        &mut self,
        order: &TurnsOrder,
        tick: &mut dyn FnMut(),
    ) -> Result<Vec<Readings>, testbed::Error> {
        self.bench()?.take_turns(order, tick)
    }

    fn built_in(&self) -> Option<Duration> {
        Some(self.known.built_in)
    }
}

impl Drop for CachedProbe {
    fn drop(&mut self) {
        if self.news {
            self.memory.keep(&self.key, &self.known);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::collections::BTreeMap;
    use std::rc::Rc;

    use serde_json::json;
    use study::Settled;
    use testbed::Switches;

    use super::*;

    /// Hosts that answer, and count how often they are asked.
    struct Hosts(Rc<Cell<[u32; 3]>>);

    impl Hosts {
        fn count(&self, question: usize) {
            let mut counts = self.0.get();
            counts[question] += 1;
            self.0.set(counts);
        }
    }

    impl Bench for Hosts {
        fn notes(&self) -> Vec<Note> {
            vec![Note::Kvm]
        }

        fn environment(&mut self) -> Result<Environment, testbed::Error> {
            Ok(record::sample::environment())
        }

        fn settle(&mut self, switches: &Switches) -> Result<Effective, testbed::Error> {
            self.count(1);
            let (mtu, [active, follow_on]) = (switches.mtu.unwrap_or(0), Default::default());
            let transmitter = Settled {
                mtu,
                active,
                refused: BTreeMap::new(),
                follow_on,
                device: BTreeMap::new(),
                tuning: BTreeMap::new(),
            };
            Ok(Effective { transmitter, receiver: None, underlay: None, fragments: None })
        }

        fn lacking(
            &mut self,
            _: &load::Traffic,
            family: load::Family,
        ) -> Result<Vec<String>, testbed::Error> {
            self.count(2);
            Ok(if family == load::Family::Ipv6 { vec!["IPv6".to_owned()] } else { Vec::new() })
        }

        fn run(
            &mut self,
            _: &Condition,
            _: &RunOrder,
            _: &mut dyn FnMut(),
        ) -> Result<Readings, testbed::Error> {
            unreachable!("nothing is measured while it is tried out")
        }
    }

    #[test]
    fn what_was_asked_once_is_asked_no_more_until_it_is_forgotten() {
        let directory = tempfile::tempdir().unwrap();
        let memory = TrialCache::in_directory(directory.path());
        let counts = Rc::new(Cell::new([0; 3]));
        let key = json!("state");
        let traffic = load::Traffic::new(load::Kind::UdpStream);
        let ask = |mtu: u32| {
            let counts = Rc::clone(&counts);
            let build = move || {
                let hosts = Hosts(Rc::clone(&counts));
                hosts.count(0);
                Ok((Box::new(hosts) as Box<dyn Bench>, Duration::from_secs(7)))
            };
            let mut bench = CachedProbe::new(memory.clone(), key.clone(), Box::new(build)).unwrap();
            let read = bench.settle(&Switches { mtu: Some(mtu), ..Switches::default() }).unwrap();
            assert_eq!(read.transmitter.mtu, mtu);
            assert!(bench.lacking(&traffic, load::Family::Ipv4).unwrap().is_empty());
            assert_eq!(bench.lacking(&traffic, load::Family::Ipv6).unwrap(), ["IPv6"]);
            assert_eq!(bench.built_in(), Some(Duration::from_secs(7)));
            bench.notes()
        };
        assert_eq!(ask(1500), [Note::Kvm]);
        assert_eq!(counts.get(), [1, 1, 2]);
        let notes = ask(1500);
        assert!(notes[0] == Note::Kvm && notes[1].to_string().contains("probed on 2"), "{notes:?}");
        assert_eq!(counts.get(), [1, 1, 2], "nobody was asked");
        // An unknown answer is asked for, and kept with the others.
        assert_eq!(ask(9000), [Note::Kvm]);
        assert_eq!(counts.get(), [2, 2, 2]);
        ask(1500);
        ask(9000);
        assert_eq!(counts.get(), [2, 2, 2]);
        memory.forget(&key);
        ask(1500);
        assert_eq!(counts.get(), [3, 3, 4]);
    }
}
