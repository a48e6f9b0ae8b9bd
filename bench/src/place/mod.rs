//! The hosts of a testbed as places for programs. Programs started there are bounded in time, and
//! gone with everything they started.

mod host;
mod inside;
mod prepare;
mod program;
mod reading;
mod remote;

use std::process::{Command, ExitCode};

use crate::failure::Failure;

pub(crate) use self::host::{Host, Hosts};
pub(crate) use inside::Inside;
pub(crate) use prepare::Prepare;
pub(crate) use program::Program;
pub(crate) use remote::{PORT, Remote, shell};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Lives the life of a guest's first process, if it is one: guests that also need the shell boot
/// this program, which does what netassay does there, with the same crates.
pub(crate) fn serve_if_first_process() {
    if agent::init::is_called() {
        // If it cannot be started, nobody listens at its port, and the bench says so.
        let _ = Command::new("/init").arg("shell").spawn();
        agent::init::run(VERSION);
    }
}

/// `netassay-bench agent`: serves as netassay does in guests that boot this program.
pub(crate) fn agent() -> Result<ExitCode, Failure> {
    agent::serve(VERSION).map_err(Failure::environment)?;
    Ok(ExitCode::SUCCESS)
}
