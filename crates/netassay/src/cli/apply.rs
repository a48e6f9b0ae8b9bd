//! The command line of `apply`.

use clap::Args;
use study::Side;

use super::advise::Wanted;
use super::common::{Choice, Database, Formatted, one_of};
use super::hosts::OneHost;

#[derive(Debug, Args)]
#[command(
    after_help = "Only recommended settings are set; settings that depend on other switches or have no evidence are named and left. Each change is in the undo journal of the machine before it is made, and all of it or nothing stays: until the machine boots, or until `netassay undo` (with --host for another machine).\n\nExamples:\n  netassay apply 3 --host root@a:ens1f0 --side transmitter --dry-run\n  netassay apply 3 --host root@b:ens1f0 --side receiver --goal throughput\n  netassay undo --host root@b"
)]
pub(crate) struct Apply {
    /// Stored studies: numbers, tags or names (`netassay db list`)
    #[arg(value_name = "STUDY", required = true)]
    pub(crate) studies: Vec<String>,
    #[command(flatten)]
    pub(crate) on: OneHost,
    /// The interface under the tunnel, for what is recommended for that one
    #[arg(long, value_name = "INTERFACE")]
    pub(crate) underlay: Option<String>,
    /// What the machine does [default: both]
    #[arg(long, value_name = "SIDE", value_parser = one_of(SIDES))]
    pub(crate) side: Option<Side>,
    #[command(flatten)]
    pub(crate) wanted: Wanted,
    /// Set trade-offs too: what serves a goal, and is proven to lose elsewhere
    #[arg(long)]
    pub(crate) trade_offs: bool,
    /// Show each change with the command that undoes it by hand, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) database: Database,
    #[command(flatten)]
    pub(crate) output: Formatted,
}

const SIDES: &[Choice<Side>] =
    &[(Side::Transmitter, "transmitter", "It sends"), (Side::Receiver, "receiver", "It receives")];
