//! The facts of an interface that is to carry traffic to another machine, for a comparison of both
//! ends.

use std::net::IpAddr;
use std::os::unix::fs::MetadataExt as _;

use serde::{Deserialize, Serialize};

use crate::environment::Firewall;
use crate::error::Error;
use crate::kernel::files::Files;
use crate::link::interface::Link;
use crate::link::links::Links;
use crate::link::located::addresses;

/// The facts of one end of a pair.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PairFacts {
    /// The number of the machine's boot.
    pub boot_id: Option<String>,
    /// The inode of the network namespace, which names it within one boot.
    pub namespace: Option<u64>,
    /// The interface.
    pub link: Link,
    /// The interface that it is a port of, such as a bridge.
    pub master: Option<Link>,
    /// The addresses asked about that are in use in the namespace.
    pub taken: Vec<TakenAddress>,
    /// The addresses asked about whose link-layer address is known on the interface.
    pub neighbours: Vec<(IpAddr, String)>,
    /// The packet filters of the namespace.
    pub firewall: Firewall,
}

/// An address in use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TakenAddress {
    /// The address.
    pub address: IpAddr,
    /// Its interface.
    #[serde(deserialize_with = "words::names::interfaces")]
    pub interface: String,
    /// The length of its prefix.
    pub prefix: u8,
}

impl PairFacts {
    /// Reads the facts.
    pub fn read(interface: &str, asked: &[IpAddr]) -> Result<Self, Error> {
        let mut links = Links::open()?;
        let (link, master) = links.find_with_master(interface)?;
        let taken = addresses()?.into_iter().filter(|one| asked.contains(&one.address));
        let taken = taken.map(|one| TakenAddress {
            address: one.address,
            interface: one.interface,
            prefix: one.prefix,
        });
        let mut neighbours = links.neighbours(link.index)?;
        neighbours.retain(|(address, _)| asked.contains(address));
        Ok(Self {
            boot_id: Files::system().text("proc/sys/kernel/random/boot_id"),
            namespace: std::fs::metadata("/proc/thread-self/ns/net").ok().map(|file| file.ino()),
            link,
            master,
            taken: taken.collect(),
            neighbours,
            firewall: Firewall::read(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_tells_its_namespace_and_which_addresses_are_taken() {
        let [own, other] = ["127.0.0.1", "192.0.2.1"].map(|one| one.parse::<IpAddr>().unwrap());
        let facts = PairFacts::read("lo", &[other, own]).unwrap();
        assert!(facts.boot_id.is_some() && facts.namespace.is_some() && facts.master.is_none(), "{facts:?}");
        let taken = TakenAddress { address: own, interface: "lo".to_owned(), prefix: 8 };
        assert_eq!(facts.taken, [taken]);
        assert!(PairFacts::read("nowhere9", &[]).is_err());
    }
}
