//! Neighbours: who is behind which link-layer address.

use std::net::IpAddr;

use netlink_packet_core::NLM_F_REPLACE;
use netlink_packet_route::neighbour::{
    NeighbourAddress, NeighbourAttribute, NeighbourMessage, NeighbourState,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};

use crate::error::Error;
use crate::kernel::attributes::attributes;
use crate::kernel::netlink::Failure;
use crate::link::links::Links;

/// `struct ndmsg` (linux/neighbour.h): family, padding, interface, state, flags, type.
const HEADER: usize = 12;
/// `NDA_DST`, `NDA_LLADDR`.
const DESTINATION: u16 = 1;
const ADDRESS: u16 = 2;
/// `NUD_REACHABLE | NUD_STALE | NUD_DELAY | NUD_PROBE`: it was found, and will be asked again some
/// time.
const FOUND: u16 = 0x02 | 0x04 | 0x08 | 0x10;

/// One that was found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Neighbour {
    interface: u32,
    address: IpAddr,
    link_address: Vec<u8>,
}

impl Links {
    /// Makes every neighbour that was found so far permanent: the kernel asks for none of them
    /// again, and what a packet to one costs no longer depends on when it was found. Tells how
    /// many.
    ///
    /// # Errors
    /// [`Error::Refused`] without `CAP_NET_ADMIN` over the network namespace.
    pub fn keep_neighbours(&mut self) -> Result<usize, Error> {
        let request = RouteNetlinkMessage::GetNeighbour(NeighbourMessage::default());
        let payloads = self
            .netlink
            .dump(request)
            .map_err(|failure| Error::netlink("list the neighbours", "", failure))?;
        let mut kept = 0;
        for payload in payloads {
            let found = read(&payload)
                .map_err(|why| Error::netlink("list the neighbours", "", Failure::Malformed(why)))?;
            if let Some(neighbour) = found {
                self.keep(neighbour)?;
                kept += 1;
            }
        }
        Ok(kept)
    }

    fn keep(&mut self, Neighbour { interface, address, link_address }: Neighbour) -> Result<(), Error> {
        let message = permanent(interface, address, link_address);
        self.change(RouteNetlinkMessage::NewNeighbour(message), NLM_F_REPLACE, "", || {
            format!("keep the neighbour {address}")
        })
    }
}

/// The order to know a neighbour for good.
pub(crate) fn permanent(interface: u32, address: IpAddr, link_address: Vec<u8>) -> NeighbourMessage {
    let mut message = NeighbourMessage::default();
    message.header.ifindex = interface;
    message.header.state = NeighbourState::Permanent;
    let destination = match address {
        IpAddr::V4(address) => {
            message.header.family = AddressFamily::Inet;
            NeighbourAddress::Inet(address)
        }
        IpAddr::V6(address) => {
            message.header.family = AddressFamily::Inet6;
            NeighbourAddress::Inet6(address)
        }
    };
    message.attributes = vec![
        NeighbourAttribute::Destination(destination),
        NeighbourAttribute::LinkLayerAddress(link_address),
    ];
    message
}

/// A neighbour as the kernel tells it; `None` for one that was not found, or is permanent.
pub(crate) fn read(payload: &[u8]) -> Result<Option<Neighbour>, String> {
    let (header, rest) = payload.split_at_checked(HEADER).ok_or("a neighbour without its header")?;
    let &[_, _, _, _, a, b, c, d, low, high, ..] = header else { return Ok(None) };
    if u16::from_ne_bytes([low, high]) & FOUND == 0 {
        return Ok(None);
    }
    let (mut address, mut link_address) = (None, None);
    for attribute in attributes(rest) {
        let attribute = attribute?;
        match attribute.kind {
            DESTINATION => address = ip(attribute.value),
            ADDRESS => link_address = Some(attribute.value.to_vec()),
            _ => {}
        }
    }
    let found = address.zip(link_address);
    Ok(found.map(|(address, link_address)| Neighbour {
        interface: u32::from_ne_bytes([a, b, c, d]),
        address,
        link_address,
    }))
}

fn ip(bytes: &[u8]) -> Option<IpAddr> {
    let four = || <[u8; 4]>::try_from(bytes).ok().map(IpAddr::from);
    let sixteen = || <[u8; 16]>::try_from(bytes).ok().map(IpAddr::from);
    four().or_else(sixteen)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::kernel::attributes::push;

    fn told(state: u16, with_address: bool) -> Vec<u8> {
        let mut payload = vec![2, 0, 0, 0, 7, 0, 0, 0];
        payload.extend(state.to_ne_bytes());
        payload.extend([0, 1]);
        push(&mut payload, DESTINATION, &[192, 0, 2, 1]);
        if with_address {
            push(&mut payload, ADDRESS, &[2, 0, 0, 0, 0, 1]);
        }
        payload
    }

    #[test]
    fn those_that_were_found_are_told_from_the_others() {
        let stale = read(&told(0x04, true)).unwrap().unwrap();
        assert_eq!((stale.interface.to_le(), stale.address), (7, "192.0.2.1".parse().unwrap()));
        assert_eq!(stale.link_address, [2, 0, 0, 0, 0, 1]);
        for (state, with_address) in [(0x80, true), (0x40, true), (0x01, false), (0x20, false), (0x10, false)]
        {
            assert_eq!(read(&told(state, with_address)).unwrap(), None, "{state}");
        }
        assert!(read(&[2, 0]).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = read(&bytes);
        }
    }
}
