//! An interface of a host, and its hardware.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::kernel::files::Machine;
use crate::link::device::{DeviceSettings, is_chosen};
use crate::link::ethtool::Ethtool;
use crate::link::features::Features;
use crate::link::interface::Link;
use crate::link::ioctl::driver_info;
use crate::link::links::Links;
use crate::link::programs::Programs;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InterfaceEnvironment {
    pub link: Link,
    pub driver: Option<String>,
    /// The longest time that receive work may wait to merge more packets, in ns.
    pub gro_flush_timeout: Option<u64>,
    /// The polls of a receive queue before its interrupt is enabled again.
    pub napi_defer_hard_irqs: Option<u64>,
    #[serde(deserialize_with = "words::names::features")]
    pub features: Option<Features>,
    /// Numbers that the driver chooses by itself are missing, because they change all the time.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub device: DeviceSettings,
    #[serde(default, skip_serializing_if = "Hardware::is_unknown")]
    pub hardware: Hardware,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub programs: Programs,
    /// CPUs of each receive queue (`rx-0`), as a mask; missing if `/sys` is another namespace's.
    pub receive_steering: BTreeMap<String, String>,
    /// The CPUs that use each transmit queue (`tx-0`), as the kernel's mask.
    pub transmit_steering: BTreeMap<String, String>,
}

impl InterfaceEnvironment {
    pub(super) fn read(files: &Machine, name: &str) -> Option<Self> {
        let mut links = Links::open().ok()?;
        let link = links.find(name).ok()?;
        // An alternative name finds the interface too, and has no directory in sysfs.
        let name = link.name.as_str();
        let mut ethtool = Ethtool::open().ok();
        let features = ethtool.as_mut().and_then(|ethtool| ethtool.features(name).ok());
        let device = ethtool.as_mut().and_then(|ethtool| ethtool.device(name).ok()).unwrap_or_default();
        let device = device.iter().filter(|(setting, _)| !is_chosen(**setting, &device));
        let sysfs = link.sysfs(files);
        let [driver_version, firmware, bus] = driver_info(name);
        let hardware = sysfs.as_ref().map(|directory| Hardware::read(files, directory)).unwrap_or_default();
        let file = |name: &str| files.text(&format!("{}/{name}", sysfs.as_ref()?));
        let number = |name: &str| file(name)?.parse().ok();
        let masks = |prefix: &str, mask: &str| {
            let queues = sysfs.as_ref().map(|directory| format!("{directory}/queues"));
            queues.map(|queues| files.texts(&queues, prefix, mask)).unwrap_or_default()
        };
        Some(Self {
            gro_flush_timeout: number("gro_flush_timeout"),
            napi_defer_hard_irqs: number("napi_defer_hard_irqs"),
            receive_steering: masks("rx-", "/rps_cpus"),
            transmit_steering: masks("tx-", "/xps_cpus"),
            driver: file("device/uevent").and_then(|text| {
                text.lines().find_map(|line| line.strip_prefix("DRIVER=")).map(str::to_owned)
            }),
            features,
            device: device.map(|(setting, value)| (*setting, *value)).collect(),
            hardware: Hardware { driver_version, firmware, bus, ..hardware },
            programs: links.programs(&link),
            // The part that is stored.
            link: Link {
                permanent_address: None,
                master: None,
                is_ours: false,
                has_ipv6_ready: false,
                xdp: None,
                vxlan: None,
                ..link
            },
        })
    }
}

/// The hardware of an interface, as far as the kernel tells it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Hardware {
    pub driver_version: Option<String>,
    pub firmware: Option<String>,
    /// Its place on the bus, for example `0000:3b:00.0`.
    pub bus: Option<String>,
    /// In 10^6 bits/s, as negotiated or as the driver states it.
    pub speed: Option<u64>,
    /// `full` or `half`.
    pub duplex: Option<String>,
    /// The speed of its PCIe link, for example `8.0 GT/s PCIe`.
    pub pcie_speed: Option<String>,
    pub pcie_speed_most: Option<String>,
    pub pcie_width: Option<u64>,
    pub pcie_width_most: Option<u64>,
    pub numa_node: Option<u64>,
}

impl Hardware {
    fn read(files: &Machine, directory: &str) -> Self {
        // -1, and a PCIe width of 255, are unknown; virtual devices have a width of 0.
        let number = |name: &str| files.number::<u64>(&format!("{directory}/{name}"));
        let width = |name: &str| number(name).filter(|lanes| (1..=64).contains(lanes));
        let text = |name: &str| {
            files.text(&format!("{directory}/{name}")).filter(|text| !text.to_lowercase().contains("unknown"))
        };
        Self {
            speed: number("speed").filter(|speed| (1..u64::from(u32::MAX)).contains(speed)),
            duplex: text("duplex"),
            pcie_speed: text("device/current_link_speed"),
            pcie_speed_most: text("device/max_link_speed"),
            pcie_width: width("device/current_link_width"),
            pcie_width_most: width("device/max_link_width"),
            numa_node: number("device/numa_node"),
            ..Self::default()
        }
    }

    /// Whether nothing is known of it.
    pub fn is_unknown(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::files::fixture::files;

    #[test]
    fn a_card_is_read_and_what_is_unknown_is_missing() {
        let (_keep, tree) = files(&[
            ("eth0/speed", "25000\n"),
            ("eth0/duplex", "full\n"),
            ("eth0/device/current_link_speed", "8.0 GT/s PCIe\n"),
            ("eth0/device/max_link_speed", "16.0 GT/s PCIe\n"),
            ("eth0/device/current_link_width", "8\n"),
            ("eth0/device/max_link_width", "16\n"),
            ("eth0/device/numa_node", "1\n"),
            ("eth1/speed", "-1\n"),
            ("eth1/duplex", "unknown\n"),
            ("eth1/device/current_link_speed", "Unknown\n"),
            ("eth1/device/current_link_width", "0\n"),
            ("eth1/device/max_link_width", "255\n"),
            ("eth1/device/numa_node", "-1\n"),
        ]);
        let card = Hardware::read(&tree, "eth0");
        assert_eq!((card.speed, card.duplex.as_deref()), (Some(25_000), Some("full")));
        assert_eq!(card.pcie_speed.as_deref(), Some("8.0 GT/s PCIe"));
        assert_eq!((card.pcie_width, card.pcie_width_most, card.numa_node), (Some(8), Some(16), Some(1)));
        let unknown = Hardware::read(&tree, "eth1");
        assert!(unknown.is_unknown(), "{unknown:?}");
    }
}
