//! The command line of this machine: `doctor`, `restore`.

use clap::Args;
use reach::HostSpec;

use super::common::Formatted;
use super::hosts::{HostFlags, OneHost};

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Also look at this interface, which is to carry traffic, for a second; of another machine:
    /// --host USER@HOST:INTERFACE
    #[arg(long, value_name = "INTERFACE", conflicts_with_all = ["transmitter", "receiver", "hosts"])]
    pub(crate) interface: Option<String>,
    /// Look at this machine, over ssh
    #[arg(long, value_name = "[USER@]HOST[:INTERFACE]", conflicts_with_all = ["transmitter", "receiver", "hosts", "addresses", "lease", "keep_agent"])]
    pub(crate) host: Option<HostSpec>,
    #[command(flatten)]
    pub(crate) output: Formatted,
    #[command(flatten, next_help_heading = "Two machines, which are checked as a pair")]
    pub(crate) hosts: HostFlags,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Undone is what `netassay apply` set, and what sessions left that are gone. The latter every measuring command undoes too when\nit starts.\n\nExamples:\n  netassay restore --dry-run\n  netassay restore --force"
)]
pub(crate) struct Restore {
    /// Show what would be undone, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Also restore settings that another program has changed since
    #[arg(long)]
    pub(crate) force: bool,
    /// Rename journals whose changes could not all be undone, so that they are ignored
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) forget: bool,
    #[command(flatten)]
    pub(crate) on: OneHost,
    #[command(flatten)]
    pub(crate) output: Formatted,
}
