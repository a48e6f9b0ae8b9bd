//! The command line of `trace` for databases.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::common::{Formatted, Tables};

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
