//! netassay's traffic beside its peers': on the same namespaces and CPUs, with the same messages and buffers, in turn.

mod comparison;
mod turn;
mod yardstick;

use std::time::Duration;

use load::Kind;
use serde_json::json;
use study::{Family, Scenario};
use testbed::CpuSplit;

use crate::cli::{Bench, Load as Options};
use crate::failure::Failure;
use crate::installed::{self, Installed};
use crate::netassay::{no_root, receiver};
use crate::peers::{Job, PEERS, Peer};
use crate::report::Report;
use crate::table::Table;
use comparison::{Comparison, Pair};
use turn::{NoTurn, Timing};
use yardstick::Yardstick;

const KINDS: [Kind; 4] = [Kind::TcpStream, Kind::UdpStream, Kind::UdpRr, Kind::TcpRr];
const SCENARIOS: [Scenario; 2] = [Scenario::Veth, Scenario::Loopback];
const FAMILIES: [Family; 2] = [Family::Ipv4, Family::Ipv6];

/// From the first traffic to the window.
const RAMP: Duration = Duration::from_millis(500);
/// Beyond ramp and window: the traffic is seen a little after it began, and must outlast the window.
const SLACK: Duration = Duration::from_millis(300);
/// The same for a smoke test, which runs while other tests do.
const SMOKE_SLACK: Duration = Duration::from_millis(1500);

/// A kind of traffic by its name, for the command line.
pub(crate) fn kind(name: &str) -> Result<Kind, String> {
    by_name(name, &KINDS)
}

/// A scenario by its name, for the command line.
pub(crate) fn scenario(name: &str) -> Result<Scenario, String> {
    by_name(name, &SCENARIOS)
}

/// A family by its name, for the command line.
pub(crate) fn family(name: &str) -> Result<Family, String> {
    by_name(name, &FAMILIES)
}

/// A window in seconds, for the command line.
pub(crate) fn window(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    if (0.1..=600.0).contains(&seconds) { Ok(seconds) } else { Err("0.1 to 600 seconds".to_owned()) }
}

fn by_name<T: Copy + ToString>(name: &str, of: &[T]) -> Result<T, String> {
    let names = || of.iter().map(T::to_string).collect::<Vec<_>>().join(", ");
    of.iter().copied().find(|one| one.to_string() == name).ok_or_else(|| format!("take one of {}", names()))
}

/// `netassay-bench load`
pub(crate) fn run(bench: &Bench<'_>, options: &Options) -> Result<Report, Failure> {
    let heading = [
        "workload", "family", "scenario", "bytes", "peer", "figure", "netassay", "peer's", "ratio", "min",
        "max",
    ];
    let mut report = Report::begin("load", Table::new(6, heading));
    let installed = peers(bench, options, &mut report);
    for one in &installed {
        report.note(format!("{}: {}", one.peer.name(), one.version));
    }
    report.note(
        "rates are the kernel's counts in the receiver's namespace; ratio = netassay / peer, of each pair; \
         medians, and the smallest and largest ratio",
    );
    let rootless = no_root().is_some();
    let cpus = testbed::split(&testbed::usable());
    if !cpus.controller.is_empty() {
        let own = host::affinity::pin_current_thread(&cpus.controller);
        own.map_err(|error| Failure::Environment(error.to_string()))?;
    }
    let timing = Timing {
        ramp: if bench.common.smoke { Duration::from_millis(100) } else { RAMP },
        window: Duration::from_secs_f64(if bench.common.smoke { 0.3 } else { options.window }),
    };
    let session =
        Session { bench, cpus, rootless, timing, pairs: if bench.common.smoke { 1 } else { options.pairs } };
    let cells = cells(options, &installed, bench.common.smoke);
    if cells.is_empty() && report.is_complete() {
        return Err(Failure::Usage(
            "nothing to compare: none of the peers asked for has such traffic".to_owned(),
        ));
    }
    let mut comparisons = Vec::new();
    for cell in cells {
        match session.compare(&cell, &mut report) {
            Ok(comparison) => {
                comparison.tell(&mut report);
                comparisons.push(json!({"comparison": comparison, "figures": comparison.figures()}));
            }
            Err(NoTurn::Declined(why)) => report.note(format!("{}: {why}", cell.place())),
            Err(NoTurn::Failed(failure)) if failure.is_interrupt() => return Err(failure),
            Err(NoTurn::Failed(failure)) => report.not_run.push(format!("{}: {failure}", cell.place())),
        }
    }
    report.results = comparisons.into();
    Ok(report.finish())
}

