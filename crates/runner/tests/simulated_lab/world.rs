//! The surroundings of a session.

use std::collections::BTreeMap;

use agent::Interrupt;
use netassay_runner::{Campaign, Error, Event, Summary};
use record::Cause;
use store::{RunStatus, Store, StoredStudy, StudyId};
use study::Study;

use crate::simulator::SimulatedLab;

/// A lab, a store and a study, and all that was told.
pub(crate) struct World {
    pub(crate) lab: SimulatedLab,
    pub(crate) store: Store,
    pub(crate) interrupt: Interrupt,
    pub(crate) events: Vec<Event>,
    pub(crate) study: Study,
    /// The result of a look.
    pub(crate) is_decided: fn(&StoredStudy) -> bool,
    pub(crate) keep_disturbed: bool,
    pub(crate) beside: Option<Cause>,
    /// Whether what crashed a machine is tried again.
    pub(crate) again: bool,
    /// The differences of the machine, at each question.
    pub(crate) differences: Box<dyn Fn() -> Vec<Cause>>,
    /// The directory of the store.
    pub(crate) _directory: tempfile::TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(directory.path().join("netassay.db")).unwrap();
        let interrupt = Interrupt::new().unwrap();
        let lab = SimulatedLab::new(interrupt.clone());
        Self {
            lab,
            store,
            interrupt,
            events: Vec::new(),
            study: study(),
            is_decided: never,
            keep_disturbed: false,
            beside: None,
            again: false,
            differences: Box::new(Vec::new),
            _directory: directory,
        }
    }

    pub(crate) fn session(&mut self, resume: Option<StudyId>) -> Result<Summary, Error> {
        let events = &mut self.events;
        let mut campaign = Campaign {
            pair: None,
            again: self.again,
            lab: &mut self.lab,
            store: &mut self.store,
            interrupt: self.interrupt.clone(),
            observe: &mut |event| events.push(event.clone()),
            is_decided: &self.is_decided,
            keep_disturbed: self.keep_disturbed,
            beside: self.beside.clone(),
            machine: &[],
            differences: &*self.differences,
            version: "test",
        };
        match resume {
            None => campaign.run(&self.study),
            Some(id) => campaign.resume(id),
        }
    }

    /// A new controller, after the old one's user has interrupted it.
    pub(crate) fn calm(&mut self) {
        self.interrupt = Interrupt::new().unwrap();
        self.lab.interrupt = self.interrupt.clone();
        self.lab.faults.clear();
    }

    /// The number of stored runs for each planned recorded run.
    pub(crate) fn recorded(&self, id: StudyId) -> BTreeMap<(u32, u32, usize), usize> {
        let mut counts = BTreeMap::new();
        for run in self.store.load(id).unwrap().runs {
            if !run.warmup && run.status == RunStatus::Ok {
                *counts.entry((run.boot, run.repeat, run.condition)).or_insert(0) += 1;
            }
        }
        counts
    }
}

fn never(_: &StoredStudy) -> bool {
    false
}

/// A study over up to 6 boots, with looks after 2, 4 and 6.
pub(crate) fn looking_study() -> Study {
    let text = study().text.replace("boots = 2", "boots = 6\n        stop = { detect = \"2%\", looks = 3 }");
    parsed(&text)
}

/// tx off drags tso off, so two of the four combinations are one.
pub(crate) fn study() -> Study {
    let text = r#"
        name = "simulated"
        question = "Does the runner run?"
        scenario = "veth"
        [[workload]]
        kind = "tcp_stream"
        duration = "10ms"
        [factors]
        tx = ["on", "off"]
        tso = ["on", "off"]
        [protocol]
        boots = 2
        warmup = 1
        runs = 2
        seed = 7
    "#;
    parsed(text)
}

/// A study with a path that is traced.
pub(crate) fn traced_study() -> Study {
    let text = study().text.replace("[factors]", "[trace]\n        paths = [\"tcp-tx\"]\n        [factors]");
    let text = text.replace("scenario = \"veth\"", "scenario = \"veth\"\n        inside = \"guest\"");
    parsed(&text)
}

/// A study with conditions that take turns.
pub(crate) fn alternated_study() -> Study {
    let text = study().text.replace("seed = 7", "seed = 7\n        alternate = \"100ms\"");
    let text = text.replace("duration = \"10ms\"", "duration = \"1s\"");
    parsed(&text)
}

/// A study of two ways to send.
pub(crate) fn sending_study() -> Study {
    let text = r#"
        name = "sending"
        question = "What does GSO give?"
        scenario = "veth"
        [[workload]]
        kind = "udp_stream"
        duration = "10ms"
        [factors]
        sender = ["send", "gso"]
        family = ["ipv4", "ipv6"]
        [protocol]
        boots = 1
        warmup = 0
        runs = 1
    "#;
    parsed(text)
}

pub(crate) fn parsed(text: &str) -> Study {
    Study::parse("simulated.toml", text).unwrap_or_else(|problems| panic!("{problems}"))
}
