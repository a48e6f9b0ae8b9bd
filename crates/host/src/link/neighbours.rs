//! Neighbours: the link-layer addresses of IP addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use nix::libc;

use crate::error::Error;
use crate::kernel::attributes::{attribute, encode, number, u16_at, u32_at};
use crate::link::entry::family;
use crate::link::links::Links;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Neighbour {
    pub(crate) interface: u32,
    pub(crate) address: IpAddr,
    pub(crate) link_address: Vec<u8>,
    is_for_now: bool,
}

// The length of `struct ndmsg`: family, padding (3 bytes), index, state (2 bytes), flags, type.
const HEADER: usize = 12;

// Beyond half of the places a table of 4096 places is made (`neigh_hash_grow`).
const ENTRIES: u16 = 2100;

impl Links {
    /// Makes resolved neighbours permanent: packets then cost the same. Returns their number.
    ///
    /// # Errors
    /// The kernel's error, without `CAP_NET_ADMIN` over the network namespace.
    pub fn keep_neighbours(&mut self) -> Result<usize, Error> {
        let mut all = self.neighbours()?;
        all.retain(|one| one.is_for_now);
        for one in &all {
            let action = format_args!("keep the neighbour {}", one.address);
            self.change(libc::RTM_NEWNEIGH, &one.permanent(), libc::NLM_F_REPLACE, "", action)?;
        }
        Ok(all.len())
    }

    pub(crate) fn neighbours(&mut self) -> Result<Vec<Neighbour>, Error> {
        let action = format_args!("list the neighbours");
        let payloads = self.dump(libc::RTM_GETNEIGH, &[0; HEADER], "", action)?;
        Ok(payloads.iter().filter_map(|payload| Neighbour::parse(payload)).collect())
    }

    /// Makes the kernel's tables of neighbours large, for good: the kernel enlarges a table with
    /// its entries, and never shrinks it. So two entries hardly ever share a place, whose second
    /// entry costs some instructions more to find (with the 8 places of a fresh kernel they often
    /// do).
    ///
    /// # Errors
    /// The kernel's error, without `CAP_NET_ADMIN` over the network namespace.
    pub fn spread_neighbours(&mut self) -> Result<(), Error> {
        // On the loopback interface all addresses have one entry.
        let Some(link) = self.list()?.into_iter().find(|link| link.name != "lo") else { return Ok(()) };
        // Networks reserved for benchmarks (RFC 2544) and for documentation (RFC 3849).
        let addresses = (0..ENTRIES).flat_map(|number| {
            let ipv4 = u32::from(Ipv4Addr::new(198, 18, 0, 0)) + u32::from(number);
            let ipv6 = Ipv6Addr::new(0x2001, 0xdb8, 0xffff, 0, 0, 0, 0, number);
            [IpAddr::from(Ipv4Addr::from(ipv4)), IpAddr::from(ipv6)]
        });
        // All entries are there at once before the first is removed: that makes the table grow.
        let create = libc::NLM_F_CREATE | libc::NLM_F_REPLACE;
        for (kind, flags) in [(libc::RTM_NEWNEIGH, create), (libc::RTM_DELNEIGH, 0)] {
            for address in addresses.clone() {
                let payload = Neighbour::new(link.index, address, vec![0; 6]).permanent();
                let action = format_args!("enlarge the table of neighbours");
                self.change(kind, &payload, flags, &link.name, action)?;
            }
        }
        Ok(())
    }
}

impl Neighbour {
    pub(crate) fn new(interface: u32, address: IpAddr, link_address: Vec<u8>) -> Self {
        Self { interface, address, link_address, is_for_now: false }
    }

    pub(crate) fn parse(payload: &[u8]) -> Option<Self> {
        const FOR_NOW: u16 = libc::NUD_REACHABLE | libc::NUD_STALE | libc::NUD_DELAY | libc::NUD_PROBE;
        let inside = payload.get(HEADER..)?;
        Some(Self {
            interface: u32_at(payload, 4)?,
            address: ip(attribute(inside, libc::NDA_DST)?)?,
            link_address: attribute(inside, libc::NDA_LLADDR)?.to_vec(),
            is_for_now: u16_at(payload, 8)? & FOR_NOW != 0,
        })
    }

    pub(crate) fn permanent(&self) -> Vec<u8> {
        let (family, address) = family(self.address);
        let state = u32::from(libc::NUD_PERMANENT);
        let header = [vec![family, 0, 0, 0], number(self.interface), number(state)].concat();
        let inside = [(libc::NDA_DST, address), (libc::NDA_LLADDR, self.link_address.clone())];
        [header, encode(&inside)].concat()
    }
}

fn ip(bytes: &[u8]) -> Option<IpAddr> {
    let ipv4 = bytes.try_into().ok().map(|bytes: [u8; 4]| bytes.into());
    ipv4.or_else(|| bytes.try_into().ok().map(|bytes: [u8; 16]| bytes.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_were_found_are_distinguished_from_the_others() {
        let one = Neighbour::new(7, "192.0.2.1".parse().unwrap(), vec![2, 0, 0, 0, 0, 1]);
        let mut payload = one.permanent();
        assert_eq!(Neighbour::parse(&payload), Some(one.clone()));
        payload[8..10].copy_from_slice(&libc::NUD_STALE.to_ne_bytes());
        assert_eq!(Neighbour::parse(&payload), Some(Neighbour { is_for_now: true, ..one }));
        payload.truncate(HEADER + 8);
        assert_eq!(Neighbour::parse(&payload), None, "not resolved yet");
    }
}
