//! The losses that an interface's driver counts (`ethtool -S`), by queue and reason.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;

use serde::{Deserialize, Serialize};

use crate::link::ioctl;

const MOST: usize = 32;

/// The changes of the counters of losses of an interface's driver, by the driver's own names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceCounters {
    #[serde(deserialize_with = "words::names::interfaces")]
    pub interface: String,
    /// At most 32. Earlier versions also kept counters of other events.
    pub changed: BTreeMap<String, u64>,
    pub left_out: u64,
}

impl DeviceCounters {
    /// Drops, failures and pauses, by the counters' names.
    pub fn losses(&self) -> impl Iterator<Item = (&str, u64)> {
        let losses = self.changed.iter().filter(|(name, _)| is_loss(name));
        losses.map(|(name, count)| (name.as_str(), *count))
    }
}

/// Reads the counters of one interface's driver repeatedly.
#[derive(Debug)]
pub struct DeviceReader {
    interface: String,
    socket: Option<OwnedFd>,
    /// The names of the counters; none of a driver without counters.
    pub names: Vec<String>,
}

impl DeviceReader {
    /// Finds the counters of the driver.
    pub fn open(interface: &str) -> Self {
        let socket = ioctl::open().ok();
        let names = socket.as_ref().and_then(|socket| ioctl::counter_names(socket, interface));
        Self { interface: interface.to_owned(), socket, names: names.unwrap_or_default() }
    }

    /// The values of the counters, in the order of the names.
    pub fn read(&self) -> Vec<u64> {
        let socket = self.socket.as_ref().filter(|_| !self.names.is_empty());
        let values = socket.and_then(|it| ioctl::counter_values(it, &self.interface, self.names.len()));
        values.unwrap_or_default()
    }

    /// The differences between two readings.
    pub fn passed(&self, earlier: &[u64], later: &[u64]) -> DeviceCounters {
        let values = self.names.iter().zip(earlier.iter().zip(later));
        let grown = values.filter_map(|(name, (earlier, later))| {
            let passed = later.saturating_sub(*earlier);
            (passed > 0 && is_loss(name)).then(|| (name.clone(), passed))
        });
        let grown: Vec<(String, u64)> = grown.collect();
        // A card with many queues has thousands of counters, and each run would store them.
        let left_out = grown.len().saturating_sub(MOST) as u64;
        let changed = grown.into_iter().take(MOST).collect();
        DeviceCounters { interface: self.interface.clone(), changed, left_out }
    }
}

// Drivers name their counters as they like: a part of the name tells a loss.
const LOSSES: &str = "drop error errs missed discard fail timeout overrun no_buf nobuf out_of pause \
                      flow_control xon xoff";

fn is_loss(name: &str) -> bool {
    let name = name.to_lowercase();
    LOSSES.split(' ').any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(values: &[(&str, u64, u64)]) -> DeviceCounters {
        let names = values.iter().map(|(name, ..)| (*name).to_owned()).collect();
        let reader = DeviceReader { interface: "eth0".to_owned(), socket: None, names };
        let earlier: Vec<u64> = values.iter().map(|(_, earlier, _)| *earlier).collect();
        let later: Vec<u64> = values.iter().map(|(.., later)| *later).collect();
        reader.passed(&earlier, &later)
    }

    #[test]
    fn only_what_grew_is_kept() {
        let found = read(&[("rx0_drops", 5, 8), ("rx1_drops", 2, 2), ("tx_errors", 9, 1), ("", 0, 1)]);
        assert_eq!(found.changed, [("rx0_drops".to_owned(), 3)].into());
        assert_eq!((found.left_out, found.interface.as_str()), (0, "eth0"));
    }

    #[test]
    fn losses_are_kept_up_to_the_bound() {
        let many: Vec<String> = (0..40).map(|queue| format!("rx_{queue}_Drops")).collect();
        let mut values: Vec<(&str, u64, u64)> = vec![("rx_packets", 0, 9)];
        values.extend(many.iter().map(|name| (name.as_str(), 0, 1)));
        let found = read(&values);
        assert_eq!((found.changed.len(), found.left_out), (MOST, 40 - MOST as u64));
        assert!(found.changed.contains_key("rx_0_Drops") && !found.changed.contains_key("rx_packets"));
        assert_eq!(found.losses().count(), MOST);
        let of_queues = [("rx_0_packets".to_owned(), 7), ("rx_missed_errors".to_owned(), 1)];
        let stored = DeviceCounters { changed: of_queues.into(), ..found };
        assert_eq!(stored.losses().collect::<Vec<_>>(), [("rx_missed_errors", 1)]);
    }

    proptest! {
        #[test]
        fn each_loss_that_grew_is_kept_or_counted(
            values in prop::collection::btree_map("[a-z0-9_]{0,4}(drop)?", any::<[u64; 2]>(), 0..80)
        ) {
            let list: Vec<(&str, u64, u64)> =
                values.iter().map(|(name, [one, other])| (name.as_str(), *one, *other)).collect();
            let found = read(&list);
            let grown = list.iter().filter(|(name, earlier, later)| later > earlier && is_loss(name)).count();
            prop_assert_eq!(found.changed.len() + found.left_out as usize, grown);
            prop_assert!(found.changed.len() <= MOST);
        }
    }
}
