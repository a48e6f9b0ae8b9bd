//! The log for whoever looks for a fault: the messages between the controller and its agents, with
//! the time that each answer took, and the programs that the controller starts.
//!
//! No measured time writes it: an agent is asked before its window, and answers after it.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::Mutex;

use tracing::Level;
use tracing::subscriber::set_global_default;
use tracing_subscriber::fmt;

use crate::cli::{Cli, Command};
use crate::failure::Failure;

const FILE: &str = "NETASSAY_LOG";

pub(crate) fn begin(cli: &Cli) -> Result<(), Failure> {
    // An agent on the same machine has the controller's environment, and no log of its own.
    let serves =
        matches!(cli.command, Command::Agent | Command::Guest | Command::Unrestored | Command::Hold { .. });
    let path = std::env::var_os(FILE).filter(|path| !path.is_empty()).map(PathBuf::from);
    let lines = fmt().with_ansi(false).with_target(false);
    let set = match path {
        _ if serves => return Ok(()),
        Some(path) => {
            let file = File::options().append(true).create(true).open(&path);
            let file = file.map_err(|source| Failure::Write { path, source })?;
            set_global_default(lines.with_max_level(Level::TRACE).with_writer(Mutex::new(file)).finish())
        }
        None if cli.verbose == 0 => return Ok(()),
        None => {
            let level = if cli.verbose == 1 { Level::DEBUG } else { Level::TRACE };
            set_global_default(lines.with_max_level(level).with_writer(io::stderr).finish())
        }
    };
    set.map_err(|error| Failure::Internal(error.to_string()))
}
