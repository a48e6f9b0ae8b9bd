//! netassay's traffic beside its peers': on the same namespaces and CPUs, with the same messages
//! and buffers, in turn.

mod callgrind;
mod cell;
mod comparison;
pub(crate) mod grid;
mod guests;
mod instructions;
mod measure;
mod memory;
pub(crate) mod options;
mod part;
pub(crate) mod prepare;
pub(crate) mod sending;
mod session;
mod task;
mod turn;
mod yardstick;

use std::collections::HashMap;
use std::time::Duration;

use guest::Kernel;
use serde_json::json;

use crate::bench::Bench;
use crate::failure::Failure;
use crate::installed::{self, Installed};
use crate::netassay::no_root;
use crate::peers::{Origin, PEERS, Peer};
use crate::report::Report;
use crate::table::Table;
use comparison::Comparison;
pub(crate) use options::Options;
use part::Part;
use session::Session;
use turn::Timing;

/// The times of the parts.
const TIMING: Timing = Timing {
    ramp: Duration::from_millis(300),
    window: Duration::from_millis(500),
    slack: Duration::from_millis(200),
    each_flow: EACH_FLOW,
    awaits_report: true,
};
/// The times of the grid, whose peers are ended when the window has closed.
const TIMING_OF_GRID: Timing = Timing {
    ramp: Duration::from_millis(100),
    window: Duration::from_millis(300),
    slack: Duration::from_millis(300),
    each_flow: EACH_FLOW,
    awaits_report: false,
};
/// The same between virtual machines, which are slow where they are emulated.
const TIMING_OF_GUESTS: Timing = Timing {
    ramp: Duration::from_millis(500),
    window: Duration::from_secs(1),
    slack: Duration::from_secs(1),
    each_flow: Duration::from_millis(50),
    awaits_report: false,
};
const EACH_FLOW: Duration = Duration::from_millis(5);
/// A smoke test runs while other tests do.
const SMOKE_SLACK: Duration = Duration::from_millis(1500);
const PAIRS: u32 = 7;
const PAIRS_OF_GRID: u32 = 6;

