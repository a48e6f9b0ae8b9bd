//! Where paths are traced: on this machine, in a virtual machine, or on a machine of the user's.

use agent::Interrupt;
use serde::Serialize;
use study::Scenario;
use testbed::{Hosts, Options, Testbed};
use trace::ProbeLadder;

use crate::cli::{Said, Trace};
use crate::commands::hosts;
use crate::commands::load::Asked;
use crate::failure::Failure;

const INSIDE: &str = "inside";
const SCENARIO: &str = "scenario";

/// The machine that is traced.
#[derive(Debug, Default, Serialize)]
pub(super) struct OnMachine {
    /// Its name, if it is one of the user's.
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<String>,
    /// The release of its kernel.
    kernel: Option<String>,
    kernel_version: Option<String>,
    kernel_command_line: Option<String>,
    /// All that as a clause.
    #[serde(skip)]
    pub(super) described: String,
}

/// The options of the traffic and its testbed; instructions are counted inside a virtual machine,
/// or in one of two.
pub(super) fn said(flags: &Trace) -> Result<Said, Failure> {
    let mut said = flags.said.clone();
    let is_one = scenario(&said, flags).is_of_namespaces();
    if flags.exact && is_one && !said.0.iter().any(|one| one.key == INSIDE) {
        let inside = format!("{INSIDE}=guest").parse();
        said.0.push(inside.map_err(|error: study::AssignmentError| Failure::Usage(error.to_string()))?);
    }
    Ok(said)
}

/// The scenario that the options name, or the default. Inside one machine one thread holds the
/// sockets of both ends. In a virtual machine and on a machine of the user's it may enter the other
/// end's namespace; here that needs a privilege that agents give up.
pub(super) fn scenario(said: &Said, flags: &Trace) -> Scenario {
    let named = said.0.iter().rev().find(|one| one.key == SCENARIO);
    // What is no scenario is refused where all options are read.
    let named = named.and_then(|one| one.values.first()?.parse().ok());
    let inside = said.0.iter().any(|one| one.key == INSIDE);
    named.unwrap_or(match flags.hosts.names_any() {
        true => Scenario::Ssh,
        false if inside || flags.host.is_some() => Scenario::Veth,
        false => Scenario::Loopback,
    })
}

/// Refuses what cannot be traced there.
pub(super) fn check(asked: &Asked, flags: &Trace) -> Result<(), Failure> {
    check_machine(asked, flags)?;
    // Before a testbed is built, or a virtual machine booted.
    if let Some(misfit) = asked.order.traffic.traced_misfits(asked.scenario).first() {
        let key = misfit.key;
        return Err(Failure::Usage(format!(
            "a trace does not support this `{key}` over {}: it sends one message after the other; leave `{key}` out",
            asked.scenario
        )));
    }
    if asked.inside_guest || flags.names_a_machine() || !asked.scenario.is_of_namespaces() {
        return Ok(());
    }
    if asked.scenario != Scenario::Loopback {
        return Err(Failure::Usage(format!(
            "--scenario {}: on this machine's own kernel only `loopback` is traced; use it, --inside guest, or the scenario `vm`",
            asked.scenario
        )));
    }
    if let Some(obstacle) = ProbeLadder::read().obstacle() {
        return Err(Failure::Environment(format!(
            "this kernel cannot be traced from here: {obstacle}; --inside guest traces in a virtual machine, which needs no root"
        )));
    }
    Ok(())
}

/// Refuses a machine on which it is not done.
pub(super) fn check_machine(asked: &Asked, flags: &Trace) -> Result<(), Failure> {
    let Some(host) = &flags.host else { return Ok(()) };
    let why = if asked.inside_guest {
        "virtual machines run on this machine only: use one of --host and --inside guest".to_owned()
    } else if !asked.scenario.is_of_namespaces() {
        format!(
            "--scenario {}: --host traces inside one machine: use veth, vxlan or loopback, or name two machines with --transmitter and --receiver",
            asked.scenario
        )
    } else if let Some(interface) = &host.interface {
        format!("--host names the interface {interface:?}, and a path is traced in namespaces: leave it out")
    } else {
        return Ok(());
    };
    Err(Failure::Usage(why))
}

/// Reaches the machines of the user's, if any are named.
pub(super) fn hosts(asked: &Asked, flags: &Trace, interrupt: &Interrupt) -> Result<Option<Hosts>, Failure> {
    if flags.host.is_some() {
        return hosts::namespaces_on(&flags.on(), interrupt);
    }
    let reached = hosts::reach(&flags.hosts, &[asked.scenario], asked.inside_guest, interrupt)?;
    if let Some(reached) = &reached {
        reached.check_pair(std::slice::from_ref(&asked.condition), interrupt)?;
    }
    Ok(reached.map(|reached| reached.hosts))
}

/// Makes the testbed; on the machine that was reached, if one was. The connection must outlive it.
pub(super) fn testbed(
    asked: &Asked,
    exact: bool,
    hosts: Option<&Hosts>,
    interrupt: &Interrupt,
) -> Result<Testbed, Failure> {
    let rootless = hosts.is_none() && !host::Privileges::read().privileged();
    let options = asked.options(rootless, interrupt)?;
    Ok(Testbed::build(&Options { exact, hosts: hosts.cloned(), ..options }, interrupt)?)
}

/// The machine of a testbed that is traced.
pub(super) fn on(testbed: &mut Testbed, hosts: Option<&Hosts>) -> Result<OnMachine, Failure> {
    let kernel = testbed.environment()?.transmitter.kernel;
    Ok(OnMachine {
        host: hosts.map(|hosts| hosts.places.transmitter.to_string()),
        described: format!("kernel {kernel}"),
        kernel: kernel.release,
        kernel_version: kernel.version,
        kernel_command_line: kernel.command_line,
    })
}

impl OnMachine {
    #[cfg(test)]
    pub(super) fn described(described: &str) -> Self {
        Self { described: described.to_owned(), ..Self::default() }
    }

    /// Why no function of a machine of the user's is probed.
    pub(super) fn is_this_kernel(&self) -> Option<String> {
        let host = self.host.as_ref()?;
        Some(format!("{host} runs this machine's own kernel: none of its functions is probed"))
    }

    /// A machine of the user's, with its kernel.
    pub(super) fn named(&self) -> Option<String> {
        let host = self.host.as_ref()?;
        Some(self.kernel.as_ref().map_or(host.clone(), |kernel| format!("{host} (kernel {kernel})")))
    }
}
