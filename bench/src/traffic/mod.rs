//! netassay's traffic beside its peers': on the same namespaces and CPUs, with the same messages
//! and buffers, in turn.

mod callgrind;
mod cell;
mod comparison;
mod controls;
mod counted;
mod guests;
mod instructions;
mod memory;
mod mode;
mod options;
mod part;
mod sending;
mod session;
mod timing;
mod turn;

use std::time::Duration;

use serde_json::json;
use study::Scenario;
use testbed::guest::Kernel;

use crate::bench::Bench;
use crate::failure::Failure;
use crate::installed::{self, Installed};
use crate::report::Report;
use comparison::HEADING;
pub(crate) use options::Options;
use part::Part;
pub(crate) use sending::{Sends, Sink};
use session::Session;
use timing::Timing;

/// Rounds of a part, and of the grid.
const PAIRS: u32 = 7;
const PAIRS_OF_GRID: u32 = 6;

pub(crate) fn run(bench: &Bench, options: &Options) -> Result<Report, Failure> {
    let parts = options.parts();
    let session = session(bench, options)?;
    let mut report = Report::begin("load", &HEADING);
    let installed = installed::peers(&options.peers(), &mut report);
    for one in &installed {
        report.note(format!("{}: {}", one.peer.name, one.version));
    }
    let controller = &bench.cpus.controller;
    if !controller.is_empty() {
        host::affinity::pin_current_thread(controller).map_err(Failure::environment)?;
    }
    explain(&session, parts, &mut report);
    let compared = compare(&session, options, &installed, &mut report)?;
    if parts.contains(&Part::Instructions) {
        instructions::run(&session, options, &installed, &mut report)?;
    }
    if parts.contains(&Part::Memory) {
        memory::run(&session, &mut report)?;
    }
    if compared == 0 && parts.iter().all(|part| part.compares()) && report.is_complete() {
        return Err(Failure::Usage(
            "nothing to compare: no goal is about such traffic with one of these peers".to_owned(),
        ));
    }
    Ok(report.finish())
}

fn session<'a>(bench: &'a Bench, options: &Options) -> Result<Session<'a>, Failure> {
    let has_guests = options.paths().iter().any(|path| path.has_guests());
    if has_guests && !options.grid {
        let why = "--scenario vm: only --grid runs between virtual machines";
        return Err(Failure::Usage(why.to_owned()));
    }
    let kernel = has_guests.then(|| Kernel::find(Some(&options.kernel)).map_err(Failure::environment));
    let with_window = |timing: Timing| Timing {
        window: options.window.map_or(timing.window, Duration::from_secs_f64),
        ..timing
    };
    let (timing, pairs) =
        if options.grid { (Timing::OF_GRID, PAIRS_OF_GRID) } else { (Timing::OF_PARTS, PAIRS) };
    let Timing { ramp, window, .. } = Timing::OF_GRID;
    let tiny = Timing { ramp, window, slack: Timing::SMOKE_SLACK, ..timing };
    Ok(Session {
        bench,
        timing: bench.or_smoke(with_window(timing), tiny),
        timing_of_guests: with_window(Timing::OF_GUESTS),
        kernel: kernel.transpose()?,
        pairs: bench.or_smoke(options.pairs.unwrap_or(pairs), 1),
    })
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

/// Makes the comparisons of all parts, tells them, and says how many there were.
fn compare(
    session: &Session<'_>,
    options: &Options,
    installed: &[Installed],
    report: &mut Report,
) -> Result<usize, Failure> {
    let paths = options.paths().iter().map(|path| (*path, controls(session, options, *path, report)));
    let paths: Vec<(Scenario, Vec<String>)> = paths.collect();
    let mut compared = Vec::new();
    for part in options.parts().iter().filter(|part| part.compares()) {
        for cell in cell::cells(*part, options, installed, &paths, session.bench.smoke) {
            if cell.peers.is_empty() {
                if options.grid {
                    report.note(format!("{}: left out, because no installed peer supports it", cell.name()));
                }
                continue;
            }
            let comparison = session.compare(&cell, report);
            if let Some(comparison) = report.or_not_run(&cell.name(), comparison)? {
                comparison.tell(report);
                compared.push(json!({"comparison": comparison, "figures": comparison.figures()}));
            }
        }
    }
    if options.grid {
        let (all, met) = (report.goals.len(), report.goals.iter().filter(|goal| goal.met).count());
        report.note(format!("netassay is at least 1.00 of the best peer in {met} of {all} cells"));
    }
    let count = compared.len();
    report.result("comparisons", compared);
    Ok(count)
}

/// The congestion controls of the grid's TCP on a path.
fn controls(session: &Session<'_>, options: &Options, path: Scenario, report: &mut Report) -> Vec<String> {
    match (&session.kernel, options.congestion_controls.as_slice()) {
        _ if !options.grid => Vec::new(),
        (Some(kernel), []) if path.has_guests() => controls::of_guests(kernel, report),
        (_, []) => controls::of_namespaces(report),
        (_, asked) => asked.to_vec(),
    }
}
