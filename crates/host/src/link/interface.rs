//! One interface, as the kernel reports it.

use netlink_packet_core::{DecodeError, Emitable, NlaBuffer, NlasIterator, parse_string, parse_u32};
use netlink_packet_route::link::{LinkFlags, LinkHeader, Stats64};
use nix::libc;
use serde::{Deserialize, Serialize};

use crate::kernel::counted::counted;
use crate::kernel::files::Files;

/// One interface of a network namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// The index, unique in its network namespace.
    pub index: u32,
    /// The name, for example `eth0`.
    #[serde(deserialize_with = "words::names::interfaces")]
    pub name: String,
    /// The kind of a virtual interface (`veth`, `vxlan`, `bridge` …); `None` for hardware and
    /// loopback.
    pub kind: Option<String>,
    /// The MTU in bytes.
    pub mtu: u32,
    /// The driver's smallest MTU, in bytes, if it has one.
    pub min_mtu: Option<u32>,
    /// The driver's largest MTU, in bytes, if it has one.
    pub max_mtu: Option<u32>,
    /// Whether it is set up (`IFF_UP`).
    pub up: bool,
    /// Whether the layer below works (`IFF_LOWER_UP`). A veth has a carrier when both its ends are
    /// up.
    pub carrier: bool,
    /// Whether the kernel has noticed the carrier (`IFF_RUNNING`). Before, the queue drops packets
    /// silently.
    pub running: bool,
    /// The link-layer address, for example `02:00:5e:00:53:01`.
    pub address: Option<String>,
    /// Its traffic since it was made.
    pub counters: LinkCounters,
}

counted! {
    /// Traffic of an interface since it was made (`IFLA_STATS64`). Packets are the driver's: with
    /// segmentation offload one can hold many segments.
    pub struct LinkCounters {
        /// Packets received.
        rx_packets,
        /// Packets sent.
        tx_packets,
        /// Bytes received, link-layer headers included.
        rx_bytes,
        /// Bytes sent, link-layer headers included.
        tx_bytes,
        /// Bad packets received.
        rx_errors,
        /// Packets that could not be sent.
        tx_errors,
        /// Packets received but dropped: no memory, or a full backlog.
        rx_dropped,
        /// Packets given to the device but not sent.
        tx_dropped,
    }
}

impl Link {
    /// Its directory in sysfs, if sysfs shows this network namespace: another namespace may have an
    /// interface of the same name.
    pub(crate) fn sysfs(&self, files: &Files) -> Option<String> {
        let directory = format!("sys/class/net/{}", self.name);
        let own = files.number(&format!("{directory}/ifindex")) == Some(self.index)
            && files.text(&format!("{directory}/address")) == self.address;
        own.then_some(directory)
    }

    /// Reads an `RTM_NEWLINK` payload. Skips unknown attributes, and attributes of an unexpected
    /// size, so that one odd interface does not hide the others.
    ///
    /// `LinkMessage::parse` rejects such an interface, and reads all of the 60 attributes at 10
    /// times the cost (3 to 8 µs); the counters at a window's edges are read here.
    pub(crate) fn parse(payload: &[u8]) -> Result<Self, DecodeError> {
        let header = LinkHeader::parse(payload)?;
        let mut link = Self {
            index: header.index,
            name: String::new(),
            kind: None,
            mtu: 0,
            min_mtu: None,
            max_mtu: None,
            up: header.flags.contains(LinkFlags::Up),
            carrier: header.flags.contains(LinkFlags::LowerUp),
            running: header.flags.contains(LinkFlags::Running),
            address: None,
            counters: LinkCounters::default(),
        };
        for attribute in NlasIterator::new(&payload[header.buffer_len()..]) {
            link.take(&attribute?);
        }
        if link.name.is_empty() {
            return Err(format!("link {} has no name", link.index).into());
        }
        Ok(link)
    }

