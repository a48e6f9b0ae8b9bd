//! One interface, as the kernel reports it.

use nix::libc;
use serde::{Deserialize, Serialize};

use crate::kernel::attributes::{TYPE, attribute, attributes, text, u32_at, u64_at};
use crate::kernel::counted::counted;
use crate::kernel::files::Machine;
use crate::link::links::GROUP;
use crate::link::programs::ProgramPlace;

/// One interface of a network namespace. What is not stored is known where the kernel was asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Unique in its network namespace.
    pub index: u32,
    #[serde(deserialize_with = "words::names::interfaces")]
    pub name: String,
    /// `veth`, `vxlan`, `bridge` …; `None` for hardware and loopback.
    pub kind: Option<String>,
    /// In bytes, as are the driver's bounds.
    pub mtu: u32,
    pub min_mtu: Option<u32>,
    pub max_mtu: Option<u32>,
    /// Whether it is set up (`IFF_UP`).
    pub up: bool,
    /// Whether the layer below works (`IFF_LOWER_UP`): of a veth, whether both its ends are up.
    pub carrier: bool,
    /// Whether the kernel has noticed the carrier (`IFF_RUNNING`): before, the queue drops packets.
    pub running: bool,
    /// The link-layer address, for example `02:00:5e:00:53:01`.
    pub address: Option<String>,
    /// The root queueing discipline: `fq_codel`, `mq` with several queues, `noqueue`. Files of
    /// earlier versions do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub qdisc: Option<String>,
    pub counters: LinkCounters,
    #[serde(skip)]
    pub permanent_address: Option<String>,
    /// The index of the interface, such as a bridge, that this one is a port of.
    #[serde(skip)]
    pub master: Option<u32>,
    /// Whether netassay made it ([`GROUP`]).
    #[serde(skip)]
    pub is_ours: bool,
    /// Up, has had a carrier since, and the kernel has added its own IPv6 addresses (`IF_READY`).
    #[serde(skip)]
    pub has_ipv6_ready: bool,
    /// The place of an XDP program.
    #[serde(skip)]
    pub xdp: Option<ProgramPlace>,
    /// The network and the port of a tunnel.
    #[serde(skip)]
    pub vxlan: Option<(u32, u16)>,
}

counted! {
    /// Bytes include link-layer headers; with segmentation offload a packet can hold many segments.
    pub struct LinkCounters {
        rx_packets,
        tx_packets,
        rx_bytes,
        tx_bytes,
        rx_errors,
        tx_errors,
        /// Received: no memory, or a full backlog.
        rx_dropped,
        /// Given to the device but not sent.
        tx_dropped,
    }
}

/// The length of `struct ifinfomsg`, whose index is at 4, and flags at 8.
pub(crate) const LINK_HEADER: usize = 16;

// linux/if_link.h, and the kernel's net/if_inet6.h. Attributes of a family have its number.
const IFLA_VXLAN_ID: u16 = 1;
const IFLA_VXLAN_PORT: u16 = 15;
pub(crate) const IPV6: u16 = libc::AF_INET6 as u16;
const IFLA_INET6_FLAGS: u16 = 1;
const IF_READY: u32 = 1 << 31;
// `IFLA_XDP_ATTACHED`, and of its values those for no program and for the generic place.
const XDP_ATTACHED: u16 = 2;
const XDP_NONE: u8 = 0;
const XDP_GENERIC: u8 = 2;

impl Link {
    /// Reads an `RTM_NEWLINK` payload.
    pub(crate) fn parse(payload: &[u8]) -> Option<Self> {
        let flags = u32_at(payload, 8)?;
        let has = |flag: libc::c_int| flags & flag.cast_unsigned() != 0;
        let mut link = Self {
            index: u32_at(payload, 4)?,
            up: has(libc::IFF_UP),
            carrier: has(libc::IFF_LOWER_UP),
            running: has(libc::IFF_RUNNING),
            ..Self::default()
        };
        // An attribute of an unexpected size must not hide the others.
        for (kind, value) in attributes(payload.get(LINK_HEADER..)?) {
            link.add(kind & TYPE, value);
        }
        (!link.name.is_empty()).then_some(link)
    }

