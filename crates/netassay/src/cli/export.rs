//! The command line of `export`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::common::Database;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// One file for each condition and metric, one value a line: ministat's input
    Stat,
    /// One row for each run and metric
    Csv,
    /// One document with everything but the counters over time
    Json,
    /// CSV: the counters over time, one row for each run, side and moment
    Series,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  netassay export --format stat --out results\n  netassay export 3 --format csv > runs.csv"
)]
pub(crate) struct Export {
    /// The study: its number, a tag or its name (`netassay list`) [default: the newest]
    pub(crate) study: Option<String>,
    /// What to write
    #[arg(long, value_enum)]
    pub(crate) format: ExportFormat,
    /// (stat) The metric, or `all` for a directory of files for each [default: the study's own]
    #[arg(long)]
    pub(crate) metric: Option<String>,
    /// Where to write: a directory for `stat`, a file for the others [default: standard output]
    #[arg(long, value_name = "PATH")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) database: Database,
}
