//! `netassay doctor`: what this machine can do, and what disturbs measurement here; or whether two
//! machines are a pair.

use std::process::ExitCode;
use std::sync::Arc;

use agent::{Interrupt, Launch};
use host::same_network;
use study::{BySide, Scenario};
use testbed::reach::{HostSpec, ProgramOutput};
use testbed::{Crossing, HostPlace, Hosts};

use crate::cli::{Doctor, HostFlags, Login};
use crate::commands::hosts::{ReachedHosts, TO_END, reach, reach_one};
use crate::doctor::Examination;
use crate::exit;
use crate::failure::{Failure, say};
use crate::machine::PROGRAM;
use crate::output;
use crate::signals;

pub(crate) fn doctor(flags: &Doctor) -> Result<ExitCode, Failure> {
    let interrupt = signals::interrupt()?;
    let examination = if flags.hosts.names_any() {
        examine(&flags.hosts, &interrupt)?
    } else {
        match examine_one(flags.host.as_ref(), &flags.hosts.login, &interrupt)? {
            Some(of_host) => of_host,
            None => {
                let interface = flags.host.as_ref().and_then(|host| host.interface.as_deref());
                Examination::make(interface, &interrupt)?
            }
        }
    };
    output::show_view(&examination, &flags.output, false, |one, _| one.blocks())?;
    let code = if examination.can_measure() { exit::OK } else { exit::ENVIRONMENT };
    Ok(ExitCode::from(code))
}

/// Reaches two machines, and checks them as a pair. Nothing is changed.
fn examine(flags: &HostFlags, interrupt: &Interrupt) -> Result<Examination, Failure> {
    let reached = reach(flags, &[Scenario::Ssh], false, interrupt)?;
    let Some(ReachedHosts { hosts, found: Some(found), .. }) = &reached else {
        return Err(Failure::Usage("name two machines: --transmitter and --receiver".to_owned()));
    };
    let crossings = Crossing::all_between(found, hosts.own_addresses);
    let checks = hosts.check_pair(&crossings, PROGRAM.as_ref(), interrupt)?;
    Ok(Examination::of_pair(checks, found))
}

/// Examines another machine, and whether it and this one are a pair over its interface. `None`: no
/// machine is named.
fn examine_one(
    host: Option<&HostSpec>,
    login: &Login,
    interrupt: &Interrupt,
) -> Result<Option<Examination>, Failure> {
    let interface = host.and_then(|host| host.interface.as_deref());
    let Some(reached) = reach_one(host, login, interrupt)? else { return Ok(None) };
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
        let (lease, named) = (Launch::LEASE, format!("{host}:{interface}"));
        let here = HostPlace { by: None, interface: None, lease, shares_machine: false };
        let (by, interface) = (Some(Arc::new(reached)), Some(interface.to_owned()));
        let there = HostPlace { by, interface, ..here.clone() };
        let places = BySide { transmitter: here, receiver: there };
        let mut hosts = Hosts { places, own_addresses: false };
        let checks = hosts.locate(PROGRAM.as_ref(), interrupt).and_then(|found| {
            let [one, other] = [&found.transmitter, &found.receiver].map(|end| &end.located.addresses);
            if !one.iter().any(|one| other.iter().any(|other| same_network(*one, *other))) {
                return Ok(Err("no interface of this machine is in its network".to_owned()));
            }
            let crossings = Crossing::all_between(&found, false);
            hosts.check_pair(&crossings, PROGRAM.as_ref(), interrupt).map(Ok)
        });
        let checks = match checks {
            Err(error) if error.is_interrupt() => return Err(error.into()),
            checks => checks.unwrap_or_else(|error| Err(error.to_string())),
        };
        examination.add_pair(checks, &named);
    }
    Ok(Some(examination))
}
