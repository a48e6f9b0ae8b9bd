//! The bounds of each list, text and number of a message. A sender that exceeds them is hostile, or
//! speaks another protocol.

mod answer;
mod request;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use crate::frame::{Bounded, Excess};
use crate::init::Settings;
use crate::launch::Launch;
use crate::workload_side::MOST_FLOWS;

/// CPUs, by count and by number: what the largest kernel is built for (`NR_CPUS`).
pub(crate) const CPUS: u32 = 8_192;
/// Bytes of an interface's name, without its final zero (`IFNAMSIZ` of linux/if.h).
pub(crate) const NAME: usize = 15;
// Bytes of an interface's alternative name, without its final zero (`ALTIFNAMSIZ`).
const ALTERNATIVE_NAME: usize = 127;
/// Bytes of any other text, except [`Answer::Failed`]'s.
pub(crate) const TEXT: usize = 64 << 10;
/// Sockets of one end.
pub(crate) const SOCKETS: usize = 2 * load::MAX_FLOWS as usize;
/// Threads of one end.
pub(crate) const THREADS: usize = 2 * load::MAX_THREADS as usize;
/// Flows in the account of one end. With more flows, neighbours are summed, each direction apart.
pub(crate) const FLOWS: usize = 2 * MOST_FLOWS;
/// Addresses of an interface, interfaces of a host, guests on it, notes: a handful of each is
/// needed.
pub(crate) const FEW: usize = 64;
/// Features of an interface: Linux 6 has some 60.
pub(crate) const FEATURES: usize = 512;
/// A ramp, and a window: far more than a study asks for.
pub(crate) const TIME: Duration = Duration::from_secs(7 * 24 * 3600);
/// An MTU in bytes: only the loopback interface exceeds 65,536, by its headers.
pub(crate) const MTU: u32 = 1 << 17;
// Samples a second: the kernel's own limit.
const MOST_SAMPLED: u32 = 100_000;
/// Bytes of a setting of the machine: the longest that a kernel gives
/// (`net.ipv4.ip_local_reserved_ports` with every second port) has 190,000.
pub(crate) const VALUE: usize = 192 << 10;
// The longest wait for packets that try a path, in ms.
const PROBE_MS: u16 = 5_000;
/// A VXLAN's network identifier has 24 bits (RFC 7348, section 5).
pub(crate) const VXLAN_ID: u32 = (1 << 24) - 1;

type Checked = Result<(), Excess>;

fn at_most(what: &'static str, found: impl TryInto<u64>, bound: impl TryInto<u64>) -> Checked {
    let number = |value: Result<u64, _>| value.unwrap_or(u64::MAX);
    let (found, most) = (number(found.try_into().map_err(drop)), number(bound.try_into().map_err(drop)));
    if found > most { Err(Excess { what, found, most }) } else { Ok(()) }
}

fn name(what: &'static str, name: &str) -> Checked {
    at_most(what, name.len(), NAME)
}

fn names<'a>(what: &'static str, mut names: impl Iterator<Item = &'a String>) -> Checked {
    names.try_for_each(|one| name(what, one))
}

fn any_names<'a>(what: &'static str, mut names: impl Iterator<Item = &'a String>) -> Checked {
    names.try_for_each(|one| at_most(what, one.len(), ALTERNATIVE_NAME))
}

fn texts<'a>(what: &'static str, mut texts: impl Iterator<Item = &'a String>) -> Checked {
    texts.try_for_each(|one| at_most(what, one.len(), TEXT))
}

fn cpus(cpus: &[u32]) -> Checked {
    at_most("cpus", cpus.len(), CPUS)?;
    cpus.iter().try_for_each(|cpu| at_most("cpus", *cpu, CPUS - 1))
}

fn addresses(addresses: &[(IpAddr, u8)]) -> Checked {
    at_most("addresses", addresses.len(), FEW)?;
    addresses
        .iter()
        .try_for_each(|(ip, prefix)| at_most("addresses", *prefix, if ip.is_ipv4() { 32u8 } else { 128 }))
}

fn times(times: [(&'static str, u64); 2]) -> Checked {
    times.into_iter().try_for_each(|(what, ns)| at_most(what, ns, TIME.as_nanos()))
}

fn features<T>(what: &'static str, features: &BTreeMap<String, T>) -> Checked {
    at_most(what, features.len(), FEATURES)?;
    texts(what, features.keys())
}

/// [`load`] checks a workload's own numbers.
fn spec(spec: &load::Spec) -> Checked {
    cpus(&spec.cpus)?;
    names("interface", spec.interface.iter())?;
    name_of_congestion_control(&spec.traffic)
}

fn name_of_congestion_control(traffic: &load::Traffic) -> Checked {
    at_most("congestion_control", traffic.congestion_control.name().map_or(0, str::len), TEXT)
}

impl Bounded for Launch {
    fn check(&self) -> Checked {
        at_most("lease_ms", self.lease_ms.unwrap_or(0), TIME.as_millis())?;
        cpus(&self.cpus)
    }
}

impl Bounded for Settings {
    fn check(&self) -> Checked {
        at_most("ports", self.ports, FEW)?;
        at_most("seed", self.seed.len(), TEXT)
    }
}

#[cfg(test)]
mod tests {
    use words::Turn;

    use super::*;
    use crate::message::{Request, TurnState};

    #[test]
    fn a_list_or_number_beyond_its_bound_is_refused_by_name() {
        let long = "x".repeat(16);
        let many = vec![(IpAddr::from([10, 0, 0, 1]), 24); FEW + 1];
        let wide = vec![(IpAddr::from([10, 0, 0, 1]), 33)];
        let traffic = load::Traffic::new(load::Kind::TcpRr);
        let alternate = |settle_ns, state| Request::Alternate {
            ramp_ns: 0,
            turn_ns: 100,
            settle_ns,
            states: vec![TurnState { features: BTreeMap::new(), traffic: traffic.clone(), tuning: None }; 2],
            turns: vec![Turn { state, counts: true }],
        };
        let refused: [(Request, &str); 12] = [
            (alternate(51, 0), "`settle_ns` has 51, and may have at most 50"),
            (alternate(50, 2), "`state` has 2, and may have at most 1"),
            (Request::SteerNew { cpus: vec![u32::MAX] }, "`cpus` has 4294967295, and may have at most 8191"),
            (Request::SteerNew { cpus: vec![0; 8_193] }, "`cpus` has 8193, and may have at most 8192"),
            (Request::CreateBridge { name: long.clone() }, "`name` has 16"),
            (Request::Environment { interfaces: vec!["x".repeat(128)] }, "`interfaces` has 128"),
            (Request::Configure { interface: "a".into(), addresses: many }, "`addresses` has 65"),
            (Request::Configure { interface: "a".into(), addresses: wide }, "`addresses` has 33"),
            (Request::Environment { interfaces: vec!["a".into(); 65] }, "`interfaces` has 65"),
            (Request::Measure { ramp_ns: 0, window_ns: u64::MAX, step_ns: 0 }, "`window_ns` has 1844674407"),
            (Request::SetMtu { interface: "a".into(), mtu: u32::MAX }, "`mtu` has 4294967295"),
            (Request::CreateTap { name: "a".into(), bridge: long }, "`name` has 16"),
        ];
        for (request, why) in refused {
            let error = request.check().unwrap_err().to_string();
            assert!(error.starts_with(why), "{error}");
        }
        Request::SteerNew { cpus: vec![8_191] }.check().unwrap();
    }
}
