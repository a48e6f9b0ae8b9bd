//! The command line of `fleet`: many pairs of machines by a scheduler.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::common::Formatted;

#[derive(Debug, Subcommand)]
pub(crate) enum FleetCommand {
    /// Print what measures a study on all pairs, a task for each, to read and to change
    #[command(
        override_usage = "netassay fleet script <STUDY> --hosts <FILE> <--slurm|--kubernetes|--local> [-- OPTIONS]",
        after_help = "Examples:\n  netassay fleet script tcp-offload --hosts fleet.toml --slurm > fleet.sh\n  netassay fleet script my.toml --hosts fleet.toml --kubernetes --at-once 8 > fleet.yaml\n  netassay fleet script my.toml --hosts fleet.toml --local --at-once 2 -- --set boots=5"
    )]
    Script(FleetScript),
    /// Show which pairs are complete, which failed and why, and which never came
    #[command(
        after_help = "Exit code 5 if a pair is not complete.\n\nExamples:\n  netassay fleet status --hosts fleet.toml\n  netassay fleet status --hosts fleet.toml rack1.db rack2.db --format json"
    )]
    Status(FleetStatusFlags),
}

#[derive(Debug, Args)]
pub(crate) struct FleetScript {
    /// A bundled study (`netassay study list`) or a TOML file, which is then a part of the script
    pub(crate) study: String,
    /// The file of hosts with its pairs (docs/fleets.md)
    #[arg(long, value_name = "FILE")]
    pub(crate) hosts: PathBuf,
    #[command(flatten)]
    pub(crate) scheduler: Scheduler,
    /// The number of tasks side by side [default: 1; Slurm decides itself]
    #[arg(long, value_name = "N", conflicts_with = "slurm", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) at_once: Option<u16>,
    /// The campaign that the pairs belong to: what it has measured is not repeated [default: named
    /// by the study, the hosts and the options]
    #[arg(long, value_name = "NAME")]
    pub(crate) campaign: Option<String>,
    /// The directory of the pairs' files, which all tasks share
    #[arg(long, value_name = "DIR", conflicts_with = "kubernetes", default_value = "netassay.pairs")]
    pub(crate) into: PathBuf,
    /// (--kubernetes) The image of hosts and tasks (docs/fleets.md) [default: netassay]
    #[arg(long, value_name = "IMAGE", requires = "kubernetes")]
    pub(crate) image: Option<String>,
    /// More options of each task's `netassay run`, behind `--`: -- --set boots=5
    #[arg(last = true, value_name = "OPTION")]
    pub(crate) options: Vec<String>,
}

/// The scheduler that runs the tasks.
#[derive(Debug, Clone, Copy, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Scheduler {
    /// By Slurm: a shell script that submits the tasks, each to the two nodes of its pair
    #[arg(long)]
    pub(crate) slurm: bool,
    /// By Kubernetes: a manifest of an indexed job, with pods as hosts
    #[arg(long)]
    pub(crate) kubernetes: bool,
    /// By this machine: a shell script that runs the tasks
    #[arg(long)]
    pub(crate) local: bool,
}

#[derive(Debug, Args)]
pub(crate) struct FleetStatusFlags {
    /// The file of hosts with its pairs
    #[arg(long, value_name = "FILE")]
    pub(crate) hosts: PathBuf,
    /// Directories of the pairs' files, or such files
    #[arg(value_name = "DIR | FILE", default_value = "netassay.pairs")]
    pub(crate) files: Vec<PathBuf>,
    /// The campaign, where the files hold several
    #[arg(long, value_name = "NAME")]
    pub(crate) campaign: Option<String>,
    #[command(flatten)]
    pub(crate) output: Formatted,
}
