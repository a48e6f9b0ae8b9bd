//! The options of `netassay report`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::cli::Database;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// One HTML file, which loads nothing
    Html,
    /// Markdown, for a pull request or a mailing list
    Md,
    /// One JSON document, for programs
    Json,
}

impl ReportFormat {
    /// The ending of the files.
    pub(crate) fn ending(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Md => "md",
            Self::Json => "json",
        }
    }
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  netassay report\n  netassay report 3 -o tso.html\n  netassay report 3 4 5 6\n  netassay report main --format md -o -"
)]
pub(crate) struct Report {
    /// The studies, side by side: numbers, tags or names (`netassay db list`) [default: the newest]
    pub(crate) studies: Vec<String>,
    /// Where to write; - is standard output [default: NAME-NUMBER.html beside the database]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// The format of the page
    #[arg(long, value_enum, default_value_t = ReportFormat::Html)]
    pub(crate) format: ReportFormat,
    #[command(flatten)]
    pub(crate) database: Database,
}
