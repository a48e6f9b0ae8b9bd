//! Which comparisons are to be made.

use serde::Serialize;
use study::{Family, Scenario};

use crate::installed::Installed;
use crate::traffic::mode::Mode;
use crate::traffic::options::Options;
use crate::traffic::part::{Part, Task, fits};

/// One comparison that is to be made.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Cell {
    pub(crate) part: Part,
    pub(crate) scenario: Scenario,
    pub(crate) family: Family,
    #[serde(flatten)]
    pub(crate) task: Task,
    /// TCP's congestion control; `None`: the machine's own, or the traffic has none.
    pub(crate) congestion_control: Option<String>,
    pub(crate) modes: Vec<Mode>,
    #[serde(skip)]
    pub(crate) peers: Vec<Installed>,
}

impl Cell {
    /// Traffic and path, for a line.
    pub(crate) fn name(&self) -> String {
        let Self { scenario, family, task: Task { kind, message, flows, polls, .. }, .. } = self;
        let flows = if *flows > 1 { format!(" {flows} flows") } else { String::new() };
        let polling = if *polls { " polling" } else { "" };
        let control = self.congestion_control.as_deref().map_or(String::new(), |name| format!(" {name}"));
        format!("{kind} {message} B{flows}{polling}{control} {family} {scenario}")
    }
}

/// Every comparison of a part that was asked for on these paths, TCP's in the grid under each of a
/// path's congestion controls; for a smoke test a sample.
pub(crate) fn cells(
    part: Part,
    options: &Options,
    installed: &[Installed],
    paths: &[(Scenario, Vec<String>)],
    smoke: bool,
) -> Vec<Cell> {
    let mut cells = Vec::new();
    for (scenario, controls) in paths {
        for family in options.families.iter().copied() {
            let asked = |task: &Task| {
                (options.messages.is_empty() || options.messages.contains(&task.message))
                    && (options.cells.is_empty() || options.cells.iter().any(|cell| fits(&task.name, cell)))
            };
            for task in part.tasks(family).into_iter().filter(asked) {
                let is_peer = |one: &&Installed| {
                    part.peers().iter().any(|peer| peer.name == one.peer.name)
                        && one.peer.supports(task.kind, task.message, task.flows)
                };
                let peers: Vec<Installed> = installed.iter().filter(is_peer).cloned().collect();
                let is_governed = part == Part::Grid && !task.kind.is_udp();
                let controls =
                    if is_governed { controls.iter().cloned().map(Some).collect() } else { vec![None] };
                cells.extend(controls.into_iter().map(|congestion_control| {
                    let (scenario, modes, peers) = (*scenario, part.modes(task.polls), peers.clone());
                    Cell { part, scenario, family, task: task.clone(), congestion_control, modes, peers }
                }));
            }
        }
    }
    if smoke { sample(cells) } else { cells }
}

/// The first and the last cell that have peers, with one mode each, and every peer (two at most) in
/// one of them.
fn sample(mut cells: Vec<Cell>) -> Vec<Cell> {
    cells.retain(|cell| !cell.peers.is_empty());
    let ends = [cells.first(), cells.last()].into_iter().flatten().cloned();
    let half = |(number, mut cell): (usize, Cell)| {
        let in_turn = |count: usize| number % count.max(1);
        cell.peers = cell.peers.iter().skip(in_turn(cell.peers.len())).step_by(2).take(2).cloned().collect();
        cell.modes = vec![cell.modes[in_turn(cell.modes.len())]];
        cell
    };
    ends.enumerate().map(half).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::Parser as _;

    const COMPARING: [Part; 5] = [Part::Tcp, Part::Udp, Part::Gso, Part::Rr, Part::Grid];

    fn of(part: Part, arguments: &[&str], smoke: bool) -> Vec<Cell> {
        let installed = part.peers().iter().map(|peer| Installed { peer, version: String::new() });
        let installed: Vec<Installed> = installed.collect();
        let options = Cli::parse_from([&["", "load"], arguments].concat()).load().unwrap();
        let controls = ["reno", "bbr"].map(str::to_owned).to_vec();
        let paths: Vec<_> = options.paths().iter().map(|path| (*path, controls.clone())).collect();
        cells(part, &options, &installed, &paths, smoke)
    }

    #[test]
    fn everything_is_compared_unless_told_otherwise() {
        // Sizes, or workloads and ways to wait; on two paths, over IPv4.
        let counts = COMPARING.map(|part| of(part, &[], false).len());
        let grid = 2 * (7 + 3 + 4) + 7 + 4;
        assert_eq!(counts, [2 * 2, 2 * 2, 2, 4 * 2, 2 * grid]);
        assert_eq!(of(Part::Tcp, &["--family", "ipv4", "--family", "ipv6"], false).len(), 2 * 4);
        assert_eq!(of(Part::Grid, &["--grid", "--scenario", "vm"], false).len(), grid);
        assert!(of(Part::Udp, &["--message", "17"], false).is_empty());
        assert!(Cli::try_parse_from(["", "load", "--family", "ipv5"]).is_err());
        for (window, is_one) in [("0", false), ("x", false), ("2.5", true)] {
            assert_eq!(Cli::try_parse_from(["", "load", "--window", window]).is_ok(), is_one);
        }
    }

    #[test]
    fn what_is_asked_for_is_compared_with_the_peers_that_can_do_it() {
        let udp = ["--message", "18", "--scenario", "veth", "--family", "ipv6"];
        let grid = ["--grid", "--cell", "tcp:64", "--cell", "udp_rr:16", "--scenario", "veth"];
        // iperf3 has no requests; it has streams, but no datagram of one byte.
        for (part, arguments, expected) in [
            (Part::Udp, &udp[..], &[("udp_stream 18 B ipv6 veth", 4)][..]),
            (
                Part::Grid,
                &grid,
                &[
                    ("tcp_stream 64 B reno ipv4 veth", 3),
                    ("tcp_stream 64 B bbr ipv4 veth", 3),
                    ("udp_rr 1 B 16 flows ipv4 veth", 2),
                ],
            ),
            (
                Part::Grid,
                &["--grid", "--cell", "udp:1"],
                &[("udp_stream 1 B ipv4 veth", 2), ("udp_stream 1 B ipv4 loopback", 2)],
            ),
        ] {
            let cells = of(part, arguments, false);
            let found: Vec<_> = cells.iter().map(|cell| (cell.name(), cell.peers.len())).collect();
            let expected: Vec<_> =
                expected.iter().map(|(name, peers)| ((*name).to_owned(), *peers)).collect();
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_smoke_test_has_every_peer_once() {
        for (part, peers) in COMPARING.into_iter().zip([[2, 1], [2, 2], [2, 2], [1, 1], [2, 1]]) {
            let cells = of(part, &[], true);
            assert_eq!(cells.iter().map(|cell| cell.peers.len()).collect::<Vec<_>>(), peers);
            assert_eq!([cells[0].scenario, cells[1].scenario], [Scenario::Veth, Scenario::Loopback]);
            assert!(cells.iter().all(|cell| cell.modes.len() == 1));
            let names = cells.iter().flat_map(|cell| &cell.peers).map(|one| one.peer.name);
            let in_both = usize::from(part == Part::Rr);
            let names: std::collections::BTreeSet<_> = names.collect();
            assert_eq!(names.len(), peers.iter().sum::<usize>() - in_both);
        }
        assert!(of(Part::Rr, &[], true)[1].task.polls);
    }
}
