//! The parts of `load`: each has its goals.

use clap::ValueEnum;
use load::Kind;
use serde::Serialize;
use study::Family;

use crate::peers::{PEERS_IN_DEBIAN, PEERS_OF_THE_GRID, Peer};
use crate::report::Bound;
use crate::traffic::grid;
use crate::traffic::measure::Measure;
use crate::traffic::task::{Task, Way};

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

    /// Those that compare traffic with that of peers, in turn.
    pub(crate) const COMPARED: [Self; 5] = [Self::Tcp, Self::Udp, Self::Gso, Self::Rr, Self::Grid];

    /// The peers of a part, unless `--peer` names others.
    pub(crate) fn peers(self) -> &'static [&'static dyn Peer] {
        if self == Self::Grid { &PEERS_OF_THE_GRID } else { &PEERS_IN_DEBIAN }
    }

    /// The tasks of a comparing part; none for the others.
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
            Self::Instructions | Self::Memory => Vec::new(),
        }
    }

    /// How netassay does a task, one after the other.
    pub(crate) fn ways(self, task: Task) -> Vec<Way> {
        match self {
            Self::Udp => vec![Way::PLAIN, Way::SPIN],
            Self::Gso => vec![Way::GSO],
            _ if task.polls => vec![Way::SPIN],
            _ => vec![Way::PLAIN],
        }
    }

    /// What is looked at, and what netassay's ratio to the best peer's must be.
    pub(crate) fn measures(self, kind: Kind) -> Vec<Measure> {
        let received = |goal| Measure {
            name: "received Mbit/s",
            scale: 1e6,
            of: |turn| Some(turn.received),
            goal: Some((Bound::AtLeast, goal)),
        };
        let transactions = Measure {
            name: "transactions/s",
            scale: 1.0,
            of: |turn| Some(turn.received),
            goal: Some((Bound::AtLeast, 1.0)),
        };
        match self {
            Self::Grid => vec![if kind.is_rr() { transactions } else { received(1.0) }],
            Self::Tcp => vec![
                received(1.0),
                Measure {
                    name: "CPU ns/kB",
                    scale: 1.0,
                    of: |turn| turn.cpu.map(|cpu| cpu.transmitter + cpu.receiver),
                    goal: Some((Bound::AtMost, 1.0)),
                },
                Measure {
                    name: "transmitter's",
                    scale: 1.0,
                    of: |turn| turn.cpu.map(|cpu| cpu.transmitter),
                    goal: None,
                },
                Measure {
                    name: "receiver's",
                    scale: 1.0,
                    of: |turn| turn.cpu.map(|cpu| cpu.receiver),
                    goal: None,
                },
            ],
            Self::Udp => vec![
                received(1.05),
                Measure {
                    name: "sent 1000/s",
                    scale: 1e3,
                    of: |turn| (turn.sent_datagrams > 0.0).then_some(turn.sent_datagrams),
                    goal: None,
                },
            ],
            Self::Gso => vec![received(3.0)],
            Self::Rr => vec![
                transactions,
                Measure { name: "latency p50 us", scale: 1.0, of: |turn| turn.said.p50_us, goal: None },
                Measure {
                    name: "latency p99 us",
                    scale: 1.0,
                    of: |turn| turn.said.p99_us,
                    goal: Some((Bound::AtMost, 1.0)),
                },
            ],
            Self::Instructions | Self::Memory => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_comparing_part_has_tasks_ways_and_a_goal() {
        for part in Part::COMPARED {
            for family in [Family::Ipv4, Family::Ipv6] {
                assert!(!part.tasks(family).is_empty());
                assert!(part.tasks(family).into_iter().all(|task| !part.ways(task).is_empty()));
            }
            assert!(part.measures(Kind::UdpRr)[0].goal.is_some());
        }
    }

    #[test]
    fn netassay_takes_what_it_is_asked() {
        for (part, ipv6) in Part::COMPARED.into_iter().flat_map(|part| [(part, false), (part, true)]) {
            let family = if ipv6 { Family::Ipv6 } else { Family::Ipv4 };
            for task in part.tasks(family) {
                for Way { sender, reader } in part.ways(task) {
                    let traffic = load::Traffic {
                        message: task.message,
                        flows: task.flows,
                        sender,
                        reader,
                        ..load::Traffic::new(task.kind)
                    };
                    traffic.validate(load::Family::of(ipv6)).unwrap();
                }
            }
        }
    }
}
