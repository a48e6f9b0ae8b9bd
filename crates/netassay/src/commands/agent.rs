//! `netassay agent`: become a host's agent.

use std::time::Duration;

use testbed::guest::serve_remote_guest;

use crate::failure::Failure;

/// Keeps the program on a machine for as long as its controller gives signs of life.
pub(crate) fn await_lease_end(lease: Duration) -> Result<(), Failure> {
    agent::await_lease_end(lease)
        .map_err(|error| Failure::Environment(format!("cannot read standard input: {error}")))
}

pub(crate) fn agent() -> Result<(), Failure> {
    // Started as /proc/self/exe, it would be listed as "exe".
    let _ = std::fs::write("/proc/self/comm", "netassay agent");
    Ok(agent::serve(env!("CARGO_PKG_VERSION"))?)
}

/// Boots a guest on this machine for a controller elsewhere, and is the pipe of its agent.
pub(crate) fn guest() -> Result<(), Failure> {
    let _ = std::fs::write("/proc/self/comm", "netassay guest");
    Ok(serve_remote_guest()?)
}
