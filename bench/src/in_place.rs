//! This program instead of netassay, in testbeds whose guests also need the shell: it is their
//! first process, and serves as their agents. It does both as netassay does, with the same crates.

use std::process::ExitCode;

use crate::failure::Failure;
use crate::place;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Lives the life of a guest's first process, if it is one.
pub(crate) fn if_first_process() {
    if agent::init::is_called() {
        place::start_shell();
        agent::init::run(VERSION);
    }
}

/// `netassay-bench agent`
pub(crate) fn serve() -> Result<ExitCode, Failure> {
    agent::serve(VERSION).map_err(|error| Failure::Environment(error.to_string()))?;
    Ok(ExitCode::SUCCESS)
}
