//! The command line of study files: `studies`, `new`, `check`.

use std::path::PathBuf;

use clap::Args;

use super::common::Formatted;
use super::run::Changes;

#[derive(Debug, Args)]
pub(crate) struct Studies {
    /// Print the file of this bundled study
    #[arg(long, value_name = "NAME", conflicts_with = "format")]
    pub(crate) print: Option<String>,
    #[command(flatten)]
    pub(crate) output: Formatted,
}

#[derive(Debug, Args)]
pub(crate) struct New {
    /// The study's name; the file is NAME.toml in this directory
    pub(crate) name: String,
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// The study file
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) set: Changes,
}
