//! What all comparisons have in common, and how one is made.

use study::{Family, Scenario};
use testbed::Testbed;
use testbed::guest::Kernel;

use crate::bench::{Bench, receiver};
use crate::failure::Failure;
use crate::installed::Installed;
use crate::peers::Job;
use crate::place::{Host, Hosts};
use crate::report::Report;
use crate::traffic::cell::Cell;
use crate::traffic::comparison::{Beside, Comparison};
use crate::traffic::controls::module;
use crate::traffic::counted::Counted;
use crate::traffic::guests;
use crate::traffic::timing::Timing;
use crate::traffic::turn::{Turn, Turns, traffic};

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
        for note in &testbed.notes {
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
        let timing = if cell.scenario.has_guests() { self.timing_of_guests } else { self.timing };
        let timing = timing.with(cell.task.flows);
        let job = self.job(cell, &testbed, timing.peer_seconds())?;
        for mode in &cell.modes {
            let lacking = testbed.lacking(&traffic(&job, *mode), study::Family::from_ipv6(job.ipv6))?;
            if !lacking.is_empty() {
                return Err(Failure::Environment(lacking.join("; ")));
            }
        }
        let counted = Counted::new(&job, &testbed, &hosts, cell.scenario)?;
        let turns = Turns { job, hosts: &hosts, counted, timing, interrupt: &self.bench.interrupt };
        let beside =
            |one: &Installed| Beside { peer: one.peer.name, version: one.version.clone(), turns: vec![] };
        let mut beside: Vec<Beside> = cell.peers.iter().map(beside).collect();
        let mut own = vec![Vec::new(); cell.modes.len()];
        // The peers that are still in it, by place.
        let mut peers: Vec<usize> = (0..cell.peers.len()).collect();
        for round in 1..=self.pairs {
            for place in 0..cell.modes.len().max(cell.peers.len()) {
                if let Some(mode) = cell.modes.get(place) {
                    own[place].push(turns.of_netassay(&mut testbed, *mode)?);
                }
                let Some(peer) = peers.get(place).map(|peer| &cell.peers[*peer]) else { continue };
                let what = format!("{} beside {}", cell.name(), peer.peer.name);
                if let Some(turn) = report.or_not_run(&what, turns.of_peer(peer))? {
                    beside[peers[place]].turns.push(turn);
                }
            }
            peers.retain(|peer| beside[*peer].turns.len() == round as usize);
            self.say(cell, round, &own, peers.iter().map(|peer| &beside[*peer]));
            // So that each peer has the turn after netassay's equally often.
            let next = 1.min(peers.len());
            peers.rotate_left(next);
        }
        Ok(Comparison { cell: cell.clone(), own, beside })
    }

    /// Progress: netassay's rates by those of each peer.
    fn say<'a>(&self, cell: &Cell, round: u32, own: &[Vec<Turn>], peers: impl Iterator<Item = &'a Beside>) {
        let rate = |turns: &[Turn]| turns.last().map_or(f64::NAN, |turn| turn.flow.received);
        let beside = peers.map(|beside| {
            let ratio = |own: &Vec<Turn>| format!("{:.2}", rate(own) / rate(&beside.turns));
            format!(" beside {} {}", beside.peer, own.iter().map(ratio).collect::<Vec<_>>().join(" and "))
        });
        let beside = beside.collect::<Vec<_>>().join(",");
        self.bench.say(&format!("{} {round}/{}:{beside}", cell.name(), self.pairs));
    }

    /// What both sides are asked to do, for so many seconds.
    pub(crate) fn job(&self, cell: &Cell, testbed: &Testbed, seconds: u32) -> Result<Job, Failure> {
        let ipv6 = cell.family == Family::Ipv6;
        let address = |end: &testbed::End| end.address(cell.family);
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
            seconds,
            client: address(&testbed.transmitter),
            server: address(receiver(testbed)?),
        })
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
            if let Some(module) = kernel.and_then(|kernel| module(kernel, name)) {
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
