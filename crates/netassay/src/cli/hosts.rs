//! The command line of machines that are reached over ssh or by another command.

use std::path::PathBuf;
use std::time::Duration;

use agent::Launch;
use clap::{Args, ValueEnum};
use testbed::reach::HostSpec;

#[derive(Debug, Clone, Default, Args)]
pub(crate) struct HostFlags {
    /// The machine that sends (docs/two-servers.md): root@a:ens1f0, or an interface of this
    /// machine: :ens1f0; without it this machine, if --receiver is given
    #[arg(long, value_name = "[USER@]HOST[:INTERFACE]")]
    pub(crate) transmitter: Option<HostSpec>,
    /// The machine that receives; without it this machine, if --transmitter is given
    #[arg(long, value_name = "[USER@]HOST[:INTERFACE]")]
    pub(crate) receiver: Option<HostSpec>,
    /// A TOML file that names both machines
    #[arg(long, value_name = "FILE", conflicts_with_all = ["transmitter", "receiver"])]
    pub(crate) hosts: Option<PathBuf>,
    /// The addresses of the traffic [default: there]
    #[arg(long, value_enum, value_name = "WHICH")]
    pub(crate) addresses: Option<AddressesOf>,
    /// The configuration file of ssh, in place of the user's
    #[arg(long, value_name = "FILE")]
    pub(crate) ssh_config: Option<PathBuf>,
    /// The netassay to run there, for machines of another architecture [default: this program]
    #[arg(long, value_name = "FILE")]
    pub(crate) agent_binary: Option<PathBuf>,
    /// How long a machine waits for a sign of life before it undoes all, 2s to 30s [default: 15s]
    #[arg(long, value_name = "TIME", value_parser = lease)]
    pub(crate) lease: Option<Duration>,
    /// Keep the program there, in a cache named by its SHA-256, so that it is not sent again
    #[arg(long)]
    pub(crate) keep_agent: bool,
}

/// A machine on which this command runs in place of this one.
#[derive(Debug, Args)]
pub(crate) struct OneHost {
    /// The machine, over ssh: root@a; with its interface: root@a:ens1f0; an interface of this
    /// machine: :ens1f0
    #[arg(long, value_name = "[USER@]HOST[:INTERFACE]")]
    pub(crate) host: Option<HostSpec>,
    /// (with --host) The configuration file of ssh, in place of the user's
    #[arg(long, value_name = "FILE", requires = "host")]
    pub(crate) ssh_config: Option<PathBuf>,
    /// (with --host) The netassay to run there, for machines of another architecture
    #[arg(long, value_name = "FILE", requires = "host")]
    pub(crate) agent_binary: Option<PathBuf>,
}

impl From<&OneHost> for HostFlags {
    /// The machine is that of a study with one host.
    fn from(on: &OneHost) -> Self {
        Self {
            transmitter: on.host.clone(),
            ssh_config: on.ssh_config.clone(),
            agent_binary: on.agent_binary.clone(),
            ..Self::default()
        }
    }
}

/// Reads a lease.
pub(crate) fn lease(text: &str) -> Result<Duration, String> {
    let lease = study::parse_duration(text).map_err(|error| error.to_string())?;
    if Launch::LEASES.contains(&lease) {
        return Ok(lease);
    }
    Err(format!(
        "a lease is {} to {} s: a machine that is cut off must come back soon",
        Launch::LEASES.start().as_secs(),
        Launch::LEASES.end().as_secs()
    ))
}

impl HostFlags {
    /// These options for the one machine of `--host`.
    pub(crate) fn one(&self, host: Option<&HostSpec>) -> OneHost {
        OneHost {
            host: host.cloned(),
            ssh_config: self.ssh_config.clone(),
            agent_binary: self.agent_binary.clone(),
        }
    }

    /// Whether a machine is named.
    pub(crate) fn names_any(&self) -> bool {
        self.transmitter.is_some() || self.receiver.is_some() || self.hosts.is_some()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AddressesOf {
    /// Those that the interfaces have
    There,
    /// A private pair of IPv4 and of IPv6, added for the time of the study
    Own,
}
