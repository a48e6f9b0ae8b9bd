//! What can go wrong in a job.

use std::fmt;
use std::io;
use std::process::{ExitCode, ExitStatus};

/// Why a job stopped. What a failing program said is already on the terminal.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line of xtask itself is wrong.
    Usage(String),
    /// A check looked and did not like what it saw.
    Check(String),
    /// A program ran and said no.
    Program { command: String, status: ExitStatus },
    /// The operating system refused something.
    Io { doing: String, source: io::Error },
}

impl Failure {
    /// For `map_err`: an I/O error with what was being done.
    pub(crate) fn io(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Failure {
        let doing = doing.into();
        move |source| Failure::Io { doing, source }
    }

    /// 2 for a wrong command line, 1 for everything else.
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Failure::Usage(_) => ExitCode::from(2),
            Failure::Check(_) | Failure::Program { .. } | Failure::Io { .. } => ExitCode::FAILURE,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Usage(what) | Failure::Check(what) => f.write_str(what),
            Failure::Program { command, status } => write!(f, "`{command}` failed ({status})"),
            Failure::Io { doing, source } => write!(f, "{doing}: {source}"),
        }
    }
}
