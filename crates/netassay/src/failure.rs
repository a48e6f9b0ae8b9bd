//! Errors on their way out: this module turns them into words, a hint and an exit code.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use thiserror::Error;

use crate::cli::Cli;
use crate::exit;
use crate::output::named;

macro_rules! bail {
    ($kind:ident, $($message:tt)+) => {
        return Err($crate::failure::Failure::$kind(format!($($message)+)))
    };
}
pub(crate) use bail;

/// Refuses the first of these options that is given.
pub(crate) fn refuse_given<const N: usize>(why: &str, options: [(&str, bool); N]) -> Result<(), Failure> {
    match options.into_iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => bail!(Usage, "{option} {why}"),
        None => Ok(()),
    }
}

#[derive(Debug, Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    CommandLine(#[from] clap::Error),
    /// The study file is invalid; the text is rendered, with the escape codes of colours.
    #[error("{0}")]
    Study(String),
    #[error("{0}")]
    Usage(String),
    #[error("cannot read {}: {source}", named(.path))]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot write {}: {source}", named(.path))]
    Write { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Store(#[from] store::StoreError),
    #[error(transparent)]
    Runner(#[from] runner::Error),
    #[error(transparent)]
    Testbed(#[from] testbed::Error),
    #[error(transparent)]
    Host(#[from] host::Error),
    #[error(transparent)]
    Agent(#[from] agent::ServeError),
    #[error(transparent)]
    Samples(#[from] samples::SamplesError),
    #[error("{0}")]
    Environment(String),
    #[error("{0}")]
    Nothing(String),
    #[error("{0}")]
    NotComparable(String),
    #[error("{0}")]
    Internal(String),
    /// Standard output is a pipe whose reader has gone.
    #[error("standard output is closed")]
    BrokenPipe,
}

impl Failure {
    pub(crate) fn report(self) -> ExitCode {
        let code = self.code();
        match &self {
            Self::BrokenPipe => {}
            // clap knows colours, and which of its messages (help, version) belong on standard
            // output. It quotes words as they are, and a shell's `*` may expand to hostile file
            // names, so it gets words that may be printed.
            Self::CommandLine(error) => {
                let plain = std::env::args_os()
                    .map(|word| OsString::from(words::sanitised_line(&word.to_string_lossy()).as_ref()));
                match Cli::read(plain) {
                    Err(same) => drop(same.print()),
                    Ok(_) => say(&error.render().to_string()),
                }
            }
            Self::Study(text) => put(text.trim_end()),
            _ => {
                say(&format!("netassay: {}", self.message()));
                if let Some(hint) = self.hint() {
                    say(&format!("  hint: {hint}"));
                }
            }
        }
        ExitCode::from(code)
    }

    fn message(&self) -> String {
        let words = self.to_string();
        match self {
            // A guest's console and the problems of a study have several lines; any other line
            // break comes from a name.
            Self::Runner(_) | Self::Testbed(_) | Self::Usage(_) | Self::Internal(_) => words,
            _ => words::sanitised_line(&words).into_owned(),
        }
    }

    pub(crate) fn code(&self) -> u8 {
        match self {
            // A bisection would take the usual code for a bad commit.
            Self::CommandLine(error) if error.use_stderr() => {
                let bisects = std::env::args_os().any(|word| word == "--bisect");
                if bisects { exit::BISECT_STOP + exit::USAGE } else { exit::USAGE }
            }
            Self::BrokenPipe | Self::CommandLine(_) => exit::OK,
            // The name of a missing file is the user's, and is wrong.
            Self::Read { source, .. } | Self::Samples(samples::SamplesError::Read { source, .. })
                if source.kind() != io::ErrorKind::NotFound =>
            {
                exit::ENVIRONMENT
            }
            Self::Study(_) | Self::Usage(_) | Self::Read { .. } | Self::Samples(_) => exit::USAGE,
            Self::Testbed(testbed::Error::NoKernel(_))
            | Self::Runner(runner::Error::Testbed(testbed::Error::NoKernel(_))) => exit::USAGE,
            Self::Runner(runner::Error::NothingToRun { .. }) | Self::Nothing(_) => exit::NOTHING,
            Self::Runner(runner::Error::Interrupted) => exit::INTERRUPTED,
            Self::Testbed(error) if error.is_interrupt() => exit::INTERRUPTED,
            Self::Store(store::StoreError::TagTaken { .. }) => exit::USAGE,
            Self::Store(
                store::StoreError::NoSuchStudy { .. }
                | store::StoreError::NoStudyCalled { .. }
                | store::StoreError::NoSuchTag { .. }
                | store::StoreError::NotFound { .. }
                | store::StoreError::Empty { .. }
                | store::StoreError::NoTables { .. },
            ) => exit::NOTHING,
            Self::Testbed(error) | Self::Runner(runner::Error::Testbed(error)) if error.is_of_kernel() => {
                exit::NO_BOOT
            }
            Self::NotComparable(_) => exit::NOT_COMPARABLE,
            Self::Internal(_) => exit::INTERNAL,
            _ => exit::ENVIRONMENT,
        }
    }

    fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Testbed(error) if error.is_interrupt() || error.names_its_way_out() => None,
            Self::Runner(runner::Error::Testbed(_)) | Self::Testbed(_) => Some(
                "`netassay doctor` (--host, --transmitter and --receiver name other machines) shows what a machine supports, and \
                 how to repair what is missing",
            ),
            _ => None,
        }
    }
}

impl From<results::Error> for Failure {
    fn from(error: results::Error) -> Self {
        match error {
            results::Error::NothingRecorded { .. } => Self::Nothing(error.to_string()),
            results::Error::NotComparable { .. } | results::Error::NothingToJudge { .. } => {
                Self::NotComparable(error.to_string())
            }
            // Another program wrote it, or another version of this one.
            _ => Self::Usage(error.to_string()),
        }
    }
}

/// Prints to standard error.
pub(crate) fn say(text: &str) {
    // The text may quote names and files, which must not command the terminal.
    put(&words::sanitised_lines(text));
}

fn put(text: &str) {
    // Without standard error nobody can be told.
    let _ = writeln!(anstream::stderr(), "{text}");
}
