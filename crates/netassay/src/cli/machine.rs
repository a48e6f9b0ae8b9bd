//! The command line of this machine: `doctor`, `undo`.

use clap::Args;
use testbed::reach::HostSpec;

use super::common::Formatted;
use super::hosts::{HostFlags, OneHost};

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Look at this machine, over ssh: root@a; for a second also at its interface, which is to
    /// carry traffic: root@a:ens1f0, or an interface of this machine: :ens1f0
    #[arg(long, value_name = "[USER@]HOST[:INTERFACE]", conflicts_with_all = ["transmitter", "receiver", "hosts", "addresses", "lease", "keep_agent"])]
    pub(crate) host: Option<HostSpec>,
    #[command(flatten)]
    pub(crate) output: Formatted,
    #[command(flatten, next_help_heading = "Two machines, which are checked as a pair")]
    pub(crate) hosts: HostFlags,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Undoes the settings that `netassay apply` made, and the changes that killed sessions left. Every command that measures undoes the latter too when it starts.\n\nExamples:\n  netassay undo --dry-run\n  netassay undo --force"
)]
pub(crate) struct Undo {
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
