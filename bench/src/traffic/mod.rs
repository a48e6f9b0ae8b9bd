//! netassay's traffic beside its peers': on the same namespaces and CPUs, with the same messages
//! and buffers, in turn.

mod callgrind;
mod cell;
mod comparison;
mod counted;
mod grid;
mod guests;
mod instructions;
mod memory;
mod options;
mod part;
mod sending;
mod session;
mod task;
mod timing;
mod turn;

use std::time::Duration;

use guest::Kernel;
use serde_json::json;
use study::Scenario;

use crate::bench::Bench;
use crate::failure::Failure;
use crate::installed::{self, Installed};
use crate::peers::{PEERS_IN_DEBIAN, PEERS_OF_THE_GRID};
use crate::report::{Goal, Report};
use comparison::{Comparison, HEADING};
pub(crate) use options::Options;
use part::Part;
pub(crate) use sending::{Sends, Sink};
use session::Session;
use timing::Timing;

/// Rounds of a part, and of the grid.
const PAIRS: u32 = 7;
const PAIRS_OF_GRID: u32 = 6;

/// `netassay-bench load`
pub(crate) fn run(bench: &Bench, options: &Options) -> Result<Report, Failure> {
    let parts = options.chosen_parts();
    let kernel = kernel(options)?;
    let mut report = Report::begin("load", &HEADING);
    let is_wanted = |part: &Part, peer| part.needs(peer) && options.has_peer(peer);
    let peers = if options.grid { PEERS_OF_THE_GRID.as_slice() } else { &PEERS_IN_DEBIAN };
    let wanted: Vec<_> =
        peers.iter().copied().filter(|peer| parts.iter().any(|part| is_wanted(part, *peer))).collect();
    let installed = installed::peers(&wanted, &mut report);
    for one in &installed {
        report.note(format!("{}: {}", one.peer.name(), one.version));
    }
    let controller = &bench.cpus.controller;
    if !controller.is_empty() {
        host::affinity::pin_current_thread(controller).map_err(Failure::environment)?;
    }
    let session = session(bench, options, kernel);
    let controls = controls(&session, options, &mut report);
    explain(&session, &parts, &mut report);
    let mut results = json!({});
    let comparisons = compare(&session, options, &parts, &installed, &controls, &mut report)?;
    let told = |one: &Comparison| json!({"comparison": one, "figures": one.figures()});
    results["comparisons"] = comparisons.iter().map(told).collect();
    if parts.contains(&Part::Instructions) {
        results["instructions"] = instructions::run(&session, options, &installed, &mut report)?;
    }
    if parts.contains(&Part::Memory) {
        results["memory"] = memory::run(&session, &mut report)?;
    }
    let is_counted = parts.iter().any(|part| !part.compares());
    if comparisons.is_empty() && !is_counted && report.is_complete() {
        return Err(Failure::Usage(
            "nothing to compare: no goal is about such traffic with one of these peers".to_owned(),
        ));
    }
    Ok(report.finish(results))
}

/// What virtual machines boot, if they are asked for.
fn kernel(options: &Options) -> Result<Option<Kernel>, Failure> {
    if !options.paths().iter().any(|path| path.has_guests()) {
        return Ok(None);
    }
    if !options.grid {
        let why = "--scenario vm: only --grid runs between virtual machines";
        return Err(Failure::Usage(why.to_owned()));
    }
    Kernel::find(Some(&options.kernel)).map(Some).map_err(Failure::environment)
}

fn session<'a>(bench: &'a Bench, options: &Options, kernel: Option<Kernel>) -> Session<'a> {
    let with_window = |timing: Timing| Timing {
        window: options.window.map_or(timing.window, Duration::from_secs_f64),
        ..timing
    };
    let (timing, pairs) =
        if options.grid { (Timing::OF_GRID, PAIRS_OF_GRID) } else { (Timing::OF_PARTS, PAIRS) };
    let tiny = Timing { window: Timing::OF_GRID.window, slack: Timing::SMOKE_SLACK, ..timing };
    Session {
        bench,
        timing: bench.or_smoke(with_window(timing), tiny),
        timing_of_guests: with_window(Timing::OF_GUESTS),
        kernel,
        pairs: bench.or_smoke(options.pairs.unwrap_or(pairs), 1),
    }
}

/// The paths, and the congestion controls of the grid's TCP on each.
fn controls(session: &Session<'_>, options: &Options, report: &mut Report) -> Vec<(Scenario, Vec<String>)> {
    let mut of = |path: Scenario| match (&session.kernel, options.congestion_controls.as_slice()) {
        _ if !options.grid => Vec::new(),
        (Some(kernel), []) if path.has_guests() => guests::congestion_controls(kernel, report),
        (_, []) => grid::congestion_controls(report),
        (_, asked) => asked.to_vec(),
    };
    options.paths().iter().map(|path| (*path, of(*path))).collect()
}

/// What a reader must know of how the figures come about.
fn explain(session: &Session<'_>, parts: &[Part], report: &mut Report) {
    if parts.iter().any(|part| part.compares()) {
        report.note(
            "rates are the kernel's counts in the receiver's namespace, CPU is all that ran on the hosts' CPUs; ratio = netassay / peer, \
             of each pair; medians, and the 95 % interval of the median ratio (order statistics of the pairs: any distribution). \
             Goals are judged by the median ratio to the peer that is best by its own median",
        );
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
}

/// Makes the comparisons of all parts, and tells them.
fn compare(
    session: &Session<'_>,
    options: &Options,
    parts: &[Part],
    installed: &[Installed],
    controls: &[(Scenario, Vec<String>)],
    report: &mut Report,
) -> Result<Vec<Comparison>, Failure> {
    let mut comparisons = Vec::new();
    for part in parts.iter().filter(|part| part.compares()) {
        for cell in cell::cells(*part, options, installed, controls, session.bench.smoke) {
            if cell.peers.is_empty() {
                if options.grid {
                    report.note(format!("{}: left out, because no installed peer supports it", cell.name()));
                }
                continue;
            }
            let comparison = session.compare(&cell, report);
            if let Some(comparison) = report.or_not_run(&cell.name(), comparison)? {
                comparison.tell(report);
                comparisons.push(comparison);
            }
        }
    }
    if options.grid {
        let met = report.goals.iter().filter(|goal| Goal::is_met(goal)).count();
        let all = report.goals.len();
        report.note(format!("netassay is at least 1.00 of the best peer in {met} of {all} cells"));
    }
    Ok(comparisons)
}
