//! `netassay trace`: where a packet's time goes in the kernel, stage by stage.

mod chart;
mod compared;
mod document;
mod folded;
mod functions;
mod packets;
mod paths;

use std::process::ExitCode;

use agent::message::Traced;
use study::{CongestionControl, Kind, Scenario, Tracing};
use testbed::Testbed;
use trace::{Ladder, MOST_BYTES, Path};

use crate::cli::{CampaignFlags, Said, Trace, TraceAction};
use crate::commands::figure;
use crate::commands::load::Asked;
use crate::commands::studies::read_text;
use crate::exit;
use crate::failure::{Failure, say};
use crate::machine;
use crate::output;
use crate::signals;
use crate::turn;
use document::{Document, OfSize};

pub(crate) fn trace(flags: &Trace) -> Result<ExitCode, Failure> {
    if let Some(TraceAction::Merge(flags)) = &flags.action {
        return compared::merge(flags).map(done);
    }
    if let Some(word) = &flags.from {
        return compared::stored(word, flags).map(done);
    }
    match (&flags.paths, &flags.path) {
        (Some(names), _) => paths::list(names, &said(flags)?, flags.output).map(done),
        (None, Some(name)) if compared::is_meant(name) => compared::trace(name, flags),
        (None, Some(path)) => measure(path, flags).map(done),
        (None, None) => Err(Failure::Usage("name a path, or list them with --paths".to_owned())),
    }
}

fn done((): ()) -> ExitCode {
    ExitCode::from(exit::OK)
}

fn measure(name: &str, flags: &Trace) -> Result<(), Failure> {
    let (text, path) = read(name)?;
    let CampaignFlags { set, database: _, dry_run, resume, keep_disturbed } = &flags.campaign;
    let of_studies = [
        (!set.changes.is_empty(), "--set"),
        (*dry_run, "--dry-run"),
        (resume.is_some(), "--resume"),
        (*keep_disturbed, "--keep-disturbed"),
    ];
    if let Some((_, what)) = of_studies.into_iter().find(|(is_given, _)| *is_given) {
        return Err(Failure::Usage(format!(
            "{what} needs a study, and {name:?} is a path: it has the options of `netassay load`"
        )));
    }
    let said = said(flags)?;
    // One thread holds the sockets of both ends. In a virtual machine it may enter the other end's
    // namespace; here that needs a privilege that agents give up.
    let inside = said.0.iter().any(|one| one.key() == INSIDE);
    let default = if inside { Scenario::Veth } else { Scenario::Loopback };
    // A reader sleeps where it waits for an answer.
    let workload = match path.workload.is_udp() {
        _ if !flags.asleep => path.workload,
        true => Kind::UdpRr,
        false => Kind::TcpRr,
    };
    let mut all = Vec::new();
    for said in sizes(&said, workload)? {
        all.push(Asked::of(workload, default, &said)?);
    }
    let chart = flags.chart.as_deref().map(|path| Ok::<_, Failure>((path, figure::written_to(path)?)));
    let chart = chart.transpose()?;
    let asked = &all[0];
    if !asked.inside_guest {
        if asked.scenario != Scenario::Loopback {
            return Err(Failure::Usage(format!(
                "--scenario {}: on this machine's own kernel only `loopback` is traced; use it, or --inside guest",
                asked.scenario
            )));
        }
        if let Some(obstacle) = Ladder::read().obstacle() {
            return Err(Failure::Environment(format!(
                "this kernel cannot be traced from here: {obstacle}; --inside guest traces in a virtual machine, which needs no root"
            )));
        }
    }
    let interrupt = signals::interrupt()?;
    let session = turn::begin(&flags.turn, &interrupt)?;
    machine::recover()?;
    let options = asked.options(!host::Privileges::read().privileged(), &interrupt)?;
    let options = testbed::Options { exact: flags.exact, ..options };
    let mut testbed = Testbed::build(&options, &interrupt)?;
    testbed.settle(&runner::switches_of(&asked.condition))?;
    // Functions of the running kernel are not probed: a guest's kernel harms nobody.
    let Tracing { batch, rounds, .. } = Tracing::default();
    let (batch, rounds) = (flags.batch.unwrap_or(batch), flags.rounds.unwrap_or(rounds));
    let every = if flags.packets.is_some() { flags.every } else { 0 };
    let profile = if flags.profile { host::perf::frequency(flags.exact) } else { 0 };
    let functions = asked.inside_guest;
    let wanted = Traced { path: text, functions, batch, rounds, asleep: flags.asleep, every, profile };
    let mut traces = Vec::new();
    for asked in &all {
        let mut order = asked.order.clone();
        if asked.leaves_congestion_control_open() {
            let chosen = runner::unpaced(|traffic| testbed.lacking(traffic, study::Family::Ipv4))?;
            order.traffic.congestion_control = CongestionControl::Named(chosen.to_owned());
        }
        let account = testbed.trace(&order, wanted.clone())?;
        traces.push(OfSize::new(order.traffic, account, flags.exact));
    }
    let notes = testbed.notes().iter().map(ToString::to_string).collect();
    let disturbed = session.disturbance().map(|cause| cause.to_string());
    let document = Document::new(name, &path, (asked, flags.exact), traces, notes, disturbed);
    if let Some((path, write)) = chart {
        let drawn = chart::of(&document)
            .ok_or_else(|| Failure::Nothing("no packet was followed: there is no chart".to_owned()))?;
        output::replace(path, &write(&drawn))?;
        say(&format!("wrote the chart to {}", output::named(path)));
    }
    if let Some(path) = &flags.folded {
        output::replace(path, &folded::of(&document))?;
        say(&format!("wrote the stacks to {}", output::named(path)));
    }
    if let Some(path) = &flags.packets {
        let written = packets::of(&document, flags.every)?;
        output::replace(path, &written.json)?;
        say(&format!("wrote {} to {}", written.said, output::named(path)));
    }
    output::show(&document, &flags.output, flags.tables.wide, Document::text)
}

