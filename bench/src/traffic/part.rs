//! The parts of `load`, each with its traffic and its goals, and the grid.

use clap::ValueEnum;
use load::Kind;
use serde::Serialize;
use study::Family;

use crate::goal::Bound;
use crate::peers::{IN_DEBIAN, OF_THE_GRID, Peer};
use crate::traffic::mode::Mode;
use crate::traffic::turn::Turn;

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
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Task {
    /// The row of the grid and the number that tells its cells apart.
    #[serde(skip)]
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) message: u32,
    pub(crate) flows: u32,
    /// Do both sides poll instead of sleeping?
    pub(crate) polls: bool,
}

/// Tasks that differ in the size of their messages, in the number of their flows, or in polling.
struct Row {
    name: &'static str,
    kind: Kind,
    messages: &'static [u32],
    flows: &'static [u32],
    polls: &'static [bool],
}

const fn sizes(name: &'static str, kind: Kind, messages: &'static [u32]) -> Row {
    Row { name, kind, messages, flows: &[1], polls: &[false] }
}

/// Messages of one byte.
const fn flows(name: &'static str, kind: Kind) -> Row {
    Row { name, kind, messages: &[1], flows: &[1, 4, 16, 64], polls: &[false] }
}

/// Messages of the smallest size that sockperf has.
const fn pings(name: &'static str, kind: Kind) -> Row {
    Row { name, kind, messages: &[14], flows: &[1], polls: &[false, true] }
}

/// Stands for the datagram that fills an Ethernet frame, which depends on the family.
const FRAME: u32 = 0;
const TCP: Row = sizes("tcp", Kind::TcpStream, &[16 << 10, 128 << 10]);
const UDP: Row = sizes("udp", Kind::UdpStream, &[FRAME, 18]);
/// The largest datagram of IPv4: 65,535 bytes less the headers of IP and UDP.
const LARGEST: u32 = 65_535 - 20 - 8;
const GRID: [Row; 5] = [
    sizes("tcp", Kind::TcpStream, &[64, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 128 << 10, 1 << 20]),
    // One flow of it is tcp:16384.
    Row { messages: &[16 << 10], flows: &[4, 16, 64], ..flows("tcp_flows", Kind::TcpStream) },
    flows("tcp_rr", Kind::TcpRr),
    sizes("udp", Kind::UdpStream, &[1, 64, 512, 1472, 4 << 10, 32 << 10, LARGEST]),
    flows("udp_rr", Kind::UdpRr),
];

impl Row {
    fn tasks(&self, family: Family) -> Vec<Task> {
        let mut tasks = Vec::new();
        for message in self.messages {
            // A full frame: 1500 bytes less the headers of IP and UDP.
            let frame = if family == Family::Ipv4 { 1500 - 20 - 8 } else { 1500 - 40 - 8 };
            let message = if *message == FRAME { frame } else { *message };
            for flows in self.flows.iter().copied() {
                let number = if self.flows.len() > 1 { flows } else { message };
                let name = format!("{}:{number}", self.name);
                let task = |polls: &bool| Task {
                    name: name.clone(),
                    kind: self.kind,
                    message,
                    flows,
                    polls: *polls,
                };
                tasks.extend(self.polls.iter().map(task));
            }
        }
        tasks
    }
}

/// A figure that turns are compared by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measure {
    pub(crate) name: &'static str,
    /// What one unit of the figure as shown is worth.
    pub(crate) scale: f64,
    pub(crate) of: fn(&Turn) -> Option<f64>,
    /// Where the ratio of netassay's to the best peer's must lie; none if it is only shown.
    pub(crate) goal: Option<Bound>,
}

