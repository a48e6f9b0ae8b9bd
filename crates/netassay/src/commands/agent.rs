//! `netassay agent`: become a host's agent.

use crate::failure::Failure;

pub(crate) fn agent() -> Result<(), Failure> {
    // Started as /proc/self/exe, it would be listed as "exe".
    let _ = std::fs::write("/proc/self/comm", "netassay agent");
    Ok(agent::serve(env!("CARGO_PKG_VERSION"))?)
}