/// The options for each size of the message: the one that was said, or 1 and 1400 bytes. Answers
/// are as long, so that all packets are alike.
fn sizes(said: &Said, kind: Kind) -> Result<Vec<Said>, Failure> {
    let says = |key: &str| said.0.iter().any(|one| one.key() == key);
    // Packets without a receiver are as short as can be.
    if says("message") || kind == Kind::Pps {
        return Ok(vec![said.clone()]);
    }
    let answers = kind.is_rr() && !says("response");
    let of = |size: &u32| {
        let mut own = said.clone();
        for key in ["message", "response"].iter().take(if answers { 2 } else { 1 }) {
            let one = format!("{key}={size}").parse();
            own.0.push(one.map_err(|error: study::AssignmentError| Failure::Usage(error.to_string()))?);
        }
        Ok(own)
    };
    [1, 1400].iter().map(of).collect()
}

/// The options of the traffic and its testbed; instructions are counted inside a virtual machine.
fn said(flags: &Trace) -> Result<Said, Failure> {
    let mut said = flags.said.clone();
    if flags.exact && !said.0.iter().any(|one| one.key() == INSIDE) {
        let inside = format!("{INSIDE}=guest").parse();
        said.0.push(inside.map_err(|error: study::AssignmentError| Failure::Usage(error.to_string()))?);
    }
    Ok(said)
}

const INSIDE: &str = "inside";

/// The text of a path's file, and the path.
fn read(name: &str) -> Result<(String, Path), Failure> {
    if let Ok(bundled) = paths::find(name) {
        return Ok((bundled.text.to_owned(), bundled.path()));
    }
    if !name.contains(['.', '/']) {
        return Err(paths::find(name).err().unwrap_or_else(|| Failure::Usage(name.to_owned())));
    }
    let text = read_text(std::path::Path::new(name), MOST_BYTES as u64, "a path's file")?;
    let path = Path::parse(name, &text).map_err(|error| Failure::Usage(error.to_string()))?;
    Ok((text, path))
}
