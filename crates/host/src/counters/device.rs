//! The counters of an interface's driver (`ethtool -S`): which queue dropped packets, and why.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;

use serde::{Deserialize, Serialize};

use crate::link::ioctl;

const MOST: usize = 32;

/// The changes of the counters of an interface's driver, by the driver's own names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceCounters {
    /// The interface.
    #[serde(deserialize_with = "words::names::interfaces")]
    pub interface: String,
    /// Counters that changed, at most 32: first counters of drops, errors and pauses, then those of
    /// queues.
    pub changed: BTreeMap<String, u64>,
    /// The number of further counters that changed.
    pub left_out: u64,
}

impl DeviceCounters {
    /// Drops, failures and pauses, by the counters' names.
    pub fn losses(&self) -> impl Iterator<Item = (&str, u64)> {
        let losses = self.changed.iter().filter(|(name, _)| rank(name) == LOSS);
        losses.map(|(name, count)| (name.as_str(), *count))
    }
}

/// Reads the counters of one interface's driver repeatedly. Their names are read once.
#[derive(Debug)]
pub struct DeviceReader {
    interface: String,
    socket: Option<OwnedFd>,
    /// The names of the counters; none of a driver without counters.
    pub names: Vec<String>,
}

impl DeviceReader {
    /// Finds the counters of the driver.
    #[must_use]
    pub fn open(interface: &str) -> Self {
        let socket = ioctl::open().ok();
        let names = socket.as_ref().and_then(|socket| ioctl::counter_names(socket, interface));
        Self { interface: interface.to_owned(), socket, names: names.unwrap_or_default() }
    }

    /// The values of the counters, in the order of the names.
    #[must_use]
    pub fn read(&self) -> Vec<u64> {
        let socket = self.socket.as_ref().filter(|_| !self.names.is_empty());
        let values = socket.and_then(|it| ioctl::counter_values(it, &self.interface, self.names.len()));
        values.unwrap_or_default()
    }

    /// The differences between two readings.
    #[must_use]
    pub fn passed(&self, earlier: &[u64], later: &[u64]) -> DeviceCounters {
        changed(&self.interface, self.names.iter().map(String::as_str).zip(earlier.iter().zip(later)))
    }
}

fn changed<'n>(
    interface: &str,
    values: impl Iterator<Item = (&'n str, (&'n u64, &'n u64))>,
) -> DeviceCounters {
    let grown = values.filter_map(|(name, (earlier, later))| {
        let passed = later.saturating_sub(*earlier);
        (passed > 0 && !name.is_empty()).then_some((name, passed))
    });
    let mut grown: Vec<(&str, u64)> = grown.collect();
    // Stable: counters of one rank stay in the driver's order.
    grown.sort_by_key(|(name, _)| rank(name));
    let left_out = grown.len().saturating_sub(MOST) as u64;
    grown.truncate(MOST);
    let changed = grown.into_iter().map(|(name, passed)| (name.to_owned(), passed)).collect();
    DeviceCounters { interface: interface.to_owned(), changed, left_out }
}

const LOSS: u8 = 0;

/// Losses first, then the counters of single queues, then totals, which the kernel has too.
fn rank(name: &str) -> u8 {
    const WORDS: [&str; 15] = [
        "drop",
        "error",
        "errs",
        "missed",
        "discard",
        "fail",
        "timeout",
        "overrun",
        "no_buf",
        "nobuf",
        "out_of",
        "pause",
        "flow_control",
        "xon",
        "xoff",
    ];
    let name = name.to_lowercase();
    if WORDS.iter().any(|word| name.contains(word)) {
        LOSS
    } else if name.bytes().any(|byte| byte.is_ascii_digit()) {
        1
    } else {
        2
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn passed(values: &[(&str, u64, u64)]) -> DeviceCounters {
        changed("eth0", values.iter().map(|(name, earlier, later)| (*name, (earlier, later))))
    }

    #[test]
    fn only_what_grew_is_kept() {
        let found = passed(&[("rx0_drops", 5, 8), ("peer_ifindex", 2, 2), ("reset", 9, 1), ("", 0, 1)]);
        assert_eq!(found.changed, [("rx0_drops".to_owned(), 3)].into());
        assert_eq!((found.left_out, found.interface.as_str()), (0, "eth0"));
    }

    #[test]
    fn loss_and_queues_come_first() {
        let many: Vec<String> = (0..40).map(|queue| format!("rx_{queue}_packets")).collect();
        let mut values: Vec<(&str, u64, u64)> = vec![("rx_packets", 0, 9)];
        values.extend(many.iter().map(|name| (name.as_str(), 0, 1)));
        values.push(("rx_missed_errors", 1, 2));
        let found = passed(&values);
        assert_eq!(found.changed.len(), MOST);
        assert_eq!(found.left_out, 42 - MOST as u64);
        assert!(found.changed.contains_key("rx_missed_errors") && !found.changed.contains_key("rx_packets"));
        assert!(found.changed.contains_key("rx_0_packets"));
        assert_eq!(found.losses().collect::<Vec<_>>(), [("rx_missed_errors", 1)]);
        assert_eq!(passed(&[("rx_0_interrupts", 0, 7)]).losses().count(), 0);
    }

    proptest! {
        #[test]
        fn each_counter_that_grew_is_kept_or_counted(
            values in prop::collection::btree_map("[a-z0-9_]{1,9}", any::<[u64; 2]>(), 0..80)
        ) {
            let list: Vec<(&str, u64, u64)> =
                values.iter().map(|(name, [one, other])| (name.as_str(), *one, *other)).collect();
            let found = passed(&list);
            let grown = list.iter().filter(|(_, earlier, later)| later > earlier).count();
            prop_assert_eq!(found.changed.len() + found.left_out as usize, grown);
            prop_assert!(found.changed.len() <= MOST);
        }
    }
}
