//! The command line of `show`.

use clap::Args;

use super::common::{Stored, Tables};

#[derive(Debug, Args)]
pub(crate) struct Show {
    /// The study: its number, a tag or its name (`netassay db list`) [default: the newest]
    pub(crate) study: Option<String>,
    /// Show every run, not only the conditions
    #[arg(long)]
    pub(crate) runs: bool,
    /// Show the environment of every boot
    #[arg(long)]
    pub(crate) environment: bool,
    #[command(flatten)]
    pub(crate) tables: Tables,
    #[command(flatten)]
    pub(crate) stored: Stored,
}
