//! The command line of `trace`.

use std::path::PathBuf;

use clap::Args;
use testbed::reach::HostSpec;

use super::common::{Formatted, TurnFlags};
use super::machines::HostFlags;
use super::run::CampaignFlags;

#[derive(Debug, Args)]
#[command(
    override_usage = "netassay trace [OPTIONS] <PATH | STUDY> [KEY=VALUE]...\n       netassay trace [OPTIONS] --paths [PATH]... [KEY=VALUE]...\n       netassay trace [OPTIONS] --from <STORED>",
    after_help = "Keys of a path: those of `netassay load`, exact=true (counts instructions instead of time, in an emulated virtual machine), trace.batch=N and trace.rounds=N (messages of a batch, and batches), trace.readers=asleep (requests and answers; readers sleep until a packet wakes them), trace.profile=true (samples the functions that take the CPU, without probes). Without `message`, 1 and 1400 bytes are traced. Keys of a study: those that `--set` of `netassay run` changes.\n\nExamples:\n  netassay trace --paths\n  netassay trace udp-tx inside=guest kernel=linux-image-cloud-amd64 message=1\n  netassay trace tcp-tx exact=true kernel=linux-image-cloud-amd64\n  netassay trace udp-rx exact=true trace.readers=asleep message=1 --chart udp-rx.svg\n  netassay trace udp-tx\n  netassay trace udp-rx --host root@a\n  netassay trace udp-rx scenario=vm kernel=linux-image-cloud-amd64 busy_poll=50us\n  netassay trace udp-rx --transmitter root@a --receiver root@b\n  netassay trace path-checksum kernel=linux-image-cloud-amd64\n  netassay trace --from 3"
)]
pub(crate) struct Trace {
    /// The path: a bundled one, or a file; or a study, whose conditions are compared stage by
    /// stage; with keys of a study and their values
    #[arg(value_name = "PATH | STUDY | KEY=VALUE", required_unless_present_any = ["paths", "from"])]
    pub(crate) words: Vec<String>,
    /// List the bundled paths, or these, each stage with what this kernel (with inside=guest that
    /// of a virtual machine) offers to probe
    #[arg(long)]
    pub(crate) paths: bool,
    /// Also write to this file, repeatable: the flow chart as .svg, or as .html with its table;
    /// single packets as .json, for Perfetto and chrome://tracing
    #[arg(long, value_name = "FILE")]
    pub(crate) chart: Vec<PathBuf>,
    /// (--chart FILE.json) One packet in so many is written
    #[arg(long, value_name = "N", default_value_t = 1000, requires = "chart", value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    pub(crate) every: u32,
    /// Also write the functions that take the CPU as a flame graph: .svg, .html, or .folded
    #[arg(long, value_name = "FILE")]
    pub(crate) flame: Option<PathBuf>,
    /// Probe no functions, also where that is allowed: stages are seen at tracepoints only
    #[arg(long)]
    pub(crate) tracepoints: bool,
    /// Trace inside this machine, in namespaces there, over ssh
    #[arg(long, value_name = "[USER@]HOST", conflicts_with_all = ["transmitter", "receiver", "hosts", "addresses", "lease", "keep_agent"])]
    pub(crate) host: Option<HostSpec>,
    #[command(flatten, next_help_heading = "Two machines, of which the sending one is traced")]
    pub(crate) hosts: HostFlags,
    /// Print the stages of this stored study (number, tag or name), and measure nothing
    #[arg(long, value_name = "STORED", conflicts_with_all = ["words", "paths", "chart", "tracepoints", "host", "transmitter", "receiver", "hosts", "dry_run", "resume", "keep_disturbed"])]
    pub(crate) from: Option<String>,
    #[command(flatten)]
    pub(crate) turn: TurnFlags,
    #[command(flatten)]
    pub(crate) output: Formatted,
    #[command(flatten, next_help_heading = "Options of a study")]
    pub(crate) campaign: CampaignFlags,
}

impl Trace {
    /// True if it is traced on a machine of the user's.
    pub(crate) fn names_a_machine(&self) -> bool {
        self.host.is_some() || self.hosts.names_any()
    }
}
