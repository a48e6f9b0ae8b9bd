//! `netassay trace`: where a packet's time goes in the kernel, stage by stage.

mod chart;
mod compared;
mod document;
mod flame;
mod folded;
mod functions;
mod options;
mod packets;
mod paths;
mod place;
mod planned;

use std::process::ExitCode;

use agent::message::TraceOptions;
use results::counted;
use study::{CongestionControl, Kind, Tracing};
use testbed::RunOrder;
use trace::{MOST_BYTES, TracePath};

use crate::cli::{Said, Trace, TraceAction};
use crate::commands::figure;
use crate::commands::hosts::SaysUnrestored;
use crate::commands::load::Asked;
use crate::commands::study_files::read_text;
use crate::exit;
use crate::failure::{Failure, say};
use crate::machine;
use crate::output;
use crate::signals;
use crate::turn;
use crate::written::{self, MayReplace};
use document::{Document, OfSize};
use flame::Flames;
use planned::Planned;

pub(crate) fn trace(flags: &Trace) -> Result<ExitCode, Failure> {
    if let Some(TraceAction::Merge(flags)) = &flags.action {
        return compared::merge(flags).map(done);
    }
    if let Some(word) = &flags.from {
        return compared::stored(word, flags).map(done);
    }
    match (&flags.paths, &flags.path) {
        (Some(names), _) => paths::list(names, flags).map(done),
        (None, Some(name)) if compared::is_meant(name) => compared::trace(name, flags),
        (None, Some(path)) => measure(path, flags),
        (None, None) => Err(Failure::Usage("name a path, or list them with --paths".to_owned())),
    }
}

fn done((): ()) -> ExitCode {
    ExitCode::from(exit::OK)
}

fn measure(name: &str, flags: &Trace) -> Result<ExitCode, Failure> {
    let (text, path) = read(name)?;
    if let Some(what) = options::of_studies(flags) {
        return Err(Failure::Usage(format!(
            "{what} needs a study, and {name:?} is a path: it has the options of `netassay load`"
        )));
    }
    let said = place::said(flags)?;
    let scenario = place::scenario(&said, flags);
    // A reader sleeps where it waits for an answer; between two machines the other one answers.
    let workload = match path.workload.is_udp() {
        _ if !flags.asleep && scenario.is_of_namespaces() => path.workload,
        true => Kind::UdpRr,
        false => Kind::TcpRr,
    };
    let mut all = Vec::new();
    for said in sizes(&said, workload)? {
        all.push(Asked::of(workload, scenario, &said)?);
    }
    let flame = flags.flame.as_deref().map(|path| Ok::<_, Failure>((path, flame::form(path)?)));
    let flame = flame.transpose()?;
    let charts = flags.chart.iter().map(|path| Ok((path.as_path(), Form::by_extension(path)?)));
    let charts = charts.collect::<Result<Vec<_>, Failure>>()?;
    let asked = &all[0];
    place::check(asked, flags)?;
    let Tracing { batch, rounds, .. } = Tracing::default();
    let (batch, rounds) = (flags.batch.unwrap_or(batch), flags.rounds.unwrap_or(rounds));
    if flags.campaign.dry_run {
        let planned = Planned::of(name, &path, &all, flags, [batch, rounds])?;
        return output::show_view(&planned, &flags.output, flags.tables.wide, |planned, _| planned.blocks())
            .map(done);
    }
    let interrupt = signals::interrupt()?;
    let session = turn::begin(&flags.turn, &interrupt)?;
    machine::recover()?;
    let hosts = place::hosts(asked, flags, &interrupt)?;
    let _says_unrestored = SaysUnrestored(hosts.clone());
    let mut testbed = place::testbed(asked, flags.exact, hosts.as_ref(), &interrupt)?;
    testbed.settle(&runner::switches_of(&asked.condition))?;
    let functions = !flags.tracepoints && testbed.may_probe_functions()?;
    let has_packets = charts.iter().any(|(_, form)| matches!(form, Form::Packets));
    let every = if has_packets { flags.every } else { 0 };
    let profile = if flags.profile || flame.is_some() { host::perf::frequency(flags.exact) } else { 0 };
    let wanted = TraceOptions { path: text, functions, batch, rounds, asleep: flags.asleep, every, profile };
    let on = place::on(&mut testbed, hosts.as_ref())?;
    let mut orders: Vec<RunOrder> = all.iter().map(|asked| asked.order.clone()).collect();
    if asked.leaves_congestion_control_open() {
        let chosen = runner::unpaced(|traffic| testbed.lacking(traffic, study::Family::Ipv4))?;
        for order in &mut orders {
            order.traffic.congestion_control = CongestionControl::Named(chosen.to_owned());
        }
    }
    let mut traces = Vec::new();
    let mut ended = None;
    for order in &orders {
        let mut finished = None;
        let (account, failure) = match testbed.trace(order, wanted.clone(), &mut finished) {
            Ok(account) => (Some(account), None),
            Err(error) => (finished, Some(Failure::from(error))),
        };
        traces.extend(account.map(|account| OfSize::new(order.traffic.clone(), account, flags.exact)));
        ended = failure;
        if let Some(failure) = ended.take_if(|_| traces.is_empty()) {
            return Err(failure);
        }
        if ended.is_some() {
            break;
        }
    }
    let mut notes: Vec<String> = testbed.notes.iter().map(ToString::to_string).collect();
    if ended.is_some() {
        notes.push(finished_rounds(&orders, &traces, rounds));
    }
    if !functions && !flags.tracepoints {
        notes.extend(on.is_this_kernel());
    }
    let disturbed = session.disturbance().map(|cause| cause.to_string());
    let document = Document::new(name, &path, (asked, flags.exact, on), traces, notes, disturbed);
    let written = write(&document, flags, &charts, flame);
    output::show_view(&document, &flags.output, flags.tables.wide, |document, _| document.blocks())?;
    written?;
    Ok(ended.map_or_else(|| done(()), Failure::report))
}

