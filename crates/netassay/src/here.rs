//! Testbeds on this machine.

use agent::Interrupt;
use study::BootState;
use testbed::{Options, SettingsAgent};

use crate::failure::Failure;

/// The running binary itself, even if its file was replaced: it becomes each agent.
pub(crate) const PROGRAM: &str = "/proc/self/exe";

/// The options of testbeds here: agents are this program, and an agent reports the CPUs. Call it
/// before this process pins itself ([`testbed::cpu_split_of_this_machine`]).
pub(crate) fn options(
    state: impl Into<BootState>,
    rootless: bool,
    interrupt: &Interrupt,
) -> Result<Options, Failure> {
    let cpus = testbed::cpu_split_of_this_machine(PROGRAM.as_ref(), interrupt)?;
    Ok(Options::new(state, PROGRAM, cpus, rootless))
}

/// The agent that changes this machine's settings. Ctrl-C does not end the conversation, so that
/// changes are undone after it.
pub(crate) fn machine_settings() -> Result<SettingsAgent, Failure> {
    let nobody_stops = Interrupt::new().map_err(|error| Failure::Environment(error.to_string()))?;
    Ok(SettingsAgent::of_this_machine(PROGRAM.as_ref(), &nobody_stops)?)
}
