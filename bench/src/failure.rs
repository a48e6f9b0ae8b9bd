//! What ends a bench, its words and its exit codes.

use std::io::{self, Write as _};
use std::process::ExitCode;

use thiserror::Error;

/// Exit code: something could not be run, and the report says what and why.
pub(crate) const NOT_RUN: u8 = 3;
const USAGE: u8 = 2;
const INTERRUPTED: u8 = 130;

/// Why a bench came to no report.
#[derive(Debug, Error)]
pub(crate) enum Failure {
    /// The command line asks for what makes no sense.
    #[error("{0}")]
    Usage(String),
    /// The machine lacks what the whole bench needs.
    #[error("{0}")]
    Environment(String),
    /// The operating system refused something.
    #[error("{doing}: {source}")]
    Io { doing: String, source: io::Error },
    /// The testbed failed.
    #[error(transparent)]
    Testbed(#[from] testbed::Error),
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// A bug of the bench.
    #[error("{0}")]
    Internal(String),
}

impl Failure {
    /// For `map_err`: an I/O error with what was being done.
    pub(crate) fn io(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Failure {
        let doing = doing.into();
        move |source| Failure::Io { doing, source }
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
