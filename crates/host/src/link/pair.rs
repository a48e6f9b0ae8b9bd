//! What a machine tells of an interface that is to carry traffic to another machine, so that the two
//! can be compared before anything is changed.

use std::net::IpAddr;
use std::os::unix::fs::MetadataExt as _;

use netlink_packet_core::{Emitable as _, NlasIterator, parse_u32};
use netlink_packet_route::link::LinkHeader;
use nix::libc;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::link::entry::{IPV4, IPV6, Sort};
use crate::link::interface::Link;
use crate::link::links::Links;
use crate::link::located::addresses;

/// The facts of one end of a pair.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PairFacts {
    /// The inode of the network namespace, which names it within one boot of a machine.
    pub namespace: Option<u64>,
    /// The interface that this one is a port of, such as a bridge or a bond.
    pub master: Option<Master>,
    /// Those of the other end's addresses to which a route leaves by the interface.
    pub routed: Vec<IpAddr>,
    /// Those of the addresses asked about that an interface of this machine has, with that
    /// interface.
    pub taken: Vec<(IpAddr, String)>,
}

/// An interface that others are ports of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Master {
    /// Its name.
    pub name: String,
    /// Its kind, for example `bridge`.
    pub kind: Option<String>,
}

impl PairFacts {
    /// Reads them. `peers`: addresses of the other end; `own`: those that this end is to get.
    ///
    /// # Errors
    /// No such interface.
    pub fn read(interface: &str, peers: &[IpAddr], own: &[IpAddr]) -> Result<Self, Error> {
        let mut links = Links::open()?;
        let (link, master) = links.find_with_master(interface)?;
        // A master of another network namespace is not found.
        let master = master.and_then(|index| links.find_by_index(index, interface).ok());
        let all = addresses()?;
        let asked = |address: &IpAddr| peers.contains(address) || own.contains(address);
        let taken = all.into_iter().filter(|one| asked(&one.address));
        Ok(Self {
            namespace: std::fs::metadata("/proc/thread-self/ns/net").ok().map(|file| file.ino()),
            master: master.map(|(Link { name, kind, .. }, _)| Master { name, kind }),
            routed: peers.iter().copied().filter(|peer| links.routes_to(*peer, link.index)).collect(),
            taken: taken.map(|one| (one.address, one.interface)).collect(),
        })
    }
}

impl Links {
    /// The interface called `name`, and the index of the one that it is a port of.
    fn find_with_master(&mut self, name: &str) -> Result<(Link, Option<u32>), Error> {
        self.find_and(name, |payload| {
            let header = LinkHeader::parse(payload).ok()?;
            let inside = payload.get(header.buffer_len()..)?;
            let master = NlasIterator::new(inside).flatten().find(|one| one.kind() == libc::IFLA_MASTER)?;
            parse_u32(master.value()).ok()
        })
    }

    /// Whether a route to this address leaves by the interface. A table that cannot be read has
    /// every route.
    fn routes_to(&mut self, address: IpAddr, index: u32) -> bool {
        let (family, bytes) = match address {
            IpAddr::V4(four) => (IPV4, four.octets().to_vec()),
            IpAddr::V6(six) => (IPV6, six.octets().to_vec()),
        };
        let routes = self.entries(Sort::Route, family, index);
        routes.map_or(true, |routes| routes.iter().any(|route| route.leads_to(&bytes)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_tells_its_namespace_and_which_addresses_are_taken() {
        let [own, other] = ["127.0.0.1", "192.0.2.1"].map(|one| one.parse::<IpAddr>().unwrap());
        let facts = PairFacts::read("lo", &[other], &[own]).unwrap();
        assert!(facts.namespace.is_some() && facts.master.is_none(), "{facts:?}");
        assert_eq!(facts.taken, [(own, "lo".to_owned())]);
        assert!(facts.routed.is_empty(), "{facts:?}");
        assert!(PairFacts::read("nowhere9", &[], &[]).is_err());
    }
}
