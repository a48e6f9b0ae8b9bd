//! `netassay agent`: become a host's agent.

use crate::failure::Failure;

/// Keeps the program on a machine for as long as its controller gives signs of life.
pub(crate) fn hold() -> Result<(), Failure> {
    agent::hold(agent::Launch::LEASE)
        .map_err(|error| Failure::Environment(format!("cannot read standard input: {error}")))
}

pub(crate) fn agent() -> Result<(), Failure> {
    // Started as /proc/self/exe, it would be listed as "exe".
    let _ = std::fs::write("/proc/self/comm", "netassay agent");
    Ok(agent::serve(env!("CARGO_PKG_VERSION"))?)
}
