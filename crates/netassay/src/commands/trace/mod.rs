//! `netassay trace`: where a packet's time goes in the kernel, stage by stage.

mod chart;
mod compared;
mod files;
mod flame;
mod packets;
mod paths;
mod place;

use std::process::ExitCode;

use agent::message::TraceOptions;
use report::views;
use results::{PathTraceReport, SizedTrace, mixed_stages};
use study::{Assignment, Kind};
use trace::{MOST_BYTES, TracePath, bundled_text};

use crate::cli::Trace;
use crate::commands::hosts;
use crate::commands::load::Asked;
use crate::commands::study_files::read_text;
use crate::commands::undo::SaysUnrestored;
use crate::failure::{Failure, bail, refuse_given};
use crate::{again, exit, output, signals, turn};
use place::PathKeys;

pub(crate) fn trace(flags: &Trace) -> Result<ExitCode, Failure> {
    if let Some(word) = &flags.from {
        return compared::print(word, flags).map(done);
    }
    let (names, keys) = names_and_keys(&flags.words)?;
    match names.as_slice() {
        names if flags.paths => paths::list(names, &PathKeys::read(keys, flags)?, flags).map(done),
        [name] if compared::is_meant(name) => compared::trace(name, keys, flags),
        [path] => measure(path, keys, flags),
        [] => bail!(Usage, "name a path, or list them with --paths"),
        [_, other, ..] => {
            bail!(Usage, "{other:?} is no KEY=VALUE, and one path or study is traced at a time")
        }
    }
}

fn done((): ()) -> ExitCode {
    ExitCode::from(exit::OK)
}

fn names_and_keys(words: &[String]) -> Result<(Vec<&str>, Vec<Assignment>), Failure> {
    let (keys, names): (Vec<&str>, Vec<&str>) =
        words.iter().map(String::as_str).partition(|word| word.contains('='));
    let read = |word: &str| word.parse::<Assignment>().map_err(|error| Failure::Usage(error.to_string()));
    Ok((names, keys.into_iter().map(read).collect::<Result<_, _>>()?))
}

fn measure(name: &str, keys: Vec<Assignment>, flags: &Trace) -> Result<ExitCode, Failure> {
    let (text, path) = read(name)?;
    let (why, options) = (format!("needs a study: {name:?} is none"), &flags.campaign);
    refuse_given(&why, [("--resume", options.resume.is_some()), ("--dry-run", options.dry_run)])?;
    refuse_given(&why, [("--keep-disturbed", options.keep_disturbed)])?;
    let keys = PathKeys::read(keys, flags)?;
    let (exact, scenario) = (keys.exact, keys.scenario(flags));
    // A reader sleeps where it waits for an answer; between two machines the other one answers.
    let workload = match path.workload.is_udp() {
        _ if !keys.is_asleep() && scenario.is_of_namespaces() => path.workload,
        true => Kind::UdpRr,
        false => Kind::TcpRr,
    };
    let sizes = sizes(&keys, workload)?;
    let mut all: Vec<Asked> =
        sizes.iter().map(|keys| Asked::from_keys(workload, scenario, keys)).collect::<Result<_, _>>()?;
    files::check(flags)?;
    place::check(&all[0], flags)?;
    let interrupt = signals::interrupt()?;
    let (hosts, measured) = place::hosts(&all[0], flags, &interrupt)?;
    let (_turn, beside) = turn::begin(&flags.turn, measured, &interrupt)?;
    let _says_unrestored = SaysUnrestored(hosts.clone());
    let mut testbed = place::testbed(&all[0], exact, hosts.as_ref(), flags.turn.beside, &interrupt)?;
    testbed.settle(&runner::switches_of(&all[0].condition))?;
    for asked in &mut all {
        asked.choose_congestion_control(&mut testbed)?;
    }
    let functions = !flags.tracepoints && testbed.may_probe_functions()?;
    let is_profiled = keys.tracing.profile || flags.flame.is_some();
    let wanted = TraceOptions {
        path: text,
        functions,
        batch: keys.tracing.batch,
        rounds: keys.tracing.rounds,
        asleep: keys.is_asleep(),
        every: if flags.chart.iter().any(|path| files::is_of_packets(path)) { flags.every } else { 0 },
        profile: if is_profiled { host::perf::frequency(exact) } else { 0 },
    };
    let on = place::on(&mut testbed, hosts.as_ref())?;
    let mut traces: Vec<SizedTrace> = Vec::new();
    for Asked { order, .. } in &all {
        let account = testbed.trace(order, wanted.clone())?;
        traces.push(SizedTrace::new(order.traffic.clone(), account, exact));
    }
    let mut notes: Vec<String> = testbed.notes.iter().map(ToString::to_string).collect();
    if !functions && !flags.tracepoints {
        let own =
            |host: &String| format!("{host} runs this machine's own kernel: none of its functions is probed");
        notes.extend(on.host.as_ref().map(own));
    }
    let asked = &all[0];
    let found = PathTraceReport {
        netassay: env!("CARGO_PKG_VERSION"),
        command: again::command(),
        path: name.to_owned(),
        about: path.about.into_inner(),
        scenario: asked.scenario,
        inside_guest: asked.inside_guest,
        on,
        exact,
        family: asked.order.family,
        notes,
        disturbed: beside.as_ref().map(ToString::to_string),
        unlike: mixed_stages(&traces),
        traces,
    };
    let written = files::write(&found, flags);
    output::show_view(&found, &flags.output, |found, _| views::path_trace(found))?;
    written.map(done)
}

/// Answers are as long as the messages, so that all packets are alike.
fn sizes(keys: &PathKeys, kind: Kind) -> Result<Vec<Vec<Assignment>>, Failure> {
    // Packets without a receiver are as short as can be.
    if keys.names("message") || kind == Kind::Pps {
        return Ok(vec![keys.traffic.clone()]);
    }
    let of_size = |size: u32| {
        let mut own = keys.traffic.clone();
        own.push(hosts::change(&format!("message={size}"))?);
        if kind.is_rr() && !keys.names("response") {
            own.push(hosts::change(&format!("response={size}"))?);
        }
        Ok(own)
    };
    [1, 1400].map(of_size).into_iter().collect()
}

fn read(name: &str) -> Result<(String, TracePath), Failure> {
    match paths::find(name) {
        Ok(path) => return Ok((bundled_text(path).to_owned(), TracePath::bundled(path))),
        Err(unknown) if !name.contains(['.', '/']) => return Err(unknown),
        Err(_) => {}
    }
    let text = read_text(std::path::Path::new(name), MOST_BYTES as u64, "a path's file")?;
    let path = TracePath::parse(name, &text).map_err(|error| Failure::Usage(error.to_string()))?;
    Ok((text, path))
}
