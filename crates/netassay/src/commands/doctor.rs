//! `netassay doctor`: what this machine can do, and what disturbs measurement here; or whether two
//! machines are a pair.

use std::process::ExitCode;

use agent::Interrupt;
use report::views;
use results::Examination;
use study::Scenario;
use testbed::Crossing;
use testbed::reach::{HostSpec, ProgramOutput, RemoteHost};

use crate::cli::{Formatted, HostFlags};
use crate::commands::hosts::{ReachedHosts, TO_END, reach, reach_one};
use crate::doctor::{can_measure, examine, of_pair};
use crate::failure::{Failure, bail, say};
use crate::machine::PROGRAM;
use crate::{exit, output, signals};

pub(crate) fn doctor(
    host: Option<&HostSpec>,
    hosts: &HostFlags,
    output: &Formatted,
) -> Result<ExitCode, Failure> {
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
    let code = if can_measure(&examination) { exit::OK } else { exit::ENVIRONMENT };
    Ok(ExitCode::from(code))
}

fn examine_pair(flags: &HostFlags, interrupt: &Interrupt) -> Result<Examination, Failure> {
    let reached = reach(flags, &[Scenario::Ssh], false, interrupt)?;
    let Some(ReachedHosts { hosts, found: Some(found), .. }) = &reached else {
        bail!(Usage, "name two machines: --transmitter and --receiver");
    };
    let crossings = Crossing::all_between(found, hosts.own_addresses);
    Ok(of_pair(hosts.check_pair(&crossings, PROGRAM.as_ref(), interrupt)?, found))
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
