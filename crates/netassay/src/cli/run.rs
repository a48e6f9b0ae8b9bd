//! The command line of the commands that measure a study: `run`, `quick`.

use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{Args, ValueEnum};
use study::Assignment;

use super::common::{Database, Formatted, TurnFlags};
use super::machines::HostFlags;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  netassay run quick --dry-run\n  netassay run tcp-offload --set duration=2s --set boots=5\n  netassay run my.toml --db results.db\n  netassay run my.toml --resume\n  netassay run quick --aa --experiments 10 --set duration=200ms --set runs=3\n  netassay run --aa --from 3 --boots 5\n  netassay run quick --aa --set apart=true --set runs=2"
)]
pub(crate) struct Run {
    /// A bundled study (`netassay study list`) or a TOML file
    #[arg(required_unless_present = "from", conflicts_with = "from")]
    pub(crate) study: Option<String>,
    #[command(flatten)]
    pub(crate) flags: RunFlags,
    #[command(flatten, next_help_heading = "A/A test")]
    pub(crate) aa: Aa,
}

#[derive(Debug, Args)]
pub(crate) struct Aa {
    /// A/A test: measure the baseline under two labels, and show the false-positive rate of each
    /// method; with `--set apart=true` check that turns and separate runs find the same
    #[arg(long, conflicts_with = "no_report")]
    pub(crate) aa: bool,
    /// The number of experiments [default: 20]
    #[arg(long, value_name = "N", requires = "aa", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) experiments: Option<u32>,
    /// Boots of each experiment [default: 3]
    #[arg(long, value_name = "N", requires = "aa", value_parser = clap::value_parser!(u32).range(2..))]
    pub(crate) boots: Option<u32>,
    /// Judge this stored A/A test (number, tag or name), and measure nothing
    #[arg(long, value_name = "STORED", requires = "aa")]
    pub(crate) from: Option<String>,
}

/// The measurement of a study, wherever its hosts are.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct CampaignFlags {
    #[command(flatten)]
    pub(crate) database: Database,
    /// Add each complete study to this database too: postgres://USER@HOST/NAME, or a file
    #[arg(long, value_name = "DATABASE")]
    pub(crate) push: Option<PathBuf>,
    /// Print the plan, and measure nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Continue a stored study (number, tag) [default: the newest unfinished one of this name]
    #[arg(long, value_name = "STORED", num_args = 0..=1)]
    #[expect(clippy::option_option, reason = "absent, present, and present with a study are three things")]
    pub(crate) resume: Option<Option<String>>,
    /// Count disturbed runs and do not repeat them: for a machine that is never idle
    #[arg(long)]
    pub(crate) keep_disturbed: bool,
}

impl CampaignFlags {
    /// A study is measured into a file, also if it is for a server.
    pub(super) fn measure_into_file(&mut self) -> Result<(), clap::Error> {
        let Some(server) = self.database.take_server() else { return Ok(()) };
        if self.push.replace(server).is_some() {
            let way = "--db and --push name two databases for the study: name a file in --db\n";
            return Err(clap::Error::raw(ErrorKind::ArgumentConflict, way));
        }
        Ok(())
    }
}

#[derive(Debug, Default, Args)]
pub(crate) struct RunFlags {
    #[arg(long, value_name = "KEY=VALUE", help = SET)]
    pub(crate) set: Vec<Assignment>,
    #[command(flatten)]
    pub(crate) campaign: CampaignFlags,
    /// Use a user namespace even if privileges allow more
    #[arg(long)]
    pub(crate) rootless: bool,
    /// Allow the study to change this machine, as its table `machine` says; undone at the end
    #[arg(long)]
    pub(crate) change_machine: bool,
    #[command(flatten)]
    pub(crate) hosts: HostFlags,
    /// The number of pairs of --hosts that are measured side by side, if they share no machine
    /// [default: 1]
    #[arg(long, value_name = "N", requires = "hosts", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) at_once: Option<u16>,
    /// (with --pair) The campaign that the pair belongs to: what it has measured is not repeated
    #[arg(long = "campaign", value_name = "NAME", requires = "pair")]
    pub(crate) of_campaign: Option<String>,
    /// (with --campaign) Which measurement of the reference pair this is: the first counts
    #[arg(long, value_name = "ORDINAL", requires = "of_campaign", hide = true, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) repeat: Option<u32>,
    /// The process with which this one ends
    #[arg(long, value_name = "PROCESS", hide = true)]
    pub(crate) parent: Option<u32>,
    /// (with --resume) Also try again what crashed a machine
    #[arg(long, requires = "resume")]
    pub(crate) again: bool,
    /// How long both machines may take to be back after a reboot or a crash [default: 10m]
    #[arg(long, value_name = "TIME", value_parser = study::parse_duration)]
    pub(crate) reboot_within: Option<std::time::Duration>,
    #[command(flatten)]
    pub(crate) turn: TurnFlags,
    /// Style of progress messages on standard error
    #[arg(long, value_enum, value_name = "STYLE", default_value_t)]
    pub(crate) progress: ProgressStyle,
    #[command(flatten)]
    pub(crate) output: Formatted,
    /// Do not write the report (`netassay report`) beside the database at the end
    #[arg(long)]
    pub(crate) no_report: bool,
}

pub(super) const SET: &str =
    "Change the study: duration=2s, sender=send,gso (levels), stop= (removed); repeatable";

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProgressStyle {
    /// A bar on a terminal, plain lines elsewhere
    #[default]
    Auto,
    /// One line for each thing that happens
    Plain,
    /// One JSON object for each thing that happens
    Json,
    /// Nothing
    None,
}