impl Part {
    pub(crate) fn peers(self) -> &'static [&'static Peer] {
        match self {
            Self::Grid => &OF_THE_GRID,
            Self::Memory => &[],
            _ => &IN_DEBIAN,
        }
    }

    /// The tasks of a part; none of memory.
    pub(crate) fn tasks(self, family: Family) -> Vec<Task> {
        let rows: &[Row] = match self {
            Self::Tcp => &[TCP],
            Self::Udp => &[UDP],
            Self::Gso => &[sizes("gso", Kind::UdpStream, &[FRAME])],
            Self::Rr => &[pings("udp_rr", Kind::UdpRr), pings("tcp_rr", Kind::TcpRr)],
            Self::Instructions => &[UDP, TCP],
            Self::Memory => &[],
            Self::Grid => &GRID,
        };
        rows.iter().flat_map(|row| row.tasks(family)).collect()
    }

    /// How netassay does a task, one after the other.
    pub(crate) fn modes(self, polls: bool) -> Vec<Mode> {
        match self {
            Self::Udp => vec![Mode::PLAIN, Mode::SPIN],
            Self::Gso => vec![Mode::GSO],
            _ if polls => vec![Mode::SPIN],
            _ => vec![Mode::PLAIN],
        }
    }

    /// What is looked at, and what netassay's ratio to the best peer's must be; nothing of the
    /// parts that do not compare traffic.
    pub(crate) fn measures(self, kind: Kind) -> Vec<Measure> {
        let measure = |name, scale, of, goal| Measure { name, scale, of, goal };
        let (at_least, at_most) = (|limit| Some(Bound::AtLeast(limit)), Some(Bound::AtMost(1.0)));
        let received =
            |goal| measure("received Mbit/s", 1e6, |turn| Some(turn.flow.received), at_least(goal));
        let transactions = measure("transactions/s", 1.0, |turn| Some(turn.flow.received), at_least(1.0));
        match self {
            Self::Grid => vec![if kind.is_rr() { transactions } else { received(1.0) }],
            Self::Tcp => vec![
                received(1.0),
                measure("CPU ns/kB", 1.0, |turn| turn.flow.cpu.map(|cpu| cpu[0] + cpu[1]), at_most),
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
                measure("latency p99 us", 1.0, |turn| turn.said.p99_us, at_most),
            ],
            Self::Instructions | Self::Memory => Vec::new(),
        }
    }

    /// Does it compare traffic with that of peers, in turn?
    pub(crate) fn compares(self) -> bool {
        !matches!(self, Self::Instructions | Self::Memory)
    }
}

/// Is this the name of a cell, or that of its row?
pub(crate) fn fits(cell: &str, asked: &str) -> bool {
    asked == cell || cell.split(':').next() == Some(asked)
}

/// The name of a cell of the grid or of a row of them, for the command line.
pub(crate) fn cell(text: &str) -> Result<String, String> {
    let names: Vec<String> = Part::Grid.tasks(Family::Ipv4).into_iter().map(|task| task.name).collect();
    if names.iter().any(|name| fits(name, text)) {
        return Ok(text.to_owned());
    }
    Err(format!(
        "there is no such cell; give one of {}, or the word before the colon for a whole row",
        names.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_comparing_part_has_a_goal_and_netassay_can_do_its_tasks() {
        for part in Part::value_variants().iter().chain([&Part::Grid]).filter(|part| part.compares()) {
            assert!(part.measures(Kind::UdpRr)[0].goal.is_some());
            for family in [Family::Ipv4, Family::Ipv6] {
                assert!(!part.tasks(family).is_empty());
                for Task { kind, message, flows, polls, .. } in part.tasks(family) {
                    for Mode { sender, reader } in part.modes(polls) {
                        let plain = load::Traffic::new(kind);
                        let traffic = load::Traffic { message, flows, sender, reader, ..plain };
                        traffic.validate(load::Family::from_ipv6(family == Family::Ipv6)).unwrap();
                    }
                }
            }
        }
    }

    #[test]
    fn a_cell_has_a_name_of_its_own_and_is_chosen_by_it_or_by_that_of_its_row() {
        let names: BTreeSet<_> = Part::Grid.tasks(Family::Ipv4).into_iter().map(|task| task.name).collect();
        assert_eq!((names.len(), Part::Grid.tasks(Family::Ipv4).len()), (25, 25));
        assert_eq!((cell("tcp:64"), cell("udp_rr")), (Ok("tcp:64".to_owned()), Ok("udp_rr".to_owned())));
        assert!(cell("tcp:63").unwrap_err().contains("tcp:64, tcp:1024"));
        for (asked, count) in [("tcp", 7), ("tcp:64", 1), ("tcp_rr", 4)] {
            assert_eq!(names.iter().filter(|name| fits(name, asked)).count(), count, "{asked}");
        }
    }
}
