//! What all comparisons have in common, and how one is made.

use std::collections::VecDeque;
use std::time::Duration;

use guest::Kernel;
use study::{Family, Scenario};
use testbed::{CpuSplit, Testbed};

use crate::bench::Bench;
use crate::failure::Failure;
use crate::installed::Installed;
use crate::netassay::receiver;
use crate::peers::Job;
use crate::place::{Namespace, Places, THIS_PROGRAM};
use crate::report::Report;
use crate::traffic::cell::Cell;
use crate::traffic::comparison::{Beside, Comparison, Pair};
use crate::traffic::guests;
use crate::traffic::turn::{self, NoTurn, Timing, Turn};
use crate::traffic::yardstick::Yardstick;

/// How long setting a namespace up may take.
const PREPARED: Duration = Duration::from_secs(5);

pub(crate) struct Session<'a> {
    pub(crate) bench: &'a Bench<'a>,
    pub(crate) cpus: CpuSplit,
    pub(crate) rootless: bool,
    pub(crate) timing: Timing,
    /// The times between virtual machines.
    pub(crate) timing_of_guests: Timing,
    /// What virtual machines boot, if there are any.
    pub(crate) kernel: Option<Kernel>,
    pub(crate) pairs: u32,
}

impl Session<'_> {
    /// A testbed, whose notes go into the report.
    pub(crate) fn testbed(&self, scenario: Scenario, report: &mut Report) -> Result<Testbed, Failure> {
        let bench = self.bench;
        let testbed = if scenario.has_guests() {
            guests::testbed(self.kernel()?, &self.cpus, self.rootless, &bench.interrupt)?
        } else {
            bench.netassay.testbed(scenario, &self.cpus, self.rootless, &bench.interrupt)?
        };
        for note in testbed.notes() {
            report.note(format!("{scenario}: {note}"));
        }
        Ok(testbed)
    }

    /// A testbed of its own, and in it the rounds: netassay in its first way, the first peer,
    /// netassay in its second way (if it has one), the second peer, and so on. `None` if netassay's
    /// side failed; the report has the reason.
    pub(crate) fn compare(&self, cell: &Cell, report: &mut Report) -> Result<Option<Comparison>, Failure> {
        match self.rounds(cell, report) {
            Ok(comparison) => Ok(Some(comparison)),
            Err(failure) if failure.is_interrupt() => Err(failure),
            Err(failure) => {
                report.not_run.push(format!("{}: {failure}", cell.place()));
                Ok(None)
            }
        }
    }

    fn rounds(&self, cell: &Cell, report: &mut Report) -> Result<Comparison, Failure> {
        let mut testbed = self.testbed(cell.scenario, report)?;
        let places = self.places(cell, &testbed)?;
        self.prepare(cell, &places)?;
        let job = self.job(cell, &testbed)?;
        // What a guest lacks, its agent says.
        let ways = if cell.scenario.has_guests() { &[] } else { cell.ways.as_slice() };
        for way in ways {
            let lacking = load::lacking(&turn::traffic(&job, *way), load::Family::of(job.ipv6));
            if !lacking.is_empty() {
                return Err(Failure::Environment(lacking.join("; ")));
            }
        }
        let yardstick = Yardstick::new(&job, &testbed, &places, cell.scenario)?;
        let nothing = |one: &Installed| Beside {
            peer: one.peer.name(),
            version: one.version.clone(),
            pairs: Vec::new(),
        };
        let mut beside: Vec<Beside> = cell.peers.iter().map(nothing).collect();
        let (timing, interrupt) = (self.timing(cell), &self.bench.interrupt);
        let mut peers: VecDeque<Installed> = cell.peers.iter().cloned().collect();
        for number in 1..=self.pairs {
            let (mut own, mut theirs) = (Vec::new(), Vec::new());
            let mut next = peers.clone().into_iter();
            for place in 0..cell.ways.len().max(peers.len()) {
                if let Some(way) = cell.ways.get(place) {
                    own.push(turn::of_netassay(&mut testbed, &job, *way, timing, &yardstick, interrupt)?);
                }
                let Some(peer) = next.next() else { continue };
                match turn::of_peer(&peer, &places, &job, timing, &yardstick, interrupt) {
                    Ok(turn) => {
                        theirs.push((peer.peer.name(), turn));
                        continue;
                    }
                    Err(NoTurn::Failed(failure)) if failure.is_interrupt() => return Err(failure),
                    Err(no_turn) => {
                        no_turn.tell(&format!("{} beside {}", cell.place(), peer.peer.name()), report)
                    }
                }
                peers.retain(|one| one.peer.name() != peer.peer.name());
                beside.retain(|one| one.peer != peer.peer.name());
            }
            self.say(cell, number, &own, &theirs);
            for (name, peer) in theirs {
                let pairs = beside.iter_mut().filter(|one| one.peer == name).map(|one| &mut one.pairs);
                pairs.for_each(|pairs| pairs.push(Pair { netassay: own.clone(), peer: peer.clone() }));
            }
            // So that each peer has the turn after netassay's equally often.
            peers.rotate_left(1.min(peers.len()));
        }
        Ok(Comparison {
            part: cell.part,
            scenario: cell.scenario,
            workload: cell.task.kind,
            family: cell.family,
            message: cell.task.message,
            flows: cell.task.flows,
            congestion_control: cell.congestion_control.clone(),
            polling: job.polling,
            ways: cell.ways.clone(),
            beside,
        })
    }

    fn kernel(&self) -> Result<&Kernel, Failure> {
        self.kernel.as_ref().ok_or_else(|| Failure::Internal("nobody has looked for a kernel".to_owned()))
    }

    fn job(&self, cell: &Cell, testbed: &Testbed) -> Result<Job, Failure> {
        let ipv6 = cell.family == Family::Ipv6;
        let address = |end: &testbed::End| if ipv6 { end.ipv6 } else { end.ipv4 };
        Ok(Job {
            kind: cell.task.kind,
            ipv6,
            message: cell.task.message,
            flows: cell.task.flows,
            cpus: testbed.transmitter.cpus.len() as u32,
            congestion_control: cell.congestion_control.clone(),
            polling: cell.task.polling(self.rootless),
            seconds: self.timing(cell).peer_seconds(),
            client: address(&testbed.transmitter),
            server: address(receiver(testbed)?),
        })
    }

    /// The times of a cell's turns.
    fn timing(&self, cell: &Cell) -> Timing {
        let timing = if cell.scenario.has_guests() { self.timing_of_guests } else { self.timing };
        timing.with(cell.task.flows)
    }

    /// The hosts of a testbed. netassay pins one flow to the first of a host's CPUs and shares many
    /// out over all of them.
    fn places(&self, cell: &Cell, testbed: &Testbed) -> Result<Places, Failure> {
        if cell.scenario.has_guests() {
            return guests::places(self.kernel()?, self.rootless, cell, testbed);
        }
        let place = |end: &testbed::End| {
            let cpus = end.cpus.iter().copied().take(cell.task.flows as usize).collect();
            Box::new(Namespace { agent: end.pid(), rootless: self.rootless, cpus })
        };
        Ok(Places { transmitter: place(&testbed.transmitter), receiver: place(receiver(testbed)?) })
    }

    fn say(&self, cell: &Cell, number: u32, own: &[Turn], theirs: &[(&str, Turn)]) {
        let beside = theirs.iter().map(|(peer, turn)| {
            let ratios: Vec<String> =
                own.iter().map(|own| format!("{:.2}", own.received / turn.received)).collect();
            format!(" beside {peer} {}", ratios.join(" and "))
        });
        let beside: Vec<String> = beside.collect();
        self.bench.say(&format!("{} {number}/{}:{}", cell.place(), self.pairs, beside.join(",")));
    }

    /// Sets on the hosts what all programs of a cell have in common.
    fn prepare(&self, cell: &Cell, places: &Places) -> Result<(), Failure> {
        let mut command = [THIS_PROGRAM, "prepare"].map(str::to_owned).to_vec();
        if let Some(name) = &cell.congestion_control {
            let kernel = self.kernel.as_ref().filter(|_| cell.scenario.has_guests());
            if let Some(module) = kernel.and_then(|kernel| guests::module(kernel, name)) {
                command.extend(["--module".to_owned(), module.to_string_lossy().into_owned()]);
            }
            command.extend(["--congestion-control".to_owned(), name.clone()]);
        }
        let shared = cell.scenario == Scenario::Loopback;
        if shared {
            // In a namespace with loopback addresses only, netperf resolves no address
            // (`AI_ADDRCONFIG`).
            command.push("--address".to_owned());
        }
        for place in [&places.transmitter, &places.receiver].into_iter().take(if shared { 1 } else { 2 }) {
            let mut prepared = place.start(&command)?;
            match prepared.wait(PREPARED, &self.bench.interrupt)? {
                Some(status) if status.success() => {}
                _ => return Err(Failure::Environment(prepared.complaint())),
            }
        }
        Ok(())
    }
}