    /// Its directory, if sysfs shows this network namespace.
    pub(crate) fn sysfs(&self, files: &Machine) -> Option<String> {
        let directory = format!("sys/class/net/{}", self.name);
        // An interface of another namespace may have the same name, and even the same index.
        let own = files.number(&format!("{directory}/ifindex")) == Some(self.index)
            && files.text(&format!("{directory}/address")) == self.address;
        own.then_some(directory)
    }

    fn add(&mut self, kind: u16, value: &[u8]) {
        let number = u32_at(value, 0);
        match kind {
            libc::IFLA_IFNAME => self.name = text(value).unwrap_or_default(),
            libc::IFLA_MTU => self.mtu = number.unwrap_or_default(),
            // 0 means "no limit of its own".
            libc::IFLA_MIN_MTU => self.min_mtu = number.filter(|mtu| *mtu != 0),
            libc::IFLA_MAX_MTU => self.max_mtu = number.filter(|mtu| *mtu != 0),
            libc::IFLA_ADDRESS => self.address = hardware_address(value),
            libc::IFLA_QDISC => self.qdisc = text(value),
            libc::IFLA_PERM_ADDRESS => self.permanent_address = hardware_address(value),
            libc::IFLA_MASTER => self.master = number,
            libc::IFLA_GROUP => self.is_ours = number == Some(GROUP),
            libc::IFLA_STATS64 => self.counters = LinkCounters::parse(value),
            libc::IFLA_LINKINFO => {
                self.kind = attribute(value, libc::IFLA_INFO_KIND).and_then(text);
                let data = attribute(value, libc::IFLA_INFO_DATA);
                self.vxlan = data.filter(|_| self.kind.as_deref() == Some("vxlan")).and_then(vxlan);
            }
            libc::IFLA_AF_SPEC => {
                let ipv6 = attribute(value, IPV6).and_then(|ipv6| attribute(ipv6, IFLA_INET6_FLAGS));
                let flags = ipv6.and_then(|flags| u32_at(flags, 0)).unwrap_or(0);
                self.has_ipv6_ready = flags & IF_READY != 0;
            }
            libc::IFLA_XDP => self.xdp = xdp(value),
            _ => {}
        }
    }
}

impl LinkCounters {
    fn parse(value: &[u8]) -> Self {
        // `struct rtnl_link_stats64`.
        let [rx_packets, tx_packets, rx_bytes, tx_bytes, rx_errors, tx_errors, rx_dropped, tx_dropped] =
            std::array::from_fn(|place| u64_at(value, 8 * place).unwrap_or(0));
        Self { rx_packets, tx_packets, rx_bytes, tx_bytes, rx_errors, tx_errors, rx_dropped, tx_dropped }
    }
}

fn vxlan(data: &[u8]) -> Option<(u32, u16)> {
    let port = attribute(data, IFLA_VXLAN_PORT)?.try_into().ok()?;
    Some((u32_at(attribute(data, IFLA_VXLAN_ID)?, 0)?, u16::from_be_bytes(port)))
}

fn xdp(value: &[u8]) -> Option<ProgramPlace> {
    match *attribute(value, XDP_ATTACHED)?.first()? {
        XDP_NONE => None,
        XDP_GENERIC => Some(ProgramPlace::XdpGeneric),
        _ => Some(ProgramPlace::Xdp),
    }
}

pub(crate) fn hardware_address(value: &[u8]) -> Option<String> {
    let words: Vec<String> = value.iter().map(|byte| format!("{byte:02x}")).collect();
    (!words.is_empty()).then(|| words.join(":"))
}

#[cfg(test)]
mod tests;
