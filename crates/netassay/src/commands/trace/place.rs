//! Where paths are traced: on this machine, in a virtual machine, or on a machine of the user's.

use agent::Interrupt;
use results::TracedMachine;
use study::{Assignment, Scenario, Tracing, Waiting};
use testbed::{Hosts, Testbed, TestbedOptions};
use trace::ProbeLadder;

use crate::cli::Trace;
use crate::commands::hosts::{self, ReachedHosts};
use crate::commands::load::{Asked, study_of_keys};
use crate::failure::{Failure, bail};
use crate::turn::HeldEnds;

/// A study in which the keys of a path's trace mean something.
const TRACED: &str = "name = \"trace\"\nquestion = \"Where?\"\nscenario = \"veth\"\ninside = \"guest\"\n\
    [[workload]]\nkind = \"udp_rr\"\n[trace]\npaths = [\"udp-tx\"]\n";

pub(super) struct PathKeys {
    pub(super) traffic: Vec<Assignment>,
    pub(super) exact: bool,
    pub(super) tracing: Tracing,
}

impl PathKeys {
    pub(super) fn read(keys: Vec<Assignment>, flags: &Trace) -> Result<Self, Failure> {
        let is_own = |one: &Assignment| {
            one.key == "exact" || (one.key.starts_with("trace.") && one.key != "trace.paths")
        };
        let (own, traffic): (Vec<_>, Vec<_>) = keys.into_iter().partition(is_own);
        let study = study_of_keys(TRACED, &own)?;
        let tracing = study.tracing.clone().unwrap_or_default();
        let mut keys = Self { traffic, exact: study.exact, tracing };
        if keys.tracing.readers.len() > 1 {
            bail!(Usage, "trace.readers: one value; to compare both, trace a study");
        }
        if keys.exact && flags.names_a_machine() {
            let ways = "leave out --host, --transmitter, --receiver";
            bail!(Usage, "exact=true needs a virtual machine here: {ways}");
        }
        // Instructions are counted inside a virtual machine, or in one of two.
        if keys.exact && keys.scenario(flags).is_of_namespaces() && !keys.names("inside") {
            keys.traffic.push(hosts::change("inside=guest")?);
        }
        Ok(keys)
    }

    pub(super) fn names(&self, key: &str) -> bool {
        self.traffic.iter().any(|one| one.key == key)
    }

    pub(super) fn is_asleep(&self) -> bool {
        self.tracing.readers == [Waiting::Asleep]
    }

    pub(super) fn scenario(&self, flags: &Trace) -> Scenario {
        let named = self.traffic.iter().rev().find(|one| one.key == "scenario");
        // Another word is refused where all keys are read.
        let named = named.and_then(|one| one.values.first()?.parse().ok());
        named.unwrap_or(match flags.hosts.names_any() {
            true => Scenario::Ssh,
            false if self.names("inside") || flags.host.is_some() => Scenario::Veth,
            // One thread holds the sockets of both ends: here, entering the other end's namespace
            // needs a privilege that agents give up.
            false => Scenario::Loopback,
        })
    }
}

pub(super) fn check(asked: &Asked, flags: &Trace) -> Result<(), Failure> {
    check_machine(asked, flags)?;
    // Before a testbed is built, or a virtual machine booted.
    if let Some(misfit) = asked.order.traffic.traced_misfits(asked.scenario).first() {
        let key = misfit.key;
        let scenario = asked.scenario;
        bail!(Usage, "a trace does not support this `{key}` over {scenario}: leave `{key}` out");
    }
    if asked.inside_guest || flags.names_a_machine() || !asked.scenario.is_of_namespaces() {
        return Ok(());
    }
    if asked.scenario != Scenario::Loopback {
        bail!(Usage, "scenario={}: here only `loopback` is traced, others with inside=guest", asked.scenario);
    }
    if let Some(obstacle) = ProbeLadder::read().obstacle() {
        bail!(Environment, "this kernel cannot be traced from here: {obstacle}; inside=guest needs no root");
    }
    Ok(())
}

pub(super) fn check_machine(asked: &Asked, flags: &Trace) -> Result<(), Failure> {
    let Some(host) = &flags.host else { return Ok(()) };
    if asked.inside_guest {
        bail!(Usage, "virtual machines run on this machine only: use one of --host and inside=guest");
    }
    if !asked.scenario.is_of_namespaces() {
        let ways = "use veth, vxlan or loopback, or name two machines with --transmitter and --receiver";
        bail!(Usage, "scenario={}: --host traces inside one machine: {ways}", asked.scenario);
    }
    if let Some(interface) = &host.interface {
        bail!(Usage, "--host names the interface {interface:?}, and a path needs none: leave it out");
    }
    Ok(())
}

/// The machines, and those of two machines that another session measures, with its name.
pub(super) fn hosts(
    asked: &Asked,
    flags: &Trace,
    interrupt: &Interrupt,
) -> Result<(Option<Hosts>, Option<HeldEnds>), Failure> {
    if flags.host.is_some() {
        return Ok((hosts::namespaces_on(flags.host.as_ref(), &flags.hosts.login, interrupt)?, None));
    }
    let reached = asked.reach(&flags.hosts, interrupt)?;
    let measured = reached.as_ref().and_then(ReachedHosts::measured_ends);
    Ok((reached.map(|reached| reached.hosts), measured))
}

/// Makes the testbed; on the machine that was reached, if one was. The connection must outlive it.
pub(super) fn testbed(
    asked: &Asked,
    exact: bool,
    hosts: Option<&Hosts>,
    beside: bool,
    interrupt: &Interrupt,
) -> Result<Testbed, Failure> {
    let rootless = hosts.is_none() && !host::Privileges::read().privileged();
    let options = asked.options(rootless, interrupt)?;
    Ok(Testbed::build(&TestbedOptions { exact, hosts: hosts.cloned(), beside, ..options }, interrupt)?)
}

pub(super) fn on(testbed: &mut Testbed, hosts: Option<&Hosts>) -> Result<TracedMachine, Failure> {
    let kernel = testbed.environment()?.transmitter.kernel;
    Ok(TracedMachine {
        host: hosts.map(|hosts| hosts.places.transmitter.to_string()),
        described: format!("kernel {kernel}"),
        kernel: kernel.release,
        kernel_version: kernel.version,
        kernel_command_line: kernel.command_line,
    })
}
