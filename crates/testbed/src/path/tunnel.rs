//! A VXLAN tunnel over a veth pair between two hosts.

use std::net::IpAddr;

use agent::message::Request;
use host::{Located, NUMBERED, NUMBERS, Vxlan};
use study::{BySide, Family, Side};

use crate::error::Error;
use crate::launched_agent::LaunchedAgent;
use crate::path::address::UNDERLAY;
use crate::path::veth::{VETH, VethEnd, await_running, create_veth};

/// The tunnel's name in network namespaces of our own.
pub(crate) const TUNNEL: &str = "vxlan0";

#[derive(Debug, Clone, Default)]
pub(crate) struct TunnelEnd {
    pub(crate) addresses: Vec<(IpAddr, u8)>,
    /// Its bridge, if it is a port of one.
    pub(crate) bridge: Option<&'static str>,
    /// The CPUs of its receive work; empty where that is not steered.
    pub(crate) steered: Vec<u32>,
}

/// The name of a tunnel, and of a bridge, with this number.
pub(crate) fn numbered(number: u16) -> [String; 2] {
    NUMBERED.map(|kind| format!("{kind}{number}"))
}

/// The least number of which nobody has anything at either end.
pub(crate) fn free_number(both: &BySide<&Located>) -> u16 {
    let is_free =
        |number: &u16| both.each_ref().into_iter().all(|(_, located)| !located.taken.contains(number));
    // Without any the kernel tells which is taken.
    (0..NUMBERS).find(is_free).unwrap_or_default()
}

/// An end of the tunnel with this number.
pub(crate) fn vxlan_of(local: IpAddr, remote: IpAddr, underlay: &str, number: u16) -> Vxlan {
    let (id, port) = Vxlan::numbered(number);
    Vxlan { id, local, remote, port, underlay: underlay.to_owned() }
}

/// Creates a veth pair between two hosts and a tunnel over it, carried by this version of IP.
pub(crate) fn create_tunnel(
    hosts: &mut BySide<&mut LaunchedAgent>,
    family: Family,
    ends: BySide<TunnelEnd>,
) -> Result<(), Error> {
    let under = |side: Side| VethEnd {
        addresses: vec![UNDERLAY[side].with_prefix(family)],
        steered: ends[side].steered.clone(),
    };
    create_veth(hosts, BySide::from_fn(under))?;
    for (side, TunnelEnd { addresses, bridge, .. }) in ends {
        let vxlan = vxlan_of(
            UNDERLAY[side].in_family(family),
            UNDERLAY[side.other()].in_family(family),
            VETH[side],
            0,
        );
        let bridge = bridge.map(str::to_owned);
        hosts[side].order(&Request::CreateVxlan { name: TUNNEL.to_owned(), vxlan, addresses, bridge })?;
    }
    for (side, host) in hosts.each_mut() {
        await_running(host, VETH[side])?;
        await_running(host, TUNNEL)?;
    }
    Ok(())
}
