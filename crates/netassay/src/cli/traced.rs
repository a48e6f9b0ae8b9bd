//! The command line of `trace` for studies and databases.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::common::{Database, Formatted, Tables};
use super::run::Changes;

/// Options of a study that is traced.
#[derive(Debug, Args)]
pub(crate) struct TracedStudy {
    /// Print the stages of this stored study (number, tag or name), and measure nothing
    #[arg(long, value_name = "STORED")]
    pub(crate) from: Option<String>,
    #[command(flatten)]
    pub(crate) set: Changes,
    #[command(flatten)]
    pub(crate) database: Database,
    /// (a study) Print the plan, and measure nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// (a study) Continue a stored study: the newest unfinished one of this name, or the one with
    /// this number or tag
    #[arg(long, value_name = "STORED", num_args = 0..=1)]
    #[expect(clippy::option_option, reason = "absent, present, and present with a study are three things")]
    pub(crate) resume: Option<Option<String>>,
    /// (a study) Count disturbed runs and do not repeat them: for a machine that is never idle
    #[arg(long)]
    pub(crate) keep_disturbed: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TraceAction {
    /// The least and the most that each stage costs, over traced studies of several databases
    #[command(
        after_help = "Examples:\n  netassay trace merge a.db b.db\n  netassay trace merge old.db new.db --study udp-path"
    )]
    Merge(Merge),
}

#[derive(Debug, Args)]
pub(crate) struct Merge {
    /// The databases, one of each machine or kernel
    #[arg(required = true, value_name = "DATABASE")]
    pub(crate) databases: Vec<PathBuf>,
    /// The study in each (number, tag or name) [default: the newest that was traced]
    #[arg(long, value_name = "STORED")]
    pub(crate) study: Option<String>,
    #[command(flatten)]
    pub(crate) tables: Tables,
    #[command(flatten)]
    pub(crate) output: Formatted,
}
