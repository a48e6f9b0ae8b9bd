//! The command lines of machines, this one and those that are reached over ssh or by another
//! command: `kernel`, `apply`, `undo`.

use std::path::PathBuf;
use std::time::Duration;

use agent::Launch;
use clap::{Args, Subcommand, ValueEnum};
use study::Side;
use testbed::reach::HostSpec;

use super::common::{Database, Formatted, word_of};
use super::deciding::Wanted;

#[derive(Debug, Clone, Default, Args)]
pub(crate) struct HostFlags {
    /// The machine that sends (docs/two-servers.md): root@a:ens1f0, or an interface of this
    /// machine: :ens1f0; without it this machine, if --receiver is given
    #[arg(long, value_name = "[USER@]HOST[:INTERFACE]")]
    pub(crate) transmitter: Option<HostSpec>,
    /// The machine that receives; without it this machine, if --transmitter is given
    #[arg(long, value_name = "[USER@]HOST[:INTERFACE]")]
    pub(crate) receiver: Option<HostSpec>,
    /// A TOML file that names both machines, or many pairs (docs/fleets.md)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["transmitter", "receiver"])]
    pub(crate) hosts: Option<PathBuf>,
    /// One pair of that file [default of `run` and `doctor`: all pairs]
    #[arg(long, value_name = "NAME", requires = "hosts")]
    pub(crate) pair: Option<String>,
    /// The addresses of the traffic [default: interface]
    #[arg(long, value_enum, value_name = "WHICH")]
    pub(crate) addresses: Option<AddressesOf>,
    #[command(flatten)]
    pub(crate) login: Login,
    /// How long a machine waits for a sign of life before it undoes all, 2s to 30s [default: 15s]
    #[arg(long, value_name = "TIME", value_parser = lease)]
    pub(crate) lease: Option<Duration>,
    /// Keep the program there, in a cache named by its SHA-256, so that it is not sent again
    #[arg(long)]
    pub(crate) keep_agent: bool,
}

const HOST: &str =
    "The machine, over ssh: root@a; with its interface: root@a:ens1f0; an interface of this machine: :ens1f0";

/// The start of netassay on another machine.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Login {
    /// The configuration file of ssh, in place of the user's
    #[arg(long, value_name = "FILE")]
    pub(crate) ssh_config: Option<PathBuf>,
    /// The netassay binary for a machine of another architecture [default: this program]
    #[arg(long, value_name = "FILE")]
    pub(crate) agent_binary: Option<PathBuf>,
}

/// Reads a lease.
pub(crate) fn lease(text: &str) -> Result<Duration, String> {
    let lease = study::parse_duration(text).map_err(|error| error.to_string())?;
    if Launch::LEASES.contains(&lease) {
        return Ok(lease);
    }
    let (least, most) = (Launch::LEASES.start().as_secs(), Launch::LEASES.end().as_secs());
    Err(format!("a lease is {least} to {most} s: a machine that is cut off must come back soon"))
}

impl HostFlags {
    /// True if a machine is named.
    pub(crate) fn names_any(&self) -> bool {
        self.transmitter.is_some() || self.receiver.is_some() || self.hosts.is_some()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AddressesOf {
    /// The addresses of the interfaces
    #[value(alias = "there")]
    #[serde(alias = "there")]
    Interface,
    /// A private pair of IPv4 and of IPv6, added for the time of the study
    Own,
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
    #[arg(long, value_name = "[USER@]HOST[:INTERFACE]", help = HOST)]
    pub(crate) host: Option<HostSpec>,
    #[command(flatten)]
    pub(crate) login: Login,
    #[command(flatten)]
    pub(crate) output: Formatted,
}

pub(super) const KERNEL_EXAMPLES: &str = "Examples:\n  netassay kernel fetch linux-image-cloud-amd64\n  netassay kernel fetch linux-image-cloud-amd64/bookworm-backports\n  netassay kernel fetch ./linux-image-6.12.0-1-amd64_6.12.1-1_amd64.deb\n  netassay kernel list";

#[derive(Debug, Subcommand)]
pub(crate) enum KernelCommand {
    /// Fetch a distribution's kernel package and unpack it for guests; nothing is installed
    Fetch {
        /// The package, such as linux-image-cloud-amd64, with /RELEASE for a release, or a .deb
        /// file
        package: String,
    },
    /// List the kernels that were fetched
    List(Formatted),
}

#[derive(Debug, Args)]
#[command(
    after_help = "Only recommended settings are set; settings that depend on other switches or have no evidence are named and left. Each change is in the undo journal of the machine before it is made, and all of it or nothing stays: until the machine boots, or until `netassay undo` (with --host for another machine).\n\nExamples:\n  netassay apply 3 --host root@a:ens1f0 --side transmitter --dry-run\n  netassay apply 3 --host root@b:ens1f0 --side receiver --goal throughput\n  netassay undo --host root@b"
)]
pub(crate) struct Apply {
    /// Stored studies: numbers, tags or names (`netassay db list`)
    #[arg(value_name = "STUDY", required = true)]
    pub(crate) studies: Vec<String>,
    #[arg(long, value_name = "[USER@]HOST[:INTERFACE]", help = HOST)]
    pub(crate) host: Option<HostSpec>,
    #[command(flatten)]
    pub(crate) login: Login,
    /// The interface under the tunnel, for what is recommended for that one
    #[arg(long, value_name = "INTERFACE")]
    pub(crate) underlay: Option<String>,
    /// The role of the machine [default: both]
    #[arg(long, value_name = "SIDE", value_parser = word_of::<Side>())]
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
