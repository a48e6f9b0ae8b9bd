//! The path between the hosts: links, tunnels, nodes, or a device that discards packets.

pub(crate) mod node;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use agent::CallError;
use agent::message::{Answer, Request};
use host::{DiscardDevice, LocatedInterface, NUMBERED, NUMBERS, Vxlan, same_network};
use study::{BySide, Family, Fragments};

use crate::error::Error;
use crate::launched_agent::{LaunchedAgent, ask};

/// Reserved for benchmarking (RFC 2544 appendix C.2.2 and RFC 5180 section 8).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Addresses {
    pub(crate) ipv4: IpAddr,
    pub(crate) ipv6: IpAddr,
}

pub(crate) const TRAFFIC: BySide<Addresses> =
    BySide { transmitter: Addresses::in_network(0, 1), receiver: Addresses::in_network(0, 2) };

pub(crate) const UNDERLAY: BySide<Addresses> =
    BySide { transmitter: Addresses::in_network(1, 1), receiver: Addresses::in_network(1, 2) };

pub(crate) const LOOPBACK: Addresses =
    Addresses { ipv4: IpAddr::V4(Ipv4Addr::LOCALHOST), ipv6: IpAddr::V6(Ipv6Addr::LOCALHOST) };

impl Addresses {
    pub(crate) const NONE: Self =
        Self { ipv4: IpAddr::V4(Ipv4Addr::UNSPECIFIED), ipv6: IpAddr::V6(Ipv6Addr::UNSPECIFIED) };

    const fn in_network(network: u8, host: u8) -> Self {
        Self {
            ipv4: IpAddr::V4(Ipv4Addr::new(198, 18 + network, 0, host)),
            ipv6: IpAddr::V6(Ipv6Addr::new(0x2001, 2, 0, network as u16, 0, 0, 0, host as u16)),
        }
    }

    pub(crate) fn in_family(self, family: Family) -> IpAddr {
        match family {
            Family::Ipv4 => self.ipv4,
            Family::Ipv6 => self.ipv6,
        }
    }

    pub(crate) fn with_prefixes(self, families: &[Family]) -> Vec<(IpAddr, u8)> {
        let length = |family| if family == Family::Ipv4 { 24 } else { 64 };
        families.iter().map(|family| (self.in_family(*family), length(*family))).collect()
    }
}

pub(crate) const DISCARD: &str = "discard0";

// The port of the discard service (RFC 863), where nothing listens here.
const DISCARD_PORT: u16 = 9;

/// `device`: `None` for the first kind that the kernel has.
pub(crate) fn create_discard(
    host: &mut LaunchedAgent,
    device: Option<DiscardDevice>,
    families: &[Family],
) -> Result<(DiscardDevice, Vec<String>), Error> {
    let create = Request::CreateDiscard {
        name: DISCARD.to_owned(),
        device,
        addresses: TRAFFIC.transmitter.with_prefixes(families),
        // A permanent neighbour, so that the kernel never has to resolve it.
        behind: families.iter().map(|family| TRAFFIC.receiver.in_family(*family)).collect(),
    };
    Ok(ask!(host, &create, Answer::Discards { device, lacking } => (device, lacking)))
}

/// Flows without a receiver go to the discard port, or to ports from the requested one.
pub(crate) fn nobody(family: Family, flows: u32, port: Option<u16>) -> Vec<SocketAddr> {
    let address = TRAFFIC.receiver.in_family(family);
    let step = u16::from(port.is_some());
    let first = port.unwrap_or(DISCARD_PORT);
    let ports = std::iter::successors(Some(first), |port| Some(port.saturating_add(step)));
    (0..flows).zip(ports).map(|(_, port)| SocketAddr::new(address, port)).collect()
}

pub(crate) const VETH: BySide<&str> = BySide { transmitter: "transmit0", receiver: "receive0" };

pub(crate) const TUNNEL: &str = "vxlan0";

/// Waits until packets are forwarded. `steered`: each end's CPUs for receive work, if any.
/// `bridge`: for each end of a tunnel.
pub(crate) fn create_link(
    hosts: &mut BySide<&mut LaunchedAgent>,
    tunnel: Option<Family>,
    families: &[Family],
    steered: &BySide<Vec<u32>>,
    bridge: Option<&str>,
) -> Result<(), Error> {
    // An ordinary user may steer future interfaces only.
    steer_new(hosts, steered)?;
    let [name, peer] = [VETH.transmitter, VETH.receiver].map(str::to_owned);
    let peer_pid = hosts.receiver.pid;
    hosts.transmitter.order(&Request::CreateVeth { name, peer, peer_pid })?;
    // Later interfaces, such as a tunnel over this pair, must not be steered again.
    steer_new(hosts, &BySide::default())?;
    for (side, host) in hosts.each_mut() {
        let addresses = match tunnel {
            Some(family) => UNDERLAY[side].with_prefixes(&[family]),
            None => TRAFFIC[side].with_prefixes(families),
        };
        host.order(&Request::Configure { interface: VETH[side].to_owned(), addresses })?;
    }
    if let Some(family) = tunnel {
        let under = BySide::from_fn(|side| (VETH[side], UNDERLAY[side].in_family(family)));
        create_tunnel(hosts, (TUNNEL, 0), under, families, bridge)?;
    }
    hosts.each_mut().into_iter().try_for_each(|(side, host)| await_running(host, VETH[side]))
}