    fn take(&mut self, attribute: &NlaBuffer<&[u8]>) {
        let value = attribute.value();
        let number = || parse_u32(value).ok();
        match attribute.kind() {
            libc::IFLA_IFNAME => self.name = parse_string(value).unwrap_or_default(),
            libc::IFLA_MTU => self.mtu = number().unwrap_or_default(),
            // 0 means "no limit of its own".
            libc::IFLA_MIN_MTU => self.min_mtu = number().filter(|mtu| *mtu != 0),
            libc::IFLA_MAX_MTU => self.max_mtu = number().filter(|mtu| *mtu != 0),
            libc::IFLA_ADDRESS => self.address = (!value.is_empty()).then(|| hardware_address(value)),
            libc::IFLA_STATS64 => self.counters = Stats64::parse(value).map(counters).unwrap_or_default(),
            libc::IFLA_LINKINFO => {
                self.kind = NlasIterator::new(value)
                    .flatten()
                    .find(|info| info.kind() == libc::IFLA_INFO_KIND)
                    .and_then(|info| parse_string(info.value()).ok());
            }
            _ => {}
        }
    }
}

/// The permanent link-layer address in an `RTM_NEWLINK` payload: hardware has one.
pub(crate) fn permanent_address(payload: &[u8]) -> Option<String> {
    let found = attribute(payload, libc::IFLA_PERM_ADDRESS)?;
    (!found.is_empty()).then(|| hardware_address(&found))
}

/// The index of the interface, such as a bridge, that this one is a port of.
pub(crate) fn master(payload: &[u8]) -> Option<u32> {
    parse_u32(&attribute(payload, libc::IFLA_MASTER)?).ok()
}

pub(crate) fn group(payload: &[u8]) -> Option<u32> {
    parse_u32(&attribute(payload, libc::IFLA_GROUP)?).ok()
}

/// The network's number and the UDP port, if the interface is a VXLAN tunnel.
pub(crate) fn vxlan(payload: &[u8]) -> Option<(u32, u16)> {
    let info = attribute(payload, libc::IFLA_LINKINFO)?;
    let is_vxlan = inside(&info, libc::IFLA_INFO_KIND)?.starts_with(b"vxlan\0");
    let data = inside(&info, libc::IFLA_INFO_DATA).filter(|_| is_vxlan)?;
    let port = inside(&data, IFLA_VXLAN_PORT)?.try_into().ok()?;
    Some((parse_u32(&inside(&data, IFLA_VXLAN_ID)?).ok()?, u16::from_be_bytes(port)))
}

// From linux/if_link.h.
const IFLA_VXLAN_ID: u16 = 1;
const IFLA_VXLAN_PORT: u16 = 15;

fn attribute(payload: &[u8], wanted: u16) -> Option<Vec<u8>> {
    let header = LinkHeader::parse(payload).ok()?;
    inside(payload.get(header.buffer_len()..)?, wanted)
}

fn inside(attributes: &[u8], wanted: u16) -> Option<Vec<u8>> {
    let mut attributes = NlasIterator::new(attributes).flatten();
    Some(attributes.find(|one| one.kind() == wanted)?.value().to_vec())
}

/// Whether IPv6 is ready on the interface of an `RTM_NEWLINK` payload (`IF_READY`): it is up, has
/// had a carrier since, and the kernel has added the addresses of its own.
pub(crate) fn has_ipv6_ready(payload: &[u8]) -> bool {
    let flags = || {
        let families = attribute(payload, libc::IFLA_AF_SPEC)?;
        parse_u32(&inside(&inside(&families, IPV6)?, IFLA_INET6_FLAGS)?).ok()
    };
    flags().is_some_and(|flags| flags & IF_READY != 0)
}

// From linux/if_link.h, and from the kernel's net/if_inet6.h. The attributes of a family have its
// number.
const IPV6: u16 = libc::AF_INET6 as u16;
const IFLA_INET6_FLAGS: u16 = 1;
const IF_READY: u32 = 1 << 31;

fn counters(all: Stats64) -> LinkCounters {
    LinkCounters {
        rx_packets: all.rx_packets,
        tx_packets: all.tx_packets,
        rx_bytes: all.rx_bytes,
        tx_bytes: all.tx_bytes,
        rx_errors: all.rx_errors,
        tx_errors: all.tx_errors,
        rx_dropped: all.rx_dropped,
        tx_dropped: all.tx_dropped,
    }
}

pub(crate) fn hardware_address(value: &[u8]) -> String {
    value.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(":")
}

#[cfg(test)]
mod tests {
    use netlink_packet_core::DefaultNla;
    use proptest::prelude::*;

