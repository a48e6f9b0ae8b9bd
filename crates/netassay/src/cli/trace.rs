//! The command line of `trace`.

use std::path::PathBuf;

use clap::Args;
use testbed::reach::HostSpec;
use words::{MOST_MESSAGES, MOST_ROUNDS};

use super::common::{Formatted, Tables, TurnFlags};
use super::hosts::{HostFlags, OneHost};
use super::load::Said;
use super::run::CampaignFlags;
use super::traced::TraceAction;

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "Examples:\n  netassay trace --paths\n  netassay trace udp-tx --inside guest --kernel linux-image-cloud-amd64 --message 1\n  netassay trace tcp-tx --exact --kernel linux-image-cloud-amd64\n  netassay trace udp-rx --exact --asleep --message 1 --chart udp-rx.svg\n  netassay trace udp-tx\n  netassay trace udp-rx --host root@a\n  netassay trace udp-rx --scenario vm --kernel linux-image-cloud-amd64 --busy-poll 50us\n  netassay trace udp-rx --transmitter root@a --receiver root@b\n  netassay trace path-checksum --set kernel=linux-image-cloud-amd64\n  netassay trace --from 3\n  netassay trace merge a.db b.db\n\nThe options of the traffic and its testbed are those of `netassay load`; without `--message`, 1 and 1400 bytes are traced."
)]
pub(crate) struct Trace {
    /// The path: a bundled one, or a file; or a study, whose conditions are compared stage by stage
    #[arg(required_unless_present_any = ["paths", "from"], conflicts_with_all = ["paths", "from"])]
    pub(crate) path: Option<String>,
    /// List the bundled paths, each stage with what this kernel (with `--inside guest` that of a
    /// virtual machine) offers to probe; or only these
    #[arg(long, value_name = "NAME", num_args = 0..)]
    pub(crate) paths: Option<Vec<String>>,
    /// Messages of a batch [default: 4096]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=MOST_MESSAGES.into()))]
    pub(crate) batch: Option<u32>,
    /// Batches without probes, with some, and with all [default: 5]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=MOST_ROUNDS.into()))]
    pub(crate) rounds: Option<u32>,
    /// Also write to this file, repeatable: the flow chart as .svg, or as .html with its table; the
    /// stages as .folded stacks, for programs that draw flame graphs; single packets as .json, for
    /// Perfetto and chrome://tracing
    #[arg(long, value_name = "FILE")]
    pub(crate) chart: Vec<PathBuf>,
    /// (--chart FILE.json) One packet in so many is written
    #[arg(long, value_name = "N", default_value_t = 1000, requires = "chart", value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    pub(crate) every: u32,
    /// Also sample the functions that take the CPU, without probes; of a study: `[trace] profile`
    #[arg(long, conflicts_with = "from")]
    pub(crate) profile: bool,
    /// Also write the functions as a flame graph to this file: .svg, .html, or .folded for other
    /// programs; of a study the difference of its conditions
    #[arg(long, value_name = "FILE")]
    pub(crate) flame: Option<PathBuf>,
    /// Send requests and answers; readers sleep until a packet wakes them
    #[arg(long)]
    pub(crate) asleep: bool,
    /// Count instructions instead of time, in an emulated virtual machine
    #[arg(long, conflicts_with_all = ["host", "transmitter", "receiver", "hosts"])]
    pub(crate) exact: bool,
    /// Probe no functions, also where that is allowed: stages are seen at tracepoints only
    #[arg(long)]
    pub(crate) tracepoints: bool,
    /// Trace inside this machine, in namespaces there, over ssh
    #[arg(long, value_name = "[USER@]HOST", conflicts_with_all = ["transmitter", "receiver", "hosts", "addresses", "lease", "keep_agent"])]
    pub(crate) host: Option<HostSpec>,
    #[command(flatten, next_help_heading = "Two machines, of which the sending one is traced")]
    pub(crate) hosts: HostFlags,
    /// Print the stages of this stored study (number, tag or name), and measure nothing
    #[arg(long, value_name = "STORED")]
    pub(crate) from: Option<String>,
    #[command(subcommand)]
    pub(crate) action: Option<TraceAction>,
    #[command(flatten)]
    pub(crate) said: Said,
    #[command(flatten)]
    pub(crate) turn: TurnFlags,
    #[command(flatten)]
    pub(crate) tables: Tables,
    #[command(flatten)]
    pub(crate) output: Formatted,
    #[command(flatten, next_help_heading = "Options of a study")]
    pub(crate) campaign: CampaignFlags,
}

impl Trace {
    /// The machine of `--host`.
    pub(crate) fn on(&self) -> OneHost {
        self.hosts.one(self.host.as_ref())
    }

    /// Whether it is traced on a machine of the user's.
    pub(crate) fn names_a_machine(&self) -> bool {
        self.host.is_some() || self.hosts.names_any()
    }
}
