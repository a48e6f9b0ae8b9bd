//! The command line of `load`.

use std::time::Duration;

use clap::Args;
use host::DiscardDevice;
use study::Assignment;
use words::{KEYS, Kind, Side, feature};

use super::common::{Formatted, TurnFlags, word_of};
use super::machines::HostFlags;

#[derive(Debug, Args)]
#[command(after_help = help())]
pub(crate) struct LoadArgs {
    /// The kind of traffic
    #[arg(value_parser = word_of::<Kind>())]
    pub(crate) workload: Kind,
    /// Keys of the traffic and its testbed, as in a study: message=1472, scenario=vm, tso=off
    #[arg(value_name = "KEY=VALUE")]
    pub(crate) keys: Vec<Assignment>,
    /// (discard) The device that discards the packets [default: the first that this kernel has]
    #[arg(long, value_name = "DEVICE", value_parser = word_of::<DiscardDevice>())]
    pub(crate) discard_device: Option<DiscardDevice>,
    /// (tcp_rr, udp_rr, tcp_crr) Measure latency at ten loads up to the most that is answered, or
    /// up to `rate`, and tell the knee of the curve; makes 61 runs
    #[arg(long)]
    pub(crate) latency_curve: bool,
    /// Use a user namespace even if privileges allow more
    #[arg(long)]
    pub(crate) rootless: bool,
    /// Read the counters at least this often, such as 1s; as text, print a line for each part
    #[arg(long, value_name = "TIME", value_parser = study::parse_duration)]
    pub(crate) interval: Option<Duration>,
    #[command(flatten)]
    pub(crate) hosts: HostFlags,
    #[command(flatten)]
    pub(crate) turn: TurnFlags,
    #[command(flatten)]
    pub(crate) output: Formatted,
}

/// Keys of a study for the testbed of one workload.
const TESTBED: &[&str] = &[
    "scenario",
    "family",
    "mtu",
    "offloads",
    "inside",
    "kernel",
    "command_line",
    "vcpus",
    "underlay.family",
    "underlay.mtu",
];

fn help() -> String {
    let keys: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
    format!(
        "Keys of the traffic (netassay help KEY): {}.\n\nKeys of its testbed (docs/studies.md): {}, and any feature \
         of `ethtool -k`, on both sides or on one: tso=off, rx-gro-hw=on, receiver.gro=off.\n\n{EXAMPLES}",
        keys.join(", "),
        TESTBED.join(", ")
    )
}

const EXAMPLES: &str = "\
Examples:
  netassay load tcp_stream
  netassay load udp_stream message=1472 sender=gso reader=gro duration=5s
  netassay load tcp_rr flows=4 rate=20000 --format json
  netassay load udp_stream find_rate=on loss=0.1% duration=2s
  netassay load udp_rr --latency-curve duration=1s
  netassay load pps flows=2 checksum=off
  netassay load tcp_stream scenario=vm tso=off
  netassay load udp_stream --transmitter root@a:ens1f0 --receiver root@b:ens1f0

Traffic flows only between namespaces and virtual machines that this command makes, and they end
with it, or between machines that you name.";

/// The keys of the traffic and its testbed, features on both sides and on one among them.
pub(crate) fn traffic_keys() -> impl Iterator<Item = String> {
    let of_side = |side: Side| feature::names().chain(["offloads"]).map(move |name| format!("{side}.{name}"));
    let of_both = KEYS.iter().map(|key| key.name).chain(TESTBED.iter().copied()).chain(feature::names());
    of_both.map(str::to_owned).chain(Side::ALL.into_iter().flat_map(of_side))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_one_that_a_study_understands() {
        let mut names: Vec<String> = traffic_keys().collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
        for name in names {
            let text = "name = \"x\"\nquestion = \"q\"\nscenario = \"vm-vxlan\"\n[[workload]]\nkind = \"tcp_stream\"\n";
            let key = format!("{name}=no such value").parse().unwrap();
            let told = study::Study::parse_with("x", text, &[key])
                .map_or_else(|why| why.to_string(), |_| String::new());
            assert!(!told.contains("`--set` cannot change"), "{name}: {told}");
        }
    }
}
