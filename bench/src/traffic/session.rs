//! What all comparisons have in common, and how one is made.

use std::time::Duration;

use study::{Family, Scenario};
use testbed::{CpuSplit, Testbed};

use crate::cli::Bench;
use crate::failure::Failure;
use crate::installed::Installed;
use crate::netassay::receiver;
use crate::peers::Job;
use crate::report::Report;
use crate::traffic::cell::Cell;
use crate::traffic::comparison::{Beside, Comparison, Pair};
use crate::traffic::turn::{self, NoTurn, Timing};
use crate::traffic::yardstick::Yardstick;

/// Beyond ramp and window: the traffic is seen a little after it began, and must outlast the window.
const SLACK: Duration = Duration::from_millis(300);
/// The same for a smoke test, which runs while other tests do.
const SMOKE_SLACK: Duration = Duration::from_millis(1500);

pub(crate) struct Session<'a> {
    pub(crate) bench: &'a Bench<'a>,
    pub(crate) cpus: CpuSplit,
    pub(crate) rootless: bool,
    pub(crate) timing: Timing,
    pub(crate) pairs: u32,
}

impl Session<'_> {
    /// A testbed, whose notes go into the report.
    pub(crate) fn testbed(&self, scenario: Scenario, report: &mut Report) -> Result<Testbed, Failure> {
        let bench = self.bench;
        let testbed = bench.netassay.testbed(scenario, &self.cpus, self.rootless, &bench.interrupt)?;
        for note in testbed.notes() {
            report.note(format!("{scenario}: {note}"));
        }
        Ok(testbed)
    }

    /// A testbed of its own, and in it the rounds: netassay and the first peer, netassay and the second, and so on. None if netassay's
    /// side could not be done; what could not is in the report.
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
        let job = self.job(cell, &testbed)?;
        for way in &cell.ways {
            let lacking = load::lacking(&turn::traffic(&job, *way), job.ipv6);
            if !lacking.is_empty() {
                return Err(Failure::Environment(lacking.join("; ")));
            }
        }
        let yardstick = Yardstick::new(&job, &testbed, cell.scenario == Scenario::Loopback)?;
        let nothing = |one: &Installed| Beside {
            peer: one.peer.name(),
            version: one.version.clone(),
            pairs: Vec::new(),
        };
        let mut beside: Vec<Beside> = cell.peers.iter().map(nothing).collect();
        for number in 1..=self.pairs {
            for peer in &cell.peers {
                let Some(place) = beside.iter().position(|one| one.peer == peer.peer.name()) else {
                    continue;
                };
                match self.pair(cell, peer, &mut testbed, &job, &yardstick) {
                    Ok(pair) => {
                        self.say(cell, number, peer.peer.name(), &pair);
                        beside[place].pairs.push(pair);
                        continue;
                    }
                    Err(Trouble::Own(failure)) => return Err(failure),
                    Err(Trouble::Peer(NoTurn::Declined(why))) => {
                        report.note(format!("{} beside {}: {why}", cell.place(), peer.peer.name()));
                    }
                    Err(Trouble::Peer(NoTurn::Failed(failure))) if failure.is_interrupt() => {
                        return Err(failure);
                    }
                    Err(Trouble::Peer(NoTurn::Failed(failure))) => {
                        let place = format!("{} beside {}", cell.place(), peer.peer.name());
                        report.not_run.push(format!("{place}: {failure}"));
                    }
                }
                beside.remove(place);
            }
        }
        Ok(Comparison {
            part: cell.part,
            scenario: cell.scenario,
            workload: cell.task.kind,
            family: cell.family,
            message: cell.task.message,
            polling: job.polling,
            ways: cell.ways.clone(),
            beside,
        })
    }

    /// netassay in its first way, the peer, and netassay's other ways.
    fn pair(
        &self,
        cell: &Cell,
        peer: &Installed,
        testbed: &mut Testbed,
        job: &Job,
        yardstick: &Yardstick,
    ) -> Result<Pair, Trouble> {
        let (timing, interrupt) = (self.timing, &self.bench.interrupt);
        let mut netassay = Vec::new();
        let mut of_peer = None;
        for way in &cell.ways {
            let turn = turn::of_netassay(testbed, job, *way, timing, yardstick, interrupt);
            netassay.push(turn.map_err(Trouble::Own)?);
            if of_peer.is_none() {
                let turn = turn::of_peer(peer, testbed, self.rootless, job, timing, yardstick, interrupt);
                of_peer = Some(turn.map_err(Trouble::Peer)?);
            }
        }
        let internal = || Trouble::Own(Failure::Internal("netassay has no way to do this".to_owned()));
        Ok(Pair { netassay, peer: of_peer.ok_or_else(internal)? })
    }

    fn job(&self, cell: &Cell, testbed: &Testbed) -> Result<Job, Failure> {
        let ipv6 = cell.family == Family::Ipv6;
        let slack = if self.bench.common.smoke { SMOKE_SLACK } else { SLACK };
        let address = |end: &testbed::End| if ipv6 { end.ipv6 } else { end.ipv4 };
        Ok(Job {
            kind: cell.task.kind,
            ipv6,
            message: cell.task.message,
            polling: cell.task.polling(self.rootless),
            seconds: (self.timing.ramp + self.timing.window + slack).as_secs_f64().ceil() as u32,
            client: address(&testbed.transmitter),
            server: address(receiver(testbed)?),
        })
    }

    fn say(&self, cell: &Cell, number: u32, peer: &str, pair: &Pair) {
        let ratios: Vec<String> =
            pair.netassay.iter().map(|turn| format!("{:.2}", turn.received / pair.peer.received)).collect();
        let (place, pairs) = (cell.place(), self.pairs);
        self.bench.say(&format!("{place} beside {peer} {number}/{pairs}: {}", ratios.join(", ")));
    }
}

/// Whose turn gave nothing.
enum Trouble {
    Own(Failure),
    Peer(NoTurn),
}
