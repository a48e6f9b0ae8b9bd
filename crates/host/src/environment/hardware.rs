//! The hardware of an interface.

use serde::{Deserialize, Serialize};

use crate::kernel::files::Files;
use crate::link::driver::DriverInfo;

/// The hardware of an interface. What the kernel does not tell, or a virtual interface does not
/// have, is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Hardware {
    /// The version of the driver; the kernel's own drivers mostly have the kernel's.
    pub driver_version: Option<String>,
    /// The version of the device's firmware.
    pub firmware: Option<String>,
    /// Its place on the bus, for example `0000:3b:00.0`.
    pub bus: Option<String>,
    /// The speed of the link in 10^6 bits/s, as negotiated or as the driver states it.
    pub speed: Option<u64>,
    /// `full` or `half`.
    pub duplex: Option<String>,
    /// The speed of its PCIe link, for example `8.0 GT/s PCIe`.
    pub pcie_speed: Option<String>,
    /// The fastest speed that the device supports.
    pub pcie_speed_most: Option<String>,
    /// The lanes of its PCIe link.
    pub pcie_width: Option<u64>,
    /// The most lanes that the device supports.
    pub pcie_width_most: Option<u64>,
    /// The NUMA node that it is near to.
    pub numa_node: Option<u64>,
}

impl Hardware {
    /// Reads the hardware. `sysfs`: the interface's directory, if `/sys` shows its network
    /// namespace.
    pub(super) fn read(files: &Files, sysfs: Option<&str>, interface: &str) -> Self {
        let told = DriverInfo::read(interface);
        let of_files = sysfs.map(|directory| Self::from_sysfs(files, directory)).unwrap_or_default();
        Self { driver_version: told.version, firmware: told.firmware, bus: told.bus, ..of_files }
    }

    fn from_sysfs(files: &Files, directory: &str) -> Self {
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
    #[must_use]
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
        let card = Hardware::from_sysfs(&tree, "eth0");
        assert_eq!((card.speed, card.duplex.as_deref()), (Some(25_000), Some("full")));
        assert_eq!(card.pcie_speed.as_deref(), Some("8.0 GT/s PCIe"));
        assert_eq!((card.pcie_width, card.pcie_width_most, card.numa_node), (Some(8), Some(16), Some(1)));
        assert!(
            Hardware::from_sysfs(&tree, "eth1").is_unknown(),
            "{:?}",
            Hardware::from_sysfs(&tree, "eth1")
        );
    }
}
