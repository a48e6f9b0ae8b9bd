//! The parts of `load`: each has its goals.

use clap::ValueEnum;
use load::Kind;
use serde::Serialize;
use study::Family;

use crate::peers::{PEERS_IN_DEBIAN, PEERS_OF_THE_GRID, Peer, Polling};
use crate::report::Bound;
use crate::traffic::comparison::Measure;
use crate::traffic::grid;

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

/// What is asked of both sides in one comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Task {
    pub(crate) kind: Kind,
    /// Bytes per message.
    pub(crate) message: u32,
    pub(crate) flows: u32,
    /// Do both sides poll instead of sleeping?
    pub(crate) polls: bool,
}

/// How netassay does its side of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Way {
    pub(crate) sender: load::Sender,
    pub(crate) reader: load::Reader,
}

impl Way {
    const PLAIN: Self = Self { sender: load::Sender::Send, reader: load::Reader::Recv };
    const SPIN: Self = Self { sender: load::Sender::Send, reader: load::Reader::Spin };
    const GSO: Self = Self { sender: load::Sender::Gso, reader: load::Reader::Gro };

    /// Whether datagrams arrive several at once, so that the kernel's count of what programs took is none of datagrams.
    pub(crate) fn is_batched(self) -> bool {
        self.reader == load::Reader::Gro
    }

    /// Sender and reader, for a cell.
    pub(crate) fn words(self) -> String {
        format!("{}, {}", self.sender, self.reader)
    }
}

/// How long a socket polls its device, where it may, in µs: longer than any round trip here.
const SOCKET_POLLS: u32 = 50;

impl Task {
    /// How its programs wait. A socket polls its device for privileged users only (socket(7), `SO_BUSY_POLL`).
    pub(crate) fn polling(self, rootless: bool) -> Polling {
        match (self.polls, rootless) {
            (false, _) => Polling::None,
            (true, true) => Polling::Program,
            (true, false) => Polling::ProgramAndSocket(SOCKET_POLLS),
        }
    }
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

    #[test]
    fn sockets_poll_for_the_privileged() {
        let task = Task { kind: Kind::UdpRr, message: 14, flows: 1, polls: true };
        assert_eq!(task.polling(true), Polling::Program);
        assert_eq!(task.polling(false), Polling::ProgramAndSocket(SOCKET_POLLS));
        assert_eq!(Task { polls: false, ..task }.polling(false), Polling::None);
    }
}
