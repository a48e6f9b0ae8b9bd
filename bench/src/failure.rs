//! Why a bench printed no report: its message and its exit code.

use std::fmt::Display;
use std::io::{self, Write as _};
use std::process::ExitCode;

use thiserror::Error;

/// Exit code: something could not be run, and the report says what and why.
pub(crate) const NOT_RUN: u8 = 3;
const USAGE: u8 = 2;
const INTERRUPTED: u8 = 130;

/// Why a bench printed no report.
#[derive(Debug, Error)]
pub(crate) enum Failure {
    /// The options contradict each other.
    #[error("{0}")]
    Usage(String),
    /// The machine lacks what the whole bench needs.
    #[error("{0}")]
    Environment(String),
    /// The testbed failed.
    #[error(transparent)]
    Testbed(#[from] testbed::Error),
    /// A peer was never made for what it was to do.
    #[error("{0}")]
    Declined(&'static str),
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// The operating system refused something, or the bench has a bug.
    #[error("{0}")]
    Failed(String),
}

impl Failure {
    /// For `map_err`: the machine lacks something.
    pub(crate) fn environment(error: impl Display) -> Self {
        Self::Environment(error.to_string())
    }

    pub(crate) fn failed(error: impl Display) -> Self {
        Self::Failed(error.to_string())
    }

    /// For `map_err`: an I/O error with what was being done.
    pub(crate) fn io(doing: impl Display) -> impl FnOnce(io::Error) -> Failure {
        move |source| Failure::Failed(format!("{doing}: {source}"))
    }

    /// Did the user ask to stop?
    pub(crate) fn is_interrupt(&self) -> bool {
        match self {
            Self::Interrupted => true,
            Self::Testbed(error) => error.is_interrupt(),
            _ => false,
        }
    }

    /// Tells the user, and gives the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        // Without a standard error there is nobody to tell.
        let _ = writeln!(io::stderr(), "netassay-bench: {self}");
        match self {
            _ if self.is_interrupt() => ExitCode::from(INTERRUPTED),
            Self::Usage(_) => ExitCode::from(USAGE),
            Self::Environment(_) => ExitCode::from(NOT_RUN),
            _ => ExitCode::FAILURE,
        }
    }
}