/// The peers that are asked for and there, after those that are not were installed where that is possible.
fn peers(bench: &Bench<'_>, options: &Options, report: &mut Report) -> Vec<Installed> {
    let wanted: Vec<&'static dyn Peer> = PEERS
        .into_iter()
        .filter(|peer| {
            options.peers.is_empty() || options.peers.iter().any(|named| named.name() == peer.name())
        })
        .filter(|peer| chosen(&KINDS, &options.kinds).into_iter().any(|kind| peer.runs(kind)))
        .collect();
    let (mut there, mut missing) = installed::find(&wanted);
    if !missing.is_empty() && !options.no_install {
        bench.say(&format!("missing peers: {}", installed::advice(&missing)));
        if let Err(why) = installed::install(&missing) {
            bench.say(&format!("not installed: {why}"));
        }
        (there, missing) = installed::find(&wanted);
    }
    for name in &missing {
        report.not_run.push(format!("{name}: it is not installed ({})", installed::advice(&[name])));
    }
    there
}

/// One comparison that is to be made.
#[derive(Debug, Clone)]
struct Cell {
    scenario: Scenario,
    kind: Kind,
    family: Family,
    message: u32,
    peer: Installed,
}

impl Cell {
    fn place(&self) -> String {
        format!("{} {} {} beside {}", self.kind, self.family, self.scenario, self.peer.peer.name())
    }
}

/// Every comparison asked for; of those, for a smoke test, each peer once with each kind of its traffic.
fn cells(options: &Options, installed: &[Installed], smoke: bool) -> Vec<Cell> {
    let mut cells = Vec::new();
    for kind in chosen(&KINDS, &options.kinds) {
        for (number, peer) in installed.iter().filter(|one| one.peer.runs(kind)).enumerate() {
            // The paths take turns, and so do the families but where a peer may lack IPv6.
            let sample = (SCENARIOS[number % 2], FAMILIES[if kind.is_rr() { 0 } else { (number + 1) % 2 }]);
            for scenario in chosen(&SCENARIOS, &options.scenarios) {
                for family in chosen(&FAMILIES, &options.families) {
                    if smoke && (scenario, family) != sample {
                        continue;
                    }
                    let message = options.message.unwrap_or_else(|| usual_message(kind, family));
                    cells.push(Cell { scenario, kind, family, message, peer: peer.clone() });
                }
            }
        }
    }
    cells
}

/// Those of `all` that were asked for; all if none was.
fn chosen<T: Copy + PartialEq>(all: &[T], asked: &[T]) -> Vec<T> {
    all.iter().copied().filter(|one| asked.is_empty() || asked.contains(one)).collect()
}

/// The message sizes of the default: a write that both sides like, a full Ethernet frame, sockperf's smallest.
fn usual_message(kind: Kind, family: Family) -> u32 {
    match (kind, family) {
        (Kind::TcpStream, _) => 16_384,
        (Kind::UdpStream, Family::Ipv4) => 1500 - 20 - 8,
        (Kind::UdpStream, Family::Ipv6) => 1500 - 40 - 8,
        (Kind::TcpRr | Kind::UdpRr | Kind::TcpCrr | Kind::Pps, _) => 14,
    }
}

/// What all comparisons have in common.
struct Session<'a> {
    bench: &'a Bench<'a>,
    cpus: CpuSplit,
    rootless: bool,
    timing: Timing,
    pairs: u32,
}

