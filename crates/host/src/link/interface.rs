//! What the kernel tells of one interface, read without trusting its bytes.

use serde::{Deserialize, Serialize};

use crate::kernel::attributes::{Attribute, attributes, number, text};
use crate::kernel::counted::counted;

/// One interface of a network namespace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// The index, unique in its network namespace.
    pub index: u32,
    /// The name, for example `eth0`.
    pub name: String,
    /// The kind of a virtual interface (`veth`, `vxlan`, `bridge` …); `None` for hardware and
    /// loopback.
    pub kind: Option<String>,
    /// The MTU in bytes.
    pub mtu: u32,
    /// The smallest MTU the driver takes, in bytes, if it says so.
    pub min_mtu: Option<u32>,
    /// The largest MTU the driver takes, in bytes, if it says so.
    pub max_mtu: Option<u32>,
    /// Whether it was set up by its administrator (`IFF_UP`).
    pub up: bool,
    /// Whether the layer below works (`IFF_LOWER_UP`). A veth has a carrier once both its ends are
    /// up.
    pub carrier: bool,
    /// Whether the kernel has taken notice of that (`IFF_RUNNING`). Before, the interface's queue
    /// drops packets without telling their sender.
    pub running: bool,
    /// The link-layer address, for example `02:00:5e:00:53:01`.
    pub address: Option<String>,
    /// What went through it since it was made.
    pub counters: LinkCounters,
}

counted! {
    /// Traffic of an interface since it was made (`IFLA_STATS64`). Packets are what the driver saw:
    /// with segmentation offload one of them can hold many segments.
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
        /// Packets received but not taken: no space, or a backlog that was full.
        rx_dropped,
        /// Packets given to the device but not sent.
        tx_dropped,
    }
}

/// `struct ifinfomsg`: family, padding, type (16 bits), index, flags, change mask (32 bits each).
const HEADER: usize = 16;
const IFF_UP: u32 = 1;
const IFF_RUNNING: u32 = 1 << 6;
const IFF_LOWER_UP: u32 = 1 << 16;

const IFLA_ADDRESS: u16 = 1;
const IFLA_IFNAME: u16 = 3;
const IFLA_MTU: u16 = 4;
const IFLA_LINKINFO: u16 = 18;
const IFLA_STATS64: u16 = 23;
const IFLA_MIN_MTU: u16 = 50;
const IFLA_MAX_MTU: u16 = 51;
const IFLA_INFO_KIND: u16 = 1;

impl Link {
    /// Reads an `RTM_NEWLINK` payload. Attributes that are unknown, or of another size than
    /// expected, are passed over: a machine with one odd interface must still list the others.
    pub(crate) fn parse(payload: &[u8]) -> Result<Self, String> {
        let (header, rest) = payload
            .split_first_chunk::<HEADER>()
            .ok_or_else(|| format!("a link in {} bytes", payload.len()))?;
        let [_, _, _, _, i0, i1, i2, i3, f0, f1, f2, f3, ..] = *header;
        let flags = u32::from_ne_bytes([f0, f1, f2, f3]);
        let mut link = Self {
            index: u32::from_ne_bytes([i0, i1, i2, i3]),
            name: String::new(),
            kind: None,
            mtu: 0,
            min_mtu: None,
            max_mtu: None,
            up: flags & IFF_UP != 0,
            carrier: flags & IFF_LOWER_UP != 0,
            running: flags & IFF_RUNNING != 0,
            address: None,
            counters: LinkCounters::default(),
        };
        for attribute in attributes(rest) {
            link.take(attribute?);
        }
        if link.name.is_empty() {
            return Err(format!("link {} has no name", link.index));
        }
        Ok(link)
    }

