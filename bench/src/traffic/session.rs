//! What all comparisons have in common, and how one is made.

use guest::Kernel;
use study::{Family, Scenario};
use testbed::Testbed;

use crate::bench::{Bench, receiver};
use crate::failure::Failure;
use crate::installed::Installed;
use crate::peers::Job;
use crate::place::{Host, Hosts};
use crate::report::Report;
use crate::traffic::cell::Cell;
use crate::traffic::comparison::{Beside, Comparison, Pair};
use crate::traffic::counted::Counted;
use crate::traffic::guests;
use crate::traffic::timing::Timing;
use crate::traffic::turn::{self, Turn};

/// How long a socket polls its device, where it may, in µs: longer than any round trip here.
const BUSY_POLL: u32 = 50;
/// An address in the range that RFC 2544 reserves for benchmarks.
const UNUSED: &str = "198.19.255.1";

pub(crate) struct Session<'a> {
    pub(crate) bench: &'a Bench,
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
        let testbed = match &self.kernel {
            Some(kernel) if scenario.has_guests() => guests::testbed(self.bench, kernel)?,
            _ => self.bench.testbed(scenario, self.bench.rootless)?,
        };
        for note in testbed.notes() {
            report.note(format!("{scenario}: {note}"));
        }
        Ok(testbed)
    }

    /// Makes a testbed, and in it the rounds: netassay in its first mode, the first peer, netassay
    /// in its second mode (if it has one), the second peer, and so on. Fails if netassay's side
    /// does; a peer that fails is told and left out.
    pub(crate) fn compare(&self, cell: &Cell, report: &mut Report) -> Result<Comparison, Failure> {
        let mut testbed = self.testbed(cell.scenario, report)?;
        let hosts = self.hosts(cell, &testbed)?;
        self.prepare(cell, &hosts)?;
        let timing = self.timing(cell);
        let job = self.job(cell, &testbed, timing)?;
        for mode in &cell.modes {
            let lacking = testbed.lacking(&turn::traffic(&job, *mode), study::Family::of(job.ipv6))?;
            if !lacking.is_empty() {
                return Err(Failure::Environment(lacking.join("; ")));
            }
        }
        let counted = Counted::new(&job, &testbed, &hosts, cell.scenario)?;
        let mut peers: Vec<(Installed, Vec<Pair>)> =
            cell.peers.iter().map(|peer| (peer.clone(), Vec::new())).collect();
        let interrupt = &self.bench.interrupt;
        for round in 1..=self.pairs {
            let (mut own, mut theirs) = (Vec::new(), Vec::new());
            let mut next = peers.iter();
            for place in 0..cell.modes.len().max(peers.len()) {
                if let Some(mode) = cell.modes.get(place) {
                    own.push(turn::of_netassay(&mut testbed, &job, *mode, timing, &counted, interrupt)?);
                }
                let Some((peer, _)) = next.next() else { continue };
                let name = peer.peer.name();
                match turn::of_peer(peer, &hosts, &job, timing, &counted, interrupt) {
                    Ok(turn) => theirs.push((name, turn)),
                    Err(no_turn) => no_turn.tell(&format!("{} beside {name}", cell.name()), report)?,
                }
            }
            self.say(cell, round, &own, &theirs);
            let turn = |name: &str| theirs.iter().find(|(one, _)| *one == name).map(|(_, turn)| turn.clone());
            peers.retain_mut(|(peer, pairs)| {
                let turn = turn(peer.peer.name());
                pairs.extend(turn.clone().map(|peer| Pair { netassay: own.clone(), peer }));
                turn.is_some()
            });
            // So that each peer has the turn after netassay's equally often.
            let next = 1.min(peers.len());
            peers.rotate_left(next);
        }
        // In the order of the cell, whatever the last round's was.
        let place = |name| cell.peers.iter().position(|peer| peer.peer.name() == name);
        peers.sort_by_key(|(peer, _)| place(peer.peer.name()));
        let beside = |(Installed { peer, version }, pairs)| Beside { peer: peer.name(), version, pairs };
        Ok(Comparison { cell: cell.clone(), beside: peers.into_iter().map(beside).collect() })
    }

    /// Progress: netassay's rates by those of each peer.
    fn say(&self, cell: &Cell, round: u32, own: &[Turn], theirs: &[(&str, Turn)]) {
        let beside = theirs.iter().map(|(peer, turn)| {
            let ratio = |own: &Turn| format!("{:.2}", own.flow.received / turn.flow.received);
            format!(" beside {peer} {}", own.iter().map(ratio).collect::<Vec<_>>().join(" and "))
        });
        let beside = beside.collect::<Vec<_>>().join(",");
        self.bench.say(&format!("{} {round}/{}:{beside}", cell.name(), self.pairs));
    }

    fn job(&self, cell: &Cell, testbed: &Testbed, timing: Timing) -> Result<Job, Failure> {
        let ipv6 = cell.family == Family::Ipv6;
        let address = |end: &testbed::End| if ipv6 { end.ipv6 } else { end.ipv4 };
        Ok(Job {
            kind: cell.task.kind,
            ipv6,
            message: cell.task.message,
            flows: cell.task.flows,
            cpus: testbed.transmitter.cpus.len() as u32,
            congestion_control: cell.congestion_control.clone(),
            polls: cell.task.polls,
            // A socket polls its device for privileged users only (socket(7), `SO_BUSY_POLL`).
            busy_poll: (cell.task.polls && !self.bench.rootless).then_some(BUSY_POLL),
            seconds: timing.peer_seconds(),
            client: address(&testbed.transmitter),
            server: address(receiver(testbed)?),
        })
    }

    fn timing(&self, cell: &Cell) -> Timing {
        let timing = if cell.scenario.has_guests() { self.timing_of_guests } else { self.timing };
        timing.with(cell.task.flows)
    }

    /// The hosts of a testbed. netassay pins one flow to the first of a host's CPUs and shares many
    /// out over all of them.
    fn hosts(&self, cell: &Cell, testbed: &Testbed) -> Result<Hosts, Failure> {
        if let (Some(kernel), true) = (&self.kernel, cell.scenario.has_guests()) {
            return guests::hosts(self.bench, kernel, cell, testbed);
        }
        let host = |end: &testbed::End| self.host(end, cell.task.flows);
        Ok(Hosts { transmitter: host(&testbed.transmitter), receiver: host(receiver(testbed)?) })
    }

    /// The host of an end that is a namespace.
    pub(crate) fn host(&self, end: &testbed::End, flows: u32) -> Host {
        let cpus = end.cpus.iter().copied().take(flows as usize).collect();
        Host { process: end.pid(), rootless: self.bench.rootless, cpus, guest: None }
    }

    /// Sets on the hosts what all programs of a cell have in common.
    fn prepare(&self, cell: &Cell, hosts: &Hosts) -> Result<(), Failure> {
        let mut settings = String::new();
        if let Some(name) = &cell.congestion_control {
            let kernel = self.kernel.as_ref().filter(|_| cell.scenario.has_guests());
            if let Some(module) = kernel.and_then(|kernel| guests::module(kernel, name)) {
                settings += &format!(" --module {}", module.display());
            }
            settings += &format!(" --congestion-control {name}");
        }
        let is_shared = cell.scenario == Scenario::Loopback;
        if is_shared {
            // In a namespace with loopback addresses only, netperf resolves no address
            // (`AI_ADDRCONFIG`).
            settings += &format!(" --interface lo --address {UNUSED} --prefix 32");
        }
        for host in [&hosts.transmitter, &hosts.receiver].into_iter().take(if is_shared { 1 } else { 2 }) {
            host.prepare(&settings, &self.bench.interrupt)?;
        }
        Ok(())
    }
}
