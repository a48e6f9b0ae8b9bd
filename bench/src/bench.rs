//! What every bench has at hand.

use std::io::{self, Write as _};
use std::path::PathBuf;

use agent::Interrupt;
use clap::Args;

use crate::failure::Failure;
use crate::netassay::Netassay;
use crate::report::Report;

/// What every command takes.
#[derive(Debug, Args)]
pub(crate) struct Common {
    /// Print JSON, one document for each bench
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Tiny counts: shows that the bench works, and nothing else
    #[arg(long, global = true)]
    pub(crate) smoke: bool,
    /// The netassay binary; left out: the one beside this program
    #[arg(long, global = true, value_name = "PATH")]
    pub(crate) netassay: Option<PathBuf>,
}

/// What every bench has at hand.
pub(crate) struct Bench<'a> {
    pub(crate) common: &'a Common,
    pub(crate) netassay: Netassay,
    pub(crate) interrupt: Interrupt,
}

impl Bench<'_> {
    /// Prints the report of a bench.
    pub(crate) fn print(&self, report: &Report) -> Result<(), Failure> {
        let text = if self.common.json { report.json()? } else { report.to_string() };
        let mut out = io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            // Nobody reads any more: nothing is left to do.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            result => result.map_err(Failure::io("cannot write to standard output")),
        }
    }

    /// What is being done, on standard error: a bench takes minutes.
    pub(crate) fn say(&self, what: &str) {
        // Without a standard error there is nobody to tell.
        let _ = writeln!(io::stderr(), "{what}");
    }
}
