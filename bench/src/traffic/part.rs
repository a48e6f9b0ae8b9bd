//! The parts of `load`: each has its goals.

use clap::ValueEnum;
use load::Kind;
use serde::Serialize;
use study::Family;

use crate::peers::{PEERS_IN_DEBIAN, PEERS_OF_THE_GRID, Peer};
use crate::report::Bound;
use crate::traffic::grid;
use crate::traffic::task::{Mode, Task};
use crate::traffic::turn::Turn;

/// A figure that turns are compared by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measure {
    pub(crate) name: &'static str,
    /// What one unit of the figure as shown is worth.
    pub(crate) scale: f64,
    pub(crate) of: fn(&Turn) -> Option<f64>,
    /// Where the ratio of netassay's to the best peer's must lie; none if it is only shown.
    pub(crate) goal: Option<(Bound, f64)>,
}

/// One line of the goals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Part {
    /// tcp_stream, writes of 16 and 128 KiB
    Tcp,
    /// udp_stream, one send for each datagram of 1472 and 18 bytes
    Udp,
    /// udp_stream of 1472 bytes with segmentation offload, beside the peers as they are
    Gso,
    /// udp_rr and tcp_rr, sleeping and polling
    Rr,
    /// Instructions in user space for each datagram and each write
    Instructions,
    /// Memory for each flow, and 1000 flows at once
    Memory,
    /// The cells of `--grid`
    #[value(skip)]
    Grid,
}

impl Part {
    /// Every part.
    pub(crate) fn all() -> Vec<Self> {
        Self::value_variants().to_vec()
    }

    /// The peers of a part.
    pub(crate) fn peers(self) -> &'static [&'static dyn Peer] {
        match self {
            Self::Grid => &PEERS_OF_THE_GRID,
            Self::Memory => &[],
            _ => &PEERS_IN_DEBIAN,
        }
    }

    /// Whether a peer has anything to do in it.
    pub(crate) fn needs(self, peer: &dyn Peer) -> bool {
        let is_member = self.peers().iter().any(|one| one.name() == peer.name());
        is_member && self.tasks(Family::Ipv4).into_iter().any(|task| peer.runs(task.kind))
    }

    /// The tasks of a part; none of memory.
    pub(crate) fn tasks(self, family: Family) -> Vec<Task> {
        let task = |kind, message| Task { kind, message, flows: 1, polls: false };
        // A full Ethernet frame: 1500 bytes less the headers of IP and UDP.
        let frame = if family == Family::Ipv4 { 1500 - 20 - 8 } else { 1500 - 40 - 8 };
        // sockperf's smallest message.
        let pings = [Kind::UdpRr, Kind::TcpRr].map(|kind| task(kind, 14));
        match self {
            Self::Tcp => vec![task(Kind::TcpStream, 16 << 10), task(Kind::TcpStream, 128 << 10)],
            Self::Udp => vec![task(Kind::UdpStream, frame), task(Kind::UdpStream, 18)],
            Self::Gso => vec![task(Kind::UdpStream, frame)],
            Self::Rr => pings.into_iter().flat_map(|ping| [ping, Task { polls: true, ..ping }]).collect(),
            Self::Grid => grid::tasks(),
            Self::Instructions => [Self::Udp.tasks(family), Self::Tcp.tasks(family)].concat(),
            Self::Memory => Vec::new(),
        }
    }

    /// How netassay does a task, one after the other.
    pub(crate) fn modes(self, task: Task) -> Vec<Mode> {
        match self {
            Self::Udp => vec![Mode::PLAIN, Mode::SPIN],
            Self::Gso => vec![Mode::GSO],
            _ if task.polls => vec![Mode::SPIN],
            _ => vec![Mode::PLAIN],
        }
    }

    /// What is looked at, and what netassay's ratio to the best peer's must be; nothing of the
    /// parts that do not compare traffic.
    pub(crate) fn measures(self, kind: Kind) -> Vec<Measure> {
        let measure = |name, scale, of, goal| Measure { name, scale, of, goal };
        let at_least = |goal| Some((Bound::AtLeast, goal));
        let at_most = |goal| Some((Bound::AtMost, goal));
        let received =
            |goal| measure("received Mbit/s", 1e6, |turn| Some(turn.flow.received), at_least(goal));
        let transactions = measure("transactions/s", 1.0, |turn| Some(turn.flow.received), at_least(1.0));
        match self {
            Self::Grid => vec![if kind.is_rr() { transactions } else { received(1.0) }],
            Self::Tcp => vec![
                received(1.0),
                measure("CPU ns/kB", 1.0, |turn| turn.flow.cpu.map(|cpu| cpu[0] + cpu[1]), at_most(1.0)),
                measure("transmitter's", 1.0, |turn| turn.flow.cpu.map(|cpu| cpu[0]), None),
                measure("receiver's", 1.0, |turn| turn.flow.cpu.map(|cpu| cpu[1]), None),
            ],
            Self::Udp => vec![
                received(1.05),
                measure("sent 1000/s", 1e3, |turn| Some(turn.flow.sent).filter(|sent| *sent > 0.0), None),
            ],
            Self::Gso => vec![received(3.0)],
            Self::Rr => vec![
                transactions,
                measure("latency p50 us", 1.0, |turn| turn.said.p50_us, None),
                measure("latency p99 us", 1.0, |turn| turn.said.p99_us, at_most(1.0)),
            ],
            Self::Instructions | Self::Memory => Vec::new(),
        }
    }

    /// Does it compare traffic with that of peers, in turn?
    pub(crate) fn compares(self) -> bool {
        !matches!(self, Self::Instructions | Self::Memory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_comparing_part_has_a_goal_and_netassay_can_do_its_tasks() {
        for part in Part::all().into_iter().chain([Part::Grid]).filter(|part| part.compares()) {
            assert!(part.measures(Kind::UdpRr)[0].goal.is_some());
            for family in [Family::Ipv4, Family::Ipv6] {
                assert!(!part.tasks(family).is_empty());
                for (task, Mode { sender, reader }) in part
                    .tasks(family)
                    .into_iter()
                    .flat_map(|task| part.modes(task).into_iter().map(move |mode| (task, mode)))
                {
                    let Task { kind, message, flows, .. } = task;
                    let traffic =
                        load::Traffic { message, flows, sender, reader, ..load::Traffic::new(kind) };
                    traffic.validate(load::Family::of(family == Family::Ipv6)).unwrap();
                }
            }
        }
    }
}
