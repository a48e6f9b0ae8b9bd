//! Neighbours: the link-layer addresses of IP addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use netlink_packet_core::{NLM_F_CREATE, NLM_F_REPLACE, Parseable};
use netlink_packet_route::neighbour::{
    NeighbourAddress, NeighbourAttribute, NeighbourMessage, NeighbourState,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};

use crate::error::Error;
use crate::link::interface::hardware_address;
use crate::link::links::Links;

impl Links {
    /// Makes every resolved neighbour permanent: the kernel does not resolve it again, so the cost
    /// of a packet does not depend on the time of its resolution. Returns their number.
    ///
    /// # Errors
    /// The kernel's error, without `CAP_NET_ADMIN` over the network namespace.
    pub fn keep_neighbours(&mut self) -> Result<usize, Error> {
        let request = RouteNetlinkMessage::GetNeighbour(NeighbourMessage::default());
        let read = |payload: &[u8]| NeighbourMessage::parse(payload).map(resolved_for_now);
        let all = self.dump(request, read, "", || "list the neighbours".to_owned())?;
        let mut kept = 0;
        for (interface, address, link_address) in all.into_iter().flatten() {
            let message = permanent(interface, address, link_address);
            self.change(RouteNetlinkMessage::NewNeighbour(message), NLM_F_REPLACE, "", || {
                format!("keep the neighbour {address}")
            })?;
            kept += 1;
        }
        Ok(kept)
    }

    /// The link-layer address of each neighbour that has one, on the interface with this index.
    pub(crate) fn neighbours(&mut self, index: u32) -> Result<Vec<(IpAddr, String)>, Error> {
        let request = RouteNetlinkMessage::GetNeighbour(NeighbourMessage::default());
        let read = |payload: &[u8]| NeighbourMessage::parse(payload).map(resolved);
        let all = self.dump(request, read, "", || "list the neighbours".to_owned())?;
        let here = all.into_iter().flatten().filter(|(interface, ..)| *interface == index);
        Ok(here.map(|(_, address, link_address)| (address, hardware_address(&link_address))).collect())
    }

    /// Makes the kernel's tables of neighbours large, for good: the kernel enlarges a table with
    /// its entries, and never shrinks it. So two entries hardly ever share a place, whose second
    /// entry costs some instructions more to find (with the 8 places of a fresh kernel they often
    /// do, by a number that is drawn at boot).
    ///
    /// # Errors
    /// The kernel's error, without `CAP_NET_ADMIN` over the network namespace.
    pub fn spread_neighbours(&mut self) -> Result<(), Error> {
        // On the loopback interface all addresses have one entry.
        let Some(link) = self.list()?.into_iter().find(|link| link.name != "lo") else { return Ok(()) };
        // Addresses of networks that are reserved for benchmarks (RFC 2544) and for documentation
        // (RFC 3849).
        let addresses = (0..ENTRIES).flat_map(|number| {
            let ipv4 = u32::from(Ipv4Addr::new(198, 18, 0, 0)) + u32::from(number);
            let ipv6 = Ipv6Addr::new(0x2001, 0xdb8, 0xffff, 0, 0, 0, 0, number);
            [IpAddr::from(Ipv4Addr::from(ipv4)), IpAddr::from(ipv6)]
        });
        let action = || "enlarge the table of neighbours".to_owned();
        for address in addresses.clone() {
            let new = RouteNetlinkMessage::NewNeighbour(permanent(link.index, address, vec![0; 6]));
            self.change(new, NLM_F_CREATE | NLM_F_REPLACE, &link.name, action)?;
        }
        for address in addresses {
            let old = RouteNetlinkMessage::DelNeighbour(permanent(link.index, address, vec![0; 6]));
            self.change(old, 0, &link.name, action)?;
        }
        Ok(())
    }
}

// Beyond half of the places a table of 4096 places is made (`neigh_hash_grow`).
const ENTRIES: u16 = 2100;

pub(crate) fn permanent(interface: u32, address: IpAddr, link_address: Vec<u8>) -> NeighbourMessage {
    let mut message = NeighbourMessage::default();
    message.header.ifindex = interface;
    message.header.state = NeighbourState::Permanent;
    message.header.family = if address.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 };
    message.attributes = vec![
        NeighbourAttribute::Destination(address.into()),
        NeighbourAttribute::LinkLayerAddress(link_address),
    ];
    message
}

/// The interface, the address and the link-layer address of a neighbour; `None` for a neighbour
/// that is unresolved or permanent.
pub(crate) fn resolved_for_now(message: NeighbourMessage) -> Option<(u32, IpAddr, Vec<u8>)> {
    use NeighbourState::{Delay, Probe, Reachable, Stale};
    // It is resolved, and will be resolved again at some time.
    if !matches!(message.header.state, Reachable | Stale | Delay | Probe) {
        return None;
    }
    resolved(message)
}

/// The interface, the address and the link-layer address of a neighbour that has one.
fn resolved(message: NeighbourMessage) -> Option<(u32, IpAddr, Vec<u8>)> {
    let (mut address, mut link_address) = (None, None);
    for attribute in message.attributes {
        match attribute {
            NeighbourAttribute::Destination(NeighbourAddress::Inet(ip)) => address = Some(ip.into()),
            NeighbourAttribute::Destination(NeighbourAddress::Inet6(ip)) => address = Some(ip.into()),
            NeighbourAttribute::LinkLayerAddress(bytes) => link_address = Some(bytes),
            _ => {}
        }
    }
    Some((message.header.ifindex, address?, link_address?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_were_found_are_distinguished_from_the_others() {
        let address = "192.0.2.1".parse().unwrap();
        let told = |state, with_link_address: bool| {
            let mut message = permanent(7, address, vec![2, 0, 0, 0, 0, 1]);
            message.header.state = state;
            message.attributes.truncate(if with_link_address { 2 } else { 1 });
            resolved_for_now(message)
        };
        assert_eq!(told(NeighbourState::Stale, true), Some((7, address, vec![2, 0, 0, 0, 0, 1])));
        for (state, with_link_address) in [
            (NeighbourState::Permanent, true),
            (NeighbourState::Noarp, true),
            (NeighbourState::Incomplete, false),
            (NeighbourState::Failed, false),
            (NeighbourState::Probe, false),
        ] {
            assert_eq!(told(state, with_link_address), None, "{state}");
        }
    }
}
