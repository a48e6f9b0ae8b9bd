//! `netassay doctor`: what this machine can do, and what disturbs measurement here; or whether two
//! machines are a pair.

use std::io;
use std::process::{Child, Command, ExitCode, Output, Stdio};

use agent::Interrupt;
use report::views;
use results::{Examination, ExaminedPair};
use study::Scenario;
use testbed::Crossing;
use testbed::reach::{HostSpec, ProgramOutput, RemoteHost};

use crate::again::again_without;
use crate::cli::{Formatted, HostFlags};
use crate::commands::hosts::{PairOfHosts, ReachedHosts, TO_END, pairs, reach, reach_one};
use crate::doctor::{can_measure, examine, of_pair};
use crate::failure::{Failure, bail, say};
use crate::machine::PROGRAM;
use crate::{exit, output, signals};

pub(crate) fn doctor(
    host: Option<&HostSpec>,
    hosts: &HostFlags,
    output: &Formatted,
) -> Result<ExitCode, Failure> {
    // The process of a pair reads the file of hosts once: it may name thousands.
    let pairs = if hosts.pair.is_none() { pairs(hosts)? } else { Vec::new() };
    if pairs.len() > 1 {
        return examine_fleet(&pairs, output);
    }
    let interrupt = signals::interrupt()?;
    let interface = host.and_then(|host| host.interface.as_deref());
    let examination = if hosts.names_any() {
        examine_pair(hosts, &interrupt)?
    } else if let Some(reached) = reach_one(host, &hosts.login, &interrupt)? {
        examine_other(&reached, interface, &interrupt)?
    } else {
        examine(interface, &interrupt)?
    };
    output::show_view(&examination, output, |one, _| views::doctor(one))?;
    Ok(ExitCode::from(if can_measure(&examination) { exit::OK } else { exit::ENVIRONMENT }))
}

// Processes of pairs side by side: an examination waits for machines, and uses little CPU.
const AT_ONCE: usize = 64;

/// Each pair by a process of its own: it takes as long as the slowest.
fn examine_fleet(pairs: &[PairOfHosts], output: &Formatted) -> Result<ExitCode, Failure> {
    let mut examined = Vec::new();
    for some in pairs.chunks(AT_ONCE) {
        let begun: Vec<io::Result<Child>> = some.iter().map(|pair| begin_examination(&pair.name)).collect();
        let ended = begun.into_iter().map(|process| process.and_then(Child::wait_with_output));
        examined.extend(some.iter().zip(ended).map(|(pair, ended)| examined_pair(&pair.name, ended)));
    }
    output::show_list("pairs", &examined, output, views::doctor_of_pairs)?;
    let can_all = examined.iter().all(|pair| pair.hindrance().is_none());
    Ok(ExitCode::from(if can_all { exit::OK } else { exit::ENVIRONMENT }))
}

fn begin_examination(pair: &str) -> io::Result<Child> {
    let mut command = Command::new(PROGRAM);
    command.args(again_without(&["--format"], &["--wide"])).args(["--pair", pair, "--format", "json"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
}

fn examined_pair(pair: &str, ended: io::Result<Output>) -> ExaminedPair {
    let (examination, failure) = match ended {
        Err(error) => (None, Some(format!("netassay cannot be started: {error}"))),
        Ok(Output { stdout, stderr, .. }) => match serde_json::from_slice(&stdout) {
            Ok(examination) => (Some(examination), None),
            Err(_) => (None, Some(words::shortened_reason(String::from_utf8_lossy(&stderr).trim()))),
        },
    };
    ExaminedPair { name: pair.to_owned(), examination, failure }
}

fn examine_pair(flags: &HostFlags, interrupt: &Interrupt) -> Result<Examination, Failure> {
    let reached = reach(flags, &[Scenario::Ssh], false, interrupt)?;
    let Some(ReachedHosts { hosts, found: Some(found), .. }) = &reached else {
        bail!(Usage, "name two machines: --transmitter and --receiver");
    };
    let crossings = Crossing::all_between(found, hosts.own_addresses);
    Ok(of_pair(hosts.check_pair(&crossings)?, found))
}

fn examine_other(
    reached: &RemoteHost,
    interface: Option<&str>,
    interrupt: &Interrupt,
) -> Result<Examination, Failure> {
    let mut words = vec!["doctor", "--format", "json"];
    let on_interface = interface.map(|name| format!(":{name}"));
    words.extend(on_interface.iter().flat_map(|on| ["--host", on]));
    let ProgramOutput { stdout: printed, stderr: said, .. } = reached.run(&words, TO_END, interrupt)?;
    let host = reached.launcher.to_string();
    let examination = serde_json::from_slice(&printed)
        .map_err(|_| Failure::Environment(format!("{host}: no examination came back; it said: {said}")))?;
    if !said.is_empty() {
        say(&format!("{host}: {said}"));
    }
    Ok(examination)
}
