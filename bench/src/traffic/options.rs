//! The options of `load`.

use clap::{Args, ValueEnum as _};
use study::{Family, Scenario};

use crate::bench::by_name;
use crate::peers::{Peer, named};
use crate::traffic::part::{self, Part};

/// Options of `load`. Options that name things may be given several times. Without them everything
/// runs, over IPv4.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Instead of the parts: writes and datagrams of every size, 1 to 64 flows, TCP with and
    /// without pacing, each beside the best of iperf3, netperf and neper, if installed
    #[arg(long, conflicts_with = "parts")]
    pub(crate) grid: bool,
    /// (--grid) Only this cell, such as tcp:64 or udp_rr:16, or this row of cells, such as tcp
    #[arg(long = "cell", value_name = "NAME", requires = "grid", value_parser = part::cell)]
    pub(crate) cells: Vec<String>,
    /// (--grid) TCP only under this congestion control; by default cubic (reno where namespaces may
    /// not have cubic) and bbr
    #[arg(long = "congestion-control", value_name = "NAME", requires = "grid")]
    pub(crate) congestion_controls: Vec<String>,
    /// Only this part
    #[arg(long = "part", value_name = "NAME", value_enum)]
    parts: Vec<Part>,
    /// Only this scenario: veth, loopback, and with --grid vm, between two virtual machines, which
    /// runs only when it is asked for
    #[arg(long = "scenario", value_name = "NAME", value_parser = scenario)]
    scenarios: Vec<Scenario>,
    /// This family
    #[arg(long = "family", value_name = "NAME", value_parser = family, default_value = "ipv4")]
    pub(crate) families: Vec<Family>,
    /// Only this peer
    #[arg(long = "peer", value_name = "NAME", value_parser = named)]
    peers: Vec<&'static Peer>,
    /// Pairs of runs with each peer; fewer than 6 give no interval; by default 7, with --grid 6
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) pairs: Option<u32>,
    /// The window of each run, in seconds; by default 0.5, with --grid 0.3, and between
    /// virtual machines 1
    #[arg(long, value_parser = window)]
    pub(crate) window: Option<f64>,
    /// (--scenario vm) What the virtual machines boot: an image, a directory with one, or a package
    /// that `netassay kernel fetch` brought
    #[arg(long, requires = "grid", default_value = "linux-image-cloud-amd64")]
    pub(crate) kernel: String,
    /// Only messages of this size, in bytes
    #[arg(long = "message", value_name = "BYTES")]
    pub(crate) messages: Vec<u32>,
}

impl Options {
    pub(crate) fn paths(&self) -> &[Scenario] {
        const USUAL: [Scenario; 2] = [Scenario::Veth, Scenario::Loopback];
        if self.scenarios.is_empty() { &USUAL } else { &self.scenarios }
    }

    pub(crate) fn parts(&self) -> &[Part] {
        match (self.grid, self.parts.is_empty()) {
            (true, _) => &[Part::Grid],
            (false, true) => Part::value_variants(),
            (false, false) => &self.parts,
        }
    }

    /// The peers that the parts need, of those that were asked for.
    pub(crate) fn peers(&self) -> Vec<&'static Peer> {
        let tasks: Vec<_> = self.parts().iter().flat_map(|part| part.tasks(Family::Ipv4)).collect();
        let all = if self.grid { Part::Grid.peers() } else { Part::Tcp.peers() };
        let is_wanted = |peer: &&Peer| {
            let is_asked = self.peers.is_empty() || self.peers.iter().any(|one| one.name == peer.name);
            is_asked && tasks.iter().any(|task| peer.kinds.contains(&task.kind))
        };
        all.iter().copied().filter(is_wanted).collect()
    }
}

fn scenario(name: &str) -> Result<Scenario, String> {
    by_name(name, &[Scenario::Veth, Scenario::Loopback, Scenario::Vm])
}

fn family(name: &str) -> Result<Family, String> {
    by_name(name, &[Family::Ipv4, Family::Ipv6])
}

fn window(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    if (0.1..=600.0).contains(&seconds) { Ok(seconds) } else { Err("0.1 to 600 seconds".to_owned()) }
}