    use super::*;
    use crate::kernel::attributes::{bytes, nested, string};

    /// The payload of a link: its index, its flags, its attributes.
    fn payload(index: u32, flags: LinkFlags, attributes: &[DefaultNla]) -> Vec<u8> {
        let header = LinkHeader { index, flags, ..LinkHeader::default() };
        let mut payload = vec![0; header.buffer_len()];
        header.emit(&mut payload);
        payload.extend(bytes(attributes));
        payload
    }

    fn number(kind: u16, number: u32) -> DefaultNla {
        DefaultNla::new(kind, number.to_ne_bytes().to_vec())
    }

    #[test]
    fn a_link_is_read_whole() {
        let stats: Vec<u8> = (1u64..=25).flat_map(u64::to_ne_bytes).collect();
        let attributes = [
            string(libc::IFLA_IFNAME, "v0"),
            number(libc::IFLA_MTU, 9000),
            number(libc::IFLA_MIN_MTU, 68),
            number(libc::IFLA_MAX_MTU, 0),
            DefaultNla::new(libc::IFLA_ADDRESS, vec![2, 0, 0x5e, 0, 0x53, 1]),
            DefaultNla::new(libc::IFLA_STATS64, stats),
            nested(libc::IFLA_LINKINFO, &[string(libc::IFLA_INFO_KIND, "veth")]),
        ];
        let flags = LinkFlags::Up | LinkFlags::Running | LinkFlags::LowerUp;
        let expected = Link {
            index: 5,
            name: "v0".to_owned(),
            kind: Some("veth".to_owned()),
            mtu: 9000,
            min_mtu: Some(68),
            max_mtu: None,
            up: true,
            carrier: true,
            running: true,
            address: Some("02:00:5e:00:53:01".to_owned()),
            counters: LinkCounters {
                rx_packets: 1,
                tx_packets: 2,
                rx_bytes: 3,
                tx_bytes: 4,
                rx_errors: 5,
                tx_errors: 6,
                rx_dropped: 7,
                tx_dropped: 8,
            },
        };
        assert_eq!(Link::parse(&payload(5, flags, &attributes)).unwrap(), expected);
    }

    #[test]
    fn an_odd_attribute_does_not_spoil_the_link_but_a_missing_name_does() {
        let parse = |attributes: &[DefaultNla]| Link::parse(&payload(1, LinkFlags::empty(), attributes));
        let odd = DefaultNla::new(libc::IFLA_MTU, vec![1, 2]);
        assert!(parse(std::slice::from_ref(&odd)).is_err());
        let future = DefaultNla::new(9999, b"from the future".to_vec());
        let link = parse(&[odd, string(libc::IFLA_IFNAME, "lo"), future]).unwrap();
        assert_eq!((link.name.as_str(), link.mtu, link.up, link.kind), ("lo", 0, false, None));
    }

    #[test]
    fn ipv6_is_ready_where_the_kernel_says_so() {
        let is_ready = |family: u16, flags: u32| {
            let ipv6 = nested(family, &[number(IFLA_INET6_FLAGS, flags)]);
            has_ipv6_ready(&payload(1, LinkFlags::Up, &[nested(libc::IFLA_AF_SPEC, &[ipv6])]))
        };
        assert!(is_ready(IPV6, 0x8000_0010) && !is_ready(IPV6, 0x10) && !is_ready(2, 0x8000_0010));
        assert!(!has_ipv6_ready(&payload(1, LinkFlags::Up, &[])) && !has_ipv6_ready(b""));
    }

    proptest! {
        #[test]
        fn any_attributes_are_read_or_refused(
            list in prop::collection::vec((0u16..60, prop::collection::vec(any::<u8>(), 0..60)), 0..12)
        ) {
            let named = list.iter().rfind(|(kind, _)| *kind == libc::IFLA_IFNAME)
                .is_some_and(|(_, value)| parse_string(value).is_ok_and(|name| !name.is_empty()));
            let list: Vec<_> = list.into_iter().map(|(kind, value)| DefaultNla::new(kind, value)).collect();
            let link = Link::parse(&payload(1, LinkFlags::empty(), &list));
            prop_assert_eq!(link.is_ok(), named);
        }
    }
}
