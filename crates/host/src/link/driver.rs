//! What the driver of an interface tells through ethtool's ioctl: its version, and its own
//! counters.

use std::os::fd::OwnedFd;

use crate::link::ioctl::{open, request};

/// What a driver tells of itself. Empty texts are missing.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct DriverInfo {
    pub(crate) driver: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) firmware: Option<String>,
    pub(crate) bus: Option<String>,
}

/// The names of a driver's counters, in the order of its values.
#[derive(Debug)]
pub(crate) struct DriverCounters {
    socket: OwnedFd,
    interface: String,
    names: Vec<String>,
}

/// More counters than this are not read. A card with 128 queues has some 13,000.
const MOST: usize = 16 << 10;

/// Room for so many: the kernel writes as many as the driver has at that moment, which may be more
/// than it told a moment before, if another program adds queues meanwhile.
const ROOM: usize = 4 * MOST;

/// Bytes of a name (`ETH_GSTRING_LEN`).
const NAME: usize = 32;

/// `ETHTOOL_GDRVINFO`, `ETHTOOL_GSTRINGS`, `ETHTOOL_GSTATS`, `ETHTOOL_GSSET_INFO`.
const DRIVER: u32 = 0x03;
const NAMES: u32 = 0x1b;
const VALUES: u32 = 0x1d;
const COUNT: u32 = 0x37;
/// `ETH_SS_STATS`.
const COUNTERS: u32 = 1;

impl DriverInfo {
    /// Of an interface; everything is missing if its driver tells nothing.
    pub(crate) fn read(interface: &str) -> Self {
        // `struct ethtool_drvinfo`: the command, five texts of 32 bytes, 12 bytes, five numbers.
        let mut buffer = vec![0u8; 4 + 5 * NAME + 12 + 5 * 4];
        buffer[..4].copy_from_slice(&DRIVER.to_ne_bytes());
        let Ok(socket) = open() else { return Self::default() };
        if request(&socket, interface, &mut buffer).is_err() {
            return Self::default();
        }
        let text = |index: usize| {
            let start = 4 + index * NAME;
            Some(name(&buffer[start..start + NAME])).filter(|text| !text.is_empty() && text != "N/A")
        };
        Self { driver: text(0), version: text(1), firmware: text(2), bus: text(3) }
    }
}

impl DriverCounters {
    /// The counters of an interface's driver; `None` if it has none, or far too many.
    pub(crate) fn open(interface: &str) -> Option<Self> {
        let socket = open().ok()?;
        // `struct ethtool_sset_info`: the command, a reserved number, the mask of sets, a number
        // for each set.
        let mut count = Vec::new();
        [COUNT, 0, 1 << COUNTERS, 0, 0].iter().for_each(|word| count.extend(word.to_ne_bytes()));
        if request(&socket, interface, &mut count).is_err() || number(&count, 8) != Some(1 << COUNTERS) {
            return None;
        }
        let expected = number(&count, 16)? as usize;
        if expected == 0 || expected > MOST {
            return None;
        }
        // `struct ethtool_gstrings`: the command, the set, the number of names, the names.
        let mut names = vec![0u8; 12 + ROOM * NAME];
        [NAMES, COUNTERS, number(&count, 16)?]
            .iter()
            .enumerate()
            .for_each(|(at, word)| names[4 * at..4 * at + 4].copy_from_slice(&word.to_ne_bytes()));
        if request(&socket, interface, &mut names).is_err() {
            return None;
        }
        let found = (number(&names, 8)? as usize).min(MOST);
        let names = names[12..12 + found * NAME].chunks_exact(NAME).map(name).collect();
        Some(Self { socket, interface: interface.to_owned(), names })
    }

    /// The names.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// Their values, in the order of the names; `None` if the driver has other counters now.
    pub(crate) fn values(&self) -> Option<Vec<u64>> {
        // `struct ethtool_stats`: the command, the number of values, the values.
        let mut buffer = vec![0u8; 8 + ROOM * 8];
        buffer[..4].copy_from_slice(&VALUES.to_ne_bytes());
        buffer[4..8].copy_from_slice(&u32::try_from(self.names.len()).ok()?.to_ne_bytes());
        if request(&self.socket, &self.interface, &mut buffer).is_err()
            || number(&buffer, 4)? as usize != self.names.len()
        {
            return None;
        }
        let values = buffer[8..8 + self.names.len() * 8].chunks_exact(8);
        Some(values.map(|bytes| bytes.try_into().map_or(0, u64::from_ne_bytes)).collect())
    }
}

/// A name of the driver's: up to its NUL, without control characters.
fn name(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    words::sanitised_line(String::from_utf8_lossy(&bytes[..end]).trim()).into_owned()
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_ends_at_its_nul_and_has_no_control_characters() {
        assert_eq!(name(b"rx_queue_0_drops\0junk"), "rx_queue_0_drops");
        assert!(!name(b"a\x1b[2Jb\nc\0").contains(['\x1b', '\n']));
        assert_eq!(name(b"\0"), "");
        assert_eq!(name(&[b'x'; NAME]).len(), NAME);
    }

    #[test]
    fn an_interface_that_is_not_there_has_no_driver() {
        assert_eq!(DriverInfo::read("no-such-thing"), DriverInfo::default());
        assert!(DriverCounters::open("no-such-thing").is_none());
        assert!(DriverCounters::open("a-name-that-is-too-long").is_none());
    }
}
