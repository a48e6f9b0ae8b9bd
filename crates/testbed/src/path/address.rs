//! The addresses of a testbed, from the ranges reserved for benchmarking (RFC 2544 appendix C.2.2
//! and RFC 5180 section 8).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use study::{BySide, Family};

/// The lengths of their prefixes.
const PREFIX_IPV4: u8 = 24;
const PREFIX_IPV6: u8 = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Addresses {
    pub(crate) ipv4: IpAddr,
    pub(crate) ipv6: IpAddr,
}

pub(crate) const TRAFFIC: BySide<Addresses> =
    BySide { transmitter: Addresses::in_network(0, 1), receiver: Addresses::in_network(0, 2) };

/// Addresses of the interfaces under a tunnel.
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

    pub(crate) fn with_prefix(self, family: Family) -> (IpAddr, u8) {
        let prefix = match family {
            Family::Ipv4 => PREFIX_IPV4,
            Family::Ipv6 => PREFIX_IPV6,
        };
        (self.in_family(family), prefix)
    }

    pub(crate) fn with_prefixes(self, families: &[Family]) -> Vec<(IpAddr, u8)> {
        families.iter().map(|family| self.with_prefix(*family)).collect()
    }
}
