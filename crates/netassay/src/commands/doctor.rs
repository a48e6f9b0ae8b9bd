//! `netassay doctor`: what this machine can do, and what disturbs measurement here; or whether two
//! machines are a pair.

use std::process::ExitCode;

use agent::Interrupt;
use host::same_network;
use study::{BySide, Scenario};
use testbed::reach::{ProgramOutput, RemoteHost};
use testbed::{Crossing, Hosts, PairCheck};

use crate::cli::{Doctor, HostFlags};
use crate::commands::hosts::{ReachedHosts, TO_END, place, reach, reach_one};
use crate::doctor::Examination;
use crate::exit;
use crate::failure::{Failure, say};
use crate::machine::PROGRAM;
use crate::output;
use crate::signals;

pub(crate) fn doctor(flags: &Doctor) -> Result<ExitCode, Failure> {
    let interrupt = signals::interrupt()?;
    let interface = flags.host.as_ref().and_then(|host| host.interface.as_deref());
    let examination = if flags.hosts.names_any() {
        examine_pair(&flags.hosts, &interrupt)?
    } else if let Some(reached) = reach_one(flags.host.as_ref(), &flags.hosts.login, &interrupt)? {
        examine_other(reached, interface, &interrupt)?
    } else {
        Examination::make(interface, &interrupt)?
    };
    output::show_view(&examination, &flags.output, false, |one, _| one.blocks())?;
    let code = if examination.can_measure() { exit::OK } else { exit::ENVIRONMENT };
    Ok(ExitCode::from(code))
}

/// Reaches two machines, and checks them as a pair. Nothing is changed.
fn examine_pair(flags: &HostFlags, interrupt: &Interrupt) -> Result<Examination, Failure> {
    let reached = reach(flags, &[Scenario::Ssh], false, interrupt)?;
    let Some(ReachedHosts { hosts, found: Some(found), .. }) = &reached else {
        return Err(Failure::Usage("name two machines: --transmitter and --receiver".to_owned()));
    };
    let crossings = Crossing::all_between(found, hosts.own_addresses);
    let checks = hosts.check_pair(&crossings, PROGRAM.as_ref(), interrupt)?;
    Ok(Examination::of_pair(checks, found))
}

/// Examines another machine, and whether it and this one are a pair over its interface.
fn examine_other(
    reached: RemoteHost,
    interface: Option<&str>,
    interrupt: &Interrupt,
) -> Result<Examination, Failure> {
    let mut words = vec!["doctor", "--format", "json"];
    let on_interface = interface.map(|name| format!(":{name}"));
    words.extend(on_interface.iter().flat_map(|on| ["--host", on]));
    let ProgramOutput { stdout: printed, stderr: said, .. } = reached.run(&words, TO_END, interrupt)?;
    let host = reached.launcher.to_string();
    let mut examination: Examination = serde_json::from_slice(&printed)
        .map_err(|_| Failure::Environment(format!("{host}: no examination came back; it said: {said}")))?;
    if !said.is_empty() {
        say(&format!("{host}: {said}"));
    }
    if let Some(interface) = interface {
        let places =
            BySide { transmitter: place(None, None), receiver: place(Some(reached), Some(interface)) };
        let checks = match check_pair(Hosts { places, own_addresses: false }, interrupt) {
            Err(error) if error.is_interrupt() => return Err(error.into()),
            checks => checks.unwrap_or_else(|error| Err(error.to_string())),
        };
        examination.add_pair(checks, &format!("{host}:{interface}"));
    }
    Ok(examination)
}

/// Checks this machine and another one as a pair; or says why they are none.
fn check_pair(
    mut hosts: Hosts,
    interrupt: &Interrupt,
) -> Result<Result<Vec<PairCheck>, String>, testbed::Error> {
    let found = hosts.locate(PROGRAM.as_ref(), interrupt)?;
    let [here, there] = [&found.transmitter, &found.receiver].map(|end| &end.located.addresses);
    if !here.iter().any(|here| there.iter().any(|there| same_network(*here, *there))) {
        return Ok(Err("no interface of this machine is in its network".to_owned()));
    }
    let crossings = Crossing::all_between(&found, false);
    hosts.check_pair(&crossings, PROGRAM.as_ref(), interrupt).map(Ok)
}
