//! Which comparisons are to be made.

use std::collections::HashMap;

use load::Kind;
use study::{Family, Scenario};

use crate::installed::Installed;
use crate::traffic::grid;
use crate::traffic::options::{ALL_SCENARIOS, Options};
use crate::traffic::part::Part;
use crate::traffic::task::{Task, Way};

/// The paths of a comparison, unless others are asked for.
const SCENARIOS: [Scenario; 2] = [Scenario::Veth, Scenario::Loopback];
/// One comparison that is to be made.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    pub(crate) part: Part,
    pub(crate) scenario: Scenario,
    pub(crate) family: Family,
    pub(crate) task: Task,
    /// TCP's congestion control; `None`: the machine's own, or the traffic has none.
    pub(crate) congestion_control: Option<String>,
    pub(crate) ways: Vec<Way>,
    pub(crate) peers: Vec<Installed>,
}

impl Cell {
    pub(crate) fn place(&self) -> String {
        let Self { scenario, family, task: Task { kind, message, flows, polls }, .. } = self;
        let flows = if *flows > 1 { format!(" {flows} flows") } else { String::new() };
        let polling = if *polls { " polling" } else { "" };
        let control = self.congestion_control.as_deref().map_or(String::new(), |name| format!(" {name}"));
        format!("{kind} {message} B{flows}{polling}{control} {family} {scenario}")
    }
}

/// Every comparison of a part that was asked for, TCP's in the grid under each of the scenario's
/// `controls`; for a smoke test a sample.
pub(crate) fn cells(
    part: Part,
    options: &Options,
    installed: &[Installed],
    controls: &HashMap<Scenario, Vec<String>>,
    smoke: bool,
) -> Vec<Cell> {
    let mut cells = Vec::new();
    for scenario in scenarios(options) {
        let controls = controls.get(&scenario).map(Vec::as_slice).unwrap_or_default();
        for family in options.families.iter().copied() {
            let asked = |task: &Task| {
                (options.messages.is_empty() || options.messages.contains(&task.message))
                    && (part != Part::Grid || grid::is_asked(&grid::name(*task), &options.cells))
            };
            for task in part.tasks(family).into_iter().filter(asked) {
                let supports = |one: &&Installed| one.peer.supports(task.kind, task.message, task.flows);
                let peers: Vec<Installed> = installed.iter().filter(supports).cloned().collect();
                let governed = part == Part::Grid && !task.kind.is_udp();
                let controls: Vec<Option<String>> =
                    if governed { controls.iter().cloned().map(Some).collect() } else { vec![None] };
                for congestion_control in controls {
                    let (ways, peers) = (part.ways(task), peers.clone());
                    cells.push(Cell { part, scenario, family, task, congestion_control, ways, peers });
                }
            }
        }
    }
    if smoke { sample(cells) } else { cells }
}

/// The paths that were asked for.
pub(crate) fn scenarios(options: &Options) -> Vec<Scenario> {
    let asked = &options.scenarios;
    if asked.is_empty() { SCENARIOS.to_vec() } else { chosen(&ALL_SCENARIOS, asked) }
}

/// Two cells that have peers, as different as they can be, with one way each, and every peer (two
/// at most) in one of them.
fn sample(cells: Vec<Cell>) -> Vec<Cell> {
    let all: Vec<Cell> = cells.into_iter().filter(|cell| !cell.peers.is_empty()).collect();
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
    use crate::peers::Peer;
    use clap::Parser as _;

    fn of(part: Part, arguments: &[&str], smoke: bool) -> Vec<Cell> {
        let fake = |peer: &&'static dyn Peer| Installed { peer: *peer, version: String::new() };
        let installed: Vec<Installed> = part.peers().iter().map(fake).collect();
        let names = ["reno".to_owned(), "bbr".to_owned()].to_vec();
        let controls = ALL_SCENARIOS.map(|scenario| (scenario, names.clone())).into();
        let cli = Cli::parse_from([&["", "load"], arguments].concat());
        cells(part, cli.load().unwrap(), &installed, &controls, smoke)
    }

    #[test]
    fn everything_is_compared_unless_told_otherwise() {
        // Sizes, or workloads and ways to wait; on two paths, over IPv4.
        let counts = Part::COMPARED.map(|part| of(part, &[], false).len());
        let grid = 2 * (2 * (7 + 3 + 4) + 7 + 4);
        assert_eq!(counts, [2 * 2, 2 * 2, 2, 4 * 2, grid]);
        assert_eq!(of(Part::Tcp, &["--family", "ipv4", "--family", "ipv6"], false).len(), 2 * 4);
        let some = of(Part::Udp, &["--message", "18", "--scenario", "veth", "--family", "ipv6"], false);
        assert_eq!(some.len(), 1);
        assert_eq!(some[0].place(), "udp_stream 18 B ipv6 veth");
        assert_eq!((some[0].ways.len(), some[0].peers.len()), (2, 4));
        assert!(of(Part::Udp, &["--message", "17"], false).is_empty());
    }

    #[test]
    fn a_smoke_test_has_every_peer_once() {
        for (part, peers) in Part::COMPARED.into_iter().zip([[2, 1], [2, 2], [2, 2], [1, 1], [2, 1]]) {
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
    fn the_grid_has_a_cell_for_each_congestion_control() {
        let cells = of(
            Part::Grid,
            &["--grid", "--cell", "tcp:64", "--cell", "udp_rr:16", "--scenario", "veth"],
            false,
        );
        let places: Vec<String> = cells.iter().map(Cell::place).collect();
        let tcp = ["reno", "bbr"].map(|name| format!("tcp_stream 64 B {name} ipv4 veth"));
        assert_eq!(places, [&tcp[0], &tcp[1], "udp_rr 1 B 16 flows ipv4 veth"]);
        let vm = of(Part::Grid, &["--grid", "--scenario", "vm"], false);
        assert_eq!(vm.len(), 2 * (7 + 3 + 4) + 7 + 4);
        assert_eq!(vm[0].place(), "tcp_stream 64 B reno ipv4 vm");
        // iperf3 has no requests; it has streams, but no datagram of one byte.
        assert_eq!(cells.iter().map(|cell| cell.peers.len()).collect::<Vec<_>>(), [3, 3, 2]);
        assert_eq!(of(Part::Grid, &["--grid", "--cell", "udp:1"], false)[0].peers.len(), 2);
    }

    #[test]
    fn peers_are_needed_where_they_have_such_traffic() {
        let is_sockperf = |kind: Kind| kind.is_rr() || kind == Kind::UdpStream;
        assert!(is_needed(Part::Rr, is_sockperf) && is_needed(Part::Instructions, is_sockperf));
        assert!(!is_needed(Part::Tcp, is_sockperf) && !is_needed(Part::Memory, is_sockperf));
    }
}