/// `under`: the interface, and each end's address on it. The ends get addresses of these families,
/// or are ports of a bridge.
pub(crate) fn create_tunnel(
    hosts: &mut BySide<&mut LaunchedAgent>,
    (name, number): (&str, u16),
    under: BySide<(&str, IpAddr)>,
    families: &[Family],
    bridge: Option<&str>,
) -> Result<(), Error> {
    let (id, port) = Vxlan::numbered(number);
    for (side, host) in hosts.each_mut() {
        let ((underlay, local), (_, remote)) = (under[side], under[side.other()]);
        host.order(&Request::CreateVxlan {
            name: name.to_owned(),
            vxlan: Vxlan { id, local, remote, port, underlay: underlay.to_owned() },
            addresses: TRAFFIC[side].with_prefixes(families),
            bridge: bridge.map(str::to_owned),
        })?;
    }
    hosts.each_mut().into_iter().try_for_each(|(_, host)| await_running(host, name))
}

fn steer_new(hosts: &mut BySide<&mut LaunchedAgent>, cpus: &BySide<Vec<u32>>) -> Result<(), Error> {
    for (side, host) in hosts.each_mut() {
        match host.order(&Request::SteerNew { cpus: cpus[side].clone() }) {
            // Steering the interfaces tells the refusal.
            Err(Error::Call(CallError::Refused { .. })) => {}
            answer => answer?,
        }
    }
    Ok(())
}

pub(crate) fn await_running(agent: &mut LaunchedAgent, interface: &str) -> Result<(), Error> {
    agent.order(&Request::AwaitRunning { interface: interface.to_owned() })
}

pub(crate) fn numbered(number: u16) -> [String; 2] {
    NUMBERED.map(|kind| format!("{kind}{number}"))
}

pub(crate) fn free_number(both: &BySide<&LocatedInterface>) -> u16 {
    let is_free =
        |number: &u16| both.each_ref().into_iter().all(|(_, located)| !located.taken.contains(number));
    // Without any the kernel tells which is taken.
    (0..NUMBERS).find(is_free).unwrap_or_default()
}

/// An unspecified address stands for none.
pub(crate) fn pairs(there: &BySide<&[(IpAddr, u8)]>) -> BySide<Addresses> {
    let pair_in = |family: Family| {
        let is_of = |(address, _): &&(IpAddr, u8)| address.is_ipv4() == (family == Family::Ipv4);
        let all = there.each_ref().map(|_, all| all.iter().filter(is_of).collect::<Vec<_>>());
        let mut both =
            all.transmitter.iter().flat_map(|one| all.receiver.iter().map(move |other| (*one, *other)));
        // Between other addresses a router may lie.
        match both.find(|(one, other)| same_network(**one, **other)) {
            Some((one, other)) => BySide { transmitter: one.0, receiver: other.0 },
            None => all.map(|_, all| all.first().map_or(Addresses::NONE.in_family(family), |one| one.0)),
        }
    };
    let (ipv4, ipv6) = (pair_in(Family::Ipv4), pair_in(Family::Ipv6));
    BySide::from_fn(|side| Addresses { ipv4: ipv4[side], ipv6: ipv6[side] })
}

pub(crate) fn reachable(address: IpAddr, family: Family, end: impl ToString) -> Result<IpAddr, Error> {
    if !address.is_unspecified() {
        return Ok(address);
    }
    Err(Error::Unfit(format!(
        "the {}'s interface has no {family} address that the other machine can send to: give it one, or let netassay add a pair for the time of the study (--addresses own), or measure another family alone (--set family=)",
        end.to_string()
    )))
}

const UNDERLAY_MTU: u32 = 1_500;

/// MTUs that are not given: an underlay has Ethernet's, a tunnel what its underlay leaves.
pub(crate) fn tunnel_mtus(inner: Option<u32>, outer: Option<u32>, family: Family) -> Fragments {
    let outer = outer.unwrap_or(UNDERLAY_MTU);
    let overhead = Vxlan::overhead(family == Family::Ipv6);
    let inner = inner.unwrap_or(outer.saturating_sub(overhead));
    Fragments { inner, needed: inner.saturating_add(overhead), outer }
}

#[cfg(test)]
mod tests;