/// `netassay-bench load`
pub(crate) fn run(bench: &Bench<'_>, options: &Options) -> Result<Report, Failure> {
    let heading = [
        "workload",
        "family",
        "scenario",
        "bytes",
        "sender, reader",
        "peer",
        "figure",
        "netassay",
        "peer's",
        "ratio",
        "low",
        "high",
    ];
    let (table, parts) = match (options.grid, options.parts.as_slice()) {
        (true, _) => (grid::table(), vec![Part::Grid]),
        (false, []) => (Table::new(7, heading), Part::all()),
        (false, parts) => (Table::new(7, heading), parts.to_vec()),
    };
    let scenarios = cell::scenarios(options);
    let kernel = if scenarios.iter().any(|scenario| scenario.has_guests()) {
        if !options.grid {
            return Err(Failure::Usage(
                "--scenario vm: only --grid runs between virtual machines".to_owned(),
            ));
        }
        let found = Kernel::find(Some(&options.kernel));
        Some(found.map_err(|error| Failure::Environment(error.to_string()))?)
    } else {
        None
    };
    let mut report = Report::begin("load", table);
    let installed = peers(bench, options, &parts, &mut report);
    for one in &installed {
        report.note(format!("{}: {}", one.peer.name(), one.version));
    }
    let cpus = testbed::split(&host::affinity::usable());
    if !cpus.controller.is_empty() {
        let own = host::affinity::pin_current_thread(&cpus.controller);
        own.map_err(|error| Failure::Environment(error.to_string()))?;
    }
    let smoke = bench.common.smoke;
    let (timing, pairs) = if options.grid { (TIMING_OF_GRID, PAIRS_OF_GRID) } else { (TIMING, PAIRS) };
    let window = |timing: Timing| options.window.map_or(timing.window, Duration::from_secs_f64);
    let (timing, pairs) = if smoke {
        (Timing { window: TIMING_OF_GRID.window, slack: SMOKE_SLACK, ..timing }, 1)
    } else {
        (Timing { window: window(timing), ..timing }, options.pairs.unwrap_or(pairs))
    };
    let timing_of_guests = Timing { window: window(TIMING_OF_GUESTS), ..TIMING_OF_GUESTS };
    let rootless = no_root().is_some();
    let session = Session { bench, cpus, rootless, timing, timing_of_guests, kernel, pairs };
    let (mut comparisons, mut any) = (Vec::new(), false);
    let compared: Vec<Part> = Part::COMPARED.into_iter().filter(|part| parts.contains(part)).collect();
    if !compared.is_empty() {
        report.note(
            "rates are the kernel's counts in the receiver's namespace, CPU is all that ran on the hosts' CPUs; ratio = netassay / peer, \
             of each pair; medians, and the 95 % interval of the median ratio (order statistics of the pairs: any distribution). \
             Goals are judged by the median ratio to the peer that is best by its own median",
        );
    }
    let mut controls = HashMap::new();
    for scenario in scenarios {
        let of_scenario = match (options.congestion_controls.as_slice(), &session.kernel) {
            _ if !options.grid => Vec::new(),
            ([], Some(kernel)) if scenario.has_guests() => guests::congestion_controls(kernel, &mut report),
            ([], _) => grid::congestion_controls(&mut report),
            (asked, _) => asked.to_vec(),
        };
        controls.insert(scenario, of_scenario);
    }
    if session.kernel.is_some() {
        report.note(
            "vm: rates are the counts of the receiving guest's kernel, by its clock. netassay's side there is the load engine that is built \
             into this program, and not that of --netassay: the guests boot this program",
        );
    }
    if parts.contains(&Part::Udp) {
        report.note(
            "udp_stream: the goal asks for one `send` per datagram and leaves the reader free, so it is judged with `spin`, which never \
             sleeps; with netassay's default, `recv`, it is judged too",
        );
    }
    for part in compared {
        for cell in cell::cells(part, options, &installed, &controls, smoke) {
            if cell.peers.is_empty() {
                if part == Part::Grid {
                    report.note(format!(
                        "{}: left out, because no installed peer supports it",
                        grid::name(cell.task)
                    ));
                }
                continue;
            }
            any = true;
            let Some(comparison) = session.compare(&cell, &mut report)? else { continue };
            if part == Part::Grid {
                comparison.tell_in_grid(grid::name(cell.task), &mut report);
            } else {
                comparison.tell(&mut report);
            }
            comparisons.push(comparison);
        }
    }
    if options.grid {
        comparison::sum_up(&comparisons, &mut report);
    }
    let told = |one: &Comparison| json!({"comparison": one, "figures": one.figures()});
    let mut results = json!({"comparisons": comparisons.iter().map(told).collect::<Vec<_>>()});
    if parts.contains(&Part::Instructions) {
        any = true;
        results["instructions"] = instructions::run(&session, options, &installed, &mut report)?;
    }
    if parts.contains(&Part::Memory) {
        any = true;
        results["memory"] = memory::run(&session, &mut report)?;
    }
    if !any && report.is_complete() {
        return Err(Failure::Usage(
            "nothing to compare: no goal is about such traffic with one of these peers".to_owned(),
        ));
    }
    report.results = results;
    Ok(report.finish())
}

/// The peers that are asked for and there, after those that are not were installed where that is
/// possible.
fn peers(bench: &Bench<'_>, options: &Options, parts: &[Part], report: &mut Report) -> Vec<Installed> {
    let wanted: Vec<&'static dyn Peer> = PEERS
        .into_iter()
        .filter(|peer| {
            let is = |one: &&dyn Peer| one.name() == peer.name();
            let needed = |part: &Part| cell::is_needed(*part, |kind| peer.runs(kind));
            if options.peers.is_empty() {
                parts.iter().any(|part| part.peers().iter().any(is) && needed(part))
            } else {
                options.peers.iter().any(is) && parts.iter().any(needed)
            }
        })
        .collect();
    let (mut there, mut missing) = installed::find(&wanted);
    let packages: Vec<&str> =
        missing.iter().filter(|peer| peer.origin() == Origin::Debian).map(|peer| peer.name()).collect();
    if !packages.is_empty() && !options.no_install {
        bench.say(&format!("missing peers: {}", installed::advice(&packages)));
        if let Err(why) = installed::install(&packages) {
            bench.say(&format!("not installed: {why}"));
        }
        (there, missing) = installed::find(&wanted);
    }
    for peer in missing {
        let name = peer.name();
        match peer.origin() {
            Origin::Debian => {
                let advice = installed::advice(&[name]);
                report.not_run.push(format!("{name}: it is not installed ({advice})"));
            }
            // The grid runs with the peers that are installed.
            Origin::Source(address) => report.note(format!(
                "without {name}: it is not installed, and Debian's main archive has no package of it; build {address} and put its \
                 programs on the PATH"
            )),
        }
    }
    there
}