impl Session<'_> {
    /// A testbed of its own, and in it the pairs.
    fn compare(&self, cell: &Cell, report: &mut Report) -> Result<Comparison, NoTurn> {
        let bench = self.bench;
        let mut testbed =
            bench.netassay.testbed(cell.scenario, &self.cpus, self.rootless, &bench.interrupt)?;
        for note in testbed.notes() {
            report.note(format!("{}: {note}", cell.scenario));
        }
        let ipv6 = cell.family == Family::Ipv6;
        let slack = if bench.common.smoke { SMOKE_SLACK } else { SLACK };
        let address = |end: &testbed::End| if ipv6 { end.ipv6 } else { end.ipv4 };
        let job = Job {
            kind: cell.kind,
            ipv6,
            message: cell.message,
            seconds: (self.timing.ramp + self.timing.window + slack).as_secs_f64().ceil() as u32,
            client: address(&testbed.transmitter),
            server: address(receiver(&testbed)?),
        };
        let shared = cell.scenario == Scenario::Loopback;
        let yardstick = Yardstick::new(&job, testbed.transmitter.pid(), receiver(&testbed)?.pid(), shared);
        let mut comparison = Comparison {
            scenario: cell.scenario,
            workload: cell.kind,
            family: cell.family,
            message: cell.message,
            peer: cell.peer.peer.name().to_owned(),
            version: cell.peer.version.clone(),
            pairs: Vec::new(),
        };
        for number in 1..=self.pairs {
            let netassay = turn::of_netassay(&mut testbed, &job, self.timing, &yardstick, &bench.interrupt)?;
            let peer = turn::of_peer(
                &cell.peer,
                &testbed,
                self.rootless,
                &job,
                self.timing,
                &yardstick,
                &bench.interrupt,
            )?;
            bench.say(&format!(
                "{} {number}/{}: {:.2}",
                cell.place(),
                self.pairs,
                netassay.received / peer.received
            ));
            comparison.pairs.push(Pair { netassay, peer });
        }
        Ok(comparison)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::Parser as _;

    fn installed() -> Vec<Installed> {
        let fake = |peer| Installed { peer, program: "/none".into(), version: String::new() };
        PEERS.into_iter().map(fake).collect()
    }

    fn of(arguments: &[&str], smoke: bool) -> Vec<Cell> {
        let cli = Cli::parse_from([&["", "load"], arguments].concat());
        cells(cli.load().unwrap(), &installed(), smoke)
    }

    #[test]
    fn everything_is_compared_unless_told_otherwise() {
        // Three peers for each stream, one for each request-response, on two paths, over two families.
        assert_eq!(of(&[], false).len(), (3 + 3 + 1 + 1) * 2 * 2);
        let some = of(&["--workload", "udp_stream", "--scenario", "veth", "--family", "ipv6"], false);
        assert_eq!(some.len(), 3);
        assert!(some.iter().all(|cell| cell.message == 1452));
        assert_eq!(of(&["--message", "64", "--workload", "udp_rr"], false)[0].message, 64);
    }

    #[test]
    fn a_smoke_test_has_every_peer_with_all_its_traffic_on_both_paths_and_families() {
        let cells = of(&[], true);
        assert_eq!(cells.len(), 3 + 3 + 1 + 1);
        for scenario in SCENARIOS {
            assert!(cells.iter().any(|cell| cell.scenario == scenario));
        }
        for family in FAMILIES {
            assert!(cells.iter().any(|cell| cell.family == family));
        }
    }

    #[test]
    fn words_of_the_command_line() {
        assert_eq!(kind("udp_rr"), Ok(Kind::UdpRr));
        assert!(family("ipv5").unwrap_err().contains("ipv4, ipv6"));
        assert!(window("0").is_err() && window("x").is_err() && window("2.5") == Ok(2.5));
    }
}