/// What was finished of a trace that ended early.
fn finished_rounds(orders: &[RunOrder], traces: &[OfSize], rounds: u32) -> String {
    let of_size = |(number, order): (usize, &RunOrder)| {
        let finished = traces.get(number).map_or(0, |traced| traced.account.all.len());
        format!("{finished} of {rounds} with {}", counted(order.traffic.message as usize, "byte"))
    };
    let of_sizes: Vec<String> = orders.iter().enumerate().map(of_size).collect();
    format!("the trace ended early; finished rounds: {}", of_sizes.join(", "))
}

/// The content of a `--chart` file, by the end of its name.
enum Form {
    Chart(figure::Write),
    /// Folded stacks of the stages.
    Stacks,
    /// Single packets in the Trace Event Format.
    Packets,
}

impl Form {
    fn by_extension(path: &std::path::Path) -> Result<Self, Failure> {
        match path.extension().and_then(std::ffi::OsStr::to_str) {
            Some("folded") => Ok(Self::Stacks),
            Some("json") => Ok(Self::Packets),
            _ => figure::written_to(path).map(Self::Chart),
        }
    }
}

/// Writes the files that were asked for.
fn write(
    document: &Document,
    flags: &Trace,
    charts: &[(&std::path::Path, Form)],
    flame: Option<(&std::path::Path, flame::Form)>,
) -> Result<(), Failure> {
    for (path, form) in charts {
        let (text, said) = match form {
            Form::Chart(write) => {
                let drawn = chart::of(document).ok_or_else(|| {
                    Failure::Nothing("no packet was followed: there is no chart".to_owned())
                })?;
                (write(&drawn), "the chart".to_owned())
            }
            Form::Stacks => (folded::of(document), "the stacks".to_owned()),
            Form::Packets => {
                let written = packets::of(document, flags.every)?;
                (written.json, written.said)
            }
        };
        written::write(path, &text, MayReplace::OwnFile)?;
        say(&format!("wrote {said} to {}", output::named(path)));
    }
    if let Some((path, form)) = flame {
        Flames::of_path(document).write(path, &form)?;
    }
    Ok(())
}

/// The options for each size of the message: the one that was said, or 1 and 1400 bytes. Answers
/// are as long, so that all packets are alike.
fn sizes(said: &Said, kind: Kind) -> Result<Vec<Said>, Failure> {
    let says = |key: &str| said.0.iter().any(|one| one.key == key);
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

/// The text of a path's file, and the path.
fn read(name: &str) -> Result<(String, TracePath), Failure> {
    if let Ok(bundled) = paths::find(name) {
        return Ok((bundled.text.to_owned(), bundled.path()));
    }
    if !name.contains(['.', '/']) {
        return Err(paths::find(name).err().unwrap_or_else(|| Failure::Usage(name.to_owned())));
    }
    let text = read_text(std::path::Path::new(name), MOST_BYTES as u64, "a path's file")?;
    let path = TracePath::parse(name, &text).map_err(|error| Failure::Usage(error.to_string()))?;
    Ok((text, path))
}