    fn take(&mut self, Attribute { kind, value }: Attribute<'_>) {
        match kind {
            IFLA_IFNAME => self.name = text(value).unwrap_or_default().to_owned(),
            IFLA_MTU => self.mtu = number(value).unwrap_or_default(),
            // 0 is the kernel's word for "no limit of its own".
            IFLA_MIN_MTU => self.min_mtu = number(value).filter(|mtu| *mtu != 0),
            IFLA_MAX_MTU => self.max_mtu = number(value).filter(|mtu| *mtu != 0),
            IFLA_ADDRESS => self.address = (!value.is_empty()).then(|| hardware_address(value)),
            IFLA_STATS64 => self.counters = counters(value),
            IFLA_LINKINFO => {
                self.kind = attributes(value)
                    .flatten()
                    .find(|info| info.kind == IFLA_INFO_KIND)
                    .and_then(|info| text(info.value))
                    .map(str::to_owned);
            }
            _ => {}
        }
    }
}

/// `struct rtnl_link_stats64`: 64-bit numbers, more of them in newer kernels; the first eight are
/// as old as the attribute.
fn counters(value: &[u8]) -> LinkCounters {
    let mut numbers = value.as_chunks::<8>().0.iter().map(|bytes| u64::from_ne_bytes(*bytes));
    let mut next = || numbers.next().unwrap_or_default();
    LinkCounters {
        rx_packets: next(),
        tx_packets: next(),
        rx_bytes: next(),
        tx_bytes: next(),
        rx_errors: next(),
        tx_errors: next(),
        rx_dropped: next(),
        tx_dropped: next(),
    }
}

fn hardware_address(value: &[u8]) -> String {
    value.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(":")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::kernel::attributes::{NESTED, push};

    fn header(index: u32, flags: u32) -> Vec<u8> {
        let mut bytes = vec![0; 4];
        bytes.extend(index.to_ne_bytes());
        bytes.extend(flags.to_ne_bytes());
        bytes.extend([0; 4]);
        bytes
    }

    #[test]
    fn a_link_is_read_whole() {
        let mut info = Vec::new();
        push(&mut info, IFLA_INFO_KIND, b"veth\0");
        let stats: Vec<u8> = (1u64..=25).flat_map(u64::to_ne_bytes).collect();
        let mut bytes = header(5, IFF_UP | IFF_RUNNING | IFF_LOWER_UP);
        push(&mut bytes, IFLA_IFNAME, b"v0\0");
        push(&mut bytes, IFLA_MTU, &9000u32.to_ne_bytes());
        push(&mut bytes, IFLA_MIN_MTU, &68u32.to_ne_bytes());
        push(&mut bytes, IFLA_MAX_MTU, &0u32.to_ne_bytes());
        push(&mut bytes, IFLA_ADDRESS, &[2, 0, 0x5e, 0, 0x53, 1]);
        push(&mut bytes, IFLA_STATS64, &stats);
        push(&mut bytes, IFLA_LINKINFO | NESTED, &info);
        let link = Link::parse(&bytes).unwrap();
        assert_eq!(
            link,
            Link {
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
            }
        );
    }

    #[test]
    fn an_odd_attribute_does_not_spoil_the_link_but_a_missing_name_does() {
        let mut bytes = header(1, 0);
        push(&mut bytes, IFLA_MTU, &[1, 2]);
        assert!(Link::parse(&bytes).is_err());
        push(&mut bytes, IFLA_IFNAME, b"lo\0");
        push(&mut bytes, 9999, b"from the future");
        let link = Link::parse(&bytes).unwrap();
        assert_eq!((link.name.as_str(), link.mtu, link.up, link.kind), ("lo", 0, false, None));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = Link::parse(&bytes);
        }

        #[test]
        fn any_attributes_are_read_or_refused(
            list in prop::collection::vec((0u16..60, prop::collection::vec(any::<u8>(), 0..60)), 0..12)
        ) {
            let mut bytes = header(1, 0);
            for (kind, value) in &list {
                push(&mut bytes, *kind, value);
            }
            let named = list.iter().rfind(|(kind, _)| *kind == IFLA_IFNAME)
                .is_some_and(|(_, value)| text(value).is_some_and(|name| !name.is_empty()));
            prop_assert_eq!(Link::parse(&bytes).is_ok(), named);
        }
    }
}
