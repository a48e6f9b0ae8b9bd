//! Which comparisons are to be made.

use load::Kind;
use study::{Family, Scenario};

use crate::cli::Load as Options;
use crate::installed::Installed;
use crate::traffic::part::{Part, Task, Way};

pub(crate) const SCENARIOS: [Scenario; 2] = [Scenario::Veth, Scenario::Loopback];
pub(crate) const FAMILIES: [Family; 2] = [Family::Ipv4, Family::Ipv6];

/// One comparison that is to be made.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    pub(crate) part: Part,
    pub(crate) scenario: Scenario,
    pub(crate) family: Family,
    pub(crate) task: Task,
    pub(crate) ways: Vec<Way>,
    pub(crate) peers: Vec<Installed>,
}

impl Cell {
    pub(crate) fn place(&self) -> String {
        let Self { part: _, scenario, family, task: Task { kind, message, polls }, .. } = self;
        let polling = if *polls { " polling" } else { "" };
        format!("{kind} {message} B{polling} {family} {scenario}")
    }
}

/// Every comparison of a part that was asked for; for a smoke test a sample.
pub(crate) fn cells(part: Part, options: &Options, installed: &[Installed], smoke: bool) -> Vec<Cell> {
    let mut cells = Vec::new();
    for scenario in chosen(&SCENARIOS, &options.scenarios) {
        for family in chosen(&FAMILIES, &options.families) {
            for task in part.tasks(family) {
                let runs = |one: &&Installed| one.peer.runs(task.kind);
                let peers: Vec<Installed> = installed.iter().filter(runs).cloned().collect();
                let asked = options.messages.is_empty() || options.messages.contains(&task.message);
                if asked && !peers.is_empty() {
                    cells.push(Cell { part, scenario, family, task, ways: part.ways(task), peers });
                }
            }
        }
    }
    if smoke { sample(cells) } else { cells }
}

/// Two cells, as different as they can be but for IPv6, which a peer may lack, with one way each, and every peer (two at most) in one of
/// them.
fn sample(cells: Vec<Cell>) -> Vec<Cell> {
    let one_family = cells.into_iter().filter(|cell| cell.family == Family::Ipv4);
    let all: Vec<Cell> = one_family.collect();
    let ends: Vec<Cell> = all.first().into_iter().chain(all.last()).cloned().collect();
    let half = |(number, cell): (usize, Cell)| {
        let of = |count: usize| number % count.max(1);
        let peers = cell.peers.iter().skip(of(cell.peers.len())).step_by(2).take(2).cloned().collect();
        let ways = cell.ways.get(of(cell.ways.len())).copied().into_iter().collect();
        Cell { peers, ways, ..cell }
    };
    ends.into_iter().enumerate().map(half).collect()
}

/// Those of `all` that were asked for; all if none was.
pub(crate) fn chosen<T: Copy + PartialEq>(all: &[T], asked: &[T]) -> Vec<T> {
    all.iter().copied().filter(|one| asked.is_empty() || asked.contains(one)).collect()
}

/// Whether a peer has anything to do in a part.
pub(crate) fn is_needed(part: Part, runs: impl Fn(Kind) -> bool) -> bool {
    match part {
        Part::Memory => false,
        Part::Instructions => runs(Kind::TcpStream) || runs(Kind::UdpStream),
        _ => part.tasks(Family::Ipv4).into_iter().any(|task| runs(task.kind)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use crate::peers::PEERS;
    use clap::Parser as _;

    fn of(part: Part, arguments: &[&str], smoke: bool) -> Vec<Cell> {
        let fake = |peer| Installed { peer, program: "/none".into(), version: String::new() };
        let installed: Vec<Installed> = PEERS.into_iter().map(fake).collect();
        let cli = Cli::parse_from([&["", "load"], arguments].concat());
        cells(part, cli.load().unwrap(), &installed, smoke)
    }

    #[test]
    fn everything_is_compared_unless_told_otherwise() {
        // Sizes, or workloads and ways to wait; on two paths, over two families.
        let counts = Part::COMPARED.map(|part| of(part, &[], false).len());
        assert_eq!(counts, [2 * 4, 2 * 4, 4, 4 * 4]);
        let some = of(Part::Udp, &["--message", "18", "--scenario", "veth", "--family", "ipv6"], false);
        assert_eq!(some.len(), 1);
        assert_eq!(some[0].place(), "udp_stream 18 B ipv6 veth");
        assert_eq!((some[0].ways.len(), some[0].peers.len()), (2, 4));
        assert!(of(Part::Udp, &["--message", "17"], false).is_empty());
    }

    #[test]
    fn a_smoke_test_has_every_peer_once() {
        for (part, peers) in Part::COMPARED.into_iter().zip([[2, 1], [2, 2], [2, 2], [1, 1]]) {
            let cells = of(part, &[], true);
            assert_eq!(cells.iter().map(|cell| cell.peers.len()).collect::<Vec<_>>(), peers);
            assert_eq!([cells[0].scenario, cells[1].scenario], SCENARIOS);
            assert!(cells.iter().all(|cell| cell.ways.len() == 1));
            let names = cells.iter().flat_map(|cell| cell.peers.iter().map(|one| one.peer.name()));
            assert_eq!(
                names.collect::<std::collections::BTreeSet<_>>().len(),
                peers.iter().sum::<usize>().min(4) - usize::from(part == Part::Rr)
            );
        }
        assert!(of(Part::Rr, &[], true)[1].task.polls);
    }

    #[test]
    fn peers_are_needed_where_they_have_such_traffic() {
        let is_sockperf = |kind: Kind| kind.is_rr() || kind == Kind::UdpStream;
        assert!(is_needed(Part::Rr, is_sockperf) && is_needed(Part::Instructions, is_sockperf));
        assert!(!is_needed(Part::Tcp, is_sockperf) && !is_needed(Part::Memory, is_sockperf));
    }
}
