//! Evidence from the path between the ends.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use words::Side;

use crate::figure::{bits, count, percent};

/// An interface that carried as much as it can.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AtLinkRate {
    pub side: Side,
    /// Whether it sent so much; else it received it.
    pub sent: bool,
    /// The rate carried, with headers, in bits/s.
    pub carried_bits: f64,
    /// The highest possible rate, in bits/s.
    pub rate_bits: f64,
    pub from: String,
    /// Packets that its queue delayed, and that it dropped.
    pub delayed: u64,
    pub dropped: u64,
}

/// Drops, errors and pauses by an interface's driver's own counters (`ethtool -S`), beside those of
/// the kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Driver {
    pub side: Side,
    #[serde(deserialize_with = "words::names::interfaces")]
    pub interface: String,
    /// The numbers of losses, by the driver's names.
    pub losses: BTreeMap<String, u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum LossPlace {
    #[error("{0}'s socket")]
    Socket(Side),
    #[error("the device, or the backlog, before the {0}")]
    Behind(Side),
    /// `wire`: its kind.
    #[error("the queue before the {side}'s wire ({wire})")]
    Queue { side: Side, wire: String },
    #[error("the {0}'s device")]
    Device(Side),
    #[error("a place without a counter")]
    Uncounted,
}

impl fmt::Display for AtLinkRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { side, carried_bits: carried, rate_bits: rate, from, .. } = self;
        let did = if self.sent { "sent" } else { "received" };
        let (share, carried, rate) = (percent(carried / rate), bits(*carried), bits(*rate));
        write!(f, "{side} {did} {carried} with headers, {share} of {rate} ({from})")?;
        match (self.delayed, self.dropped) {
            (0, 0) => Ok(()),
            (delayed, dropped) => {
                write!(f, "; delayed packets {} times, dropped {}", count(delayed), count(dropped))
            }
        }
    }
}

// The number of a driver's counters that the sentence names: the largest.
const NAMED: usize = 3;

impl fmt::Display for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { side, interface, losses } = self;
        let mut largest: Vec<(&String, &u64)> = losses.iter().collect();
        largest.sort_by_key(|(_, losses)| std::cmp::Reverse(**losses));
        let named = largest.iter().take(NAMED).map(|(name, losses)| format!("{name} {}", count(**losses)));
        let named = named.collect::<Vec<_>>().join(", ");
        write!(f, "the driver of {side}'s {interface} counted {named}")?;
        match largest.len().saturating_sub(NAMED) {
            0 => Ok(()),
            more => write!(f, " and {more} more of losses"),
        }
    }
}

pub(super) fn needlessly(needless: u64, retransmitted: u64) -> String {
    if needless == 0 {
        return String::new();
    }
    let share = percent(needless as f64 / retransmitted.max(1) as f64);
    format!(", {} of them ({share}) needlessly (they had arrived: reordering)", count(needless))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_losses_of_a_driver_are_named() {
        let mut driver = Driver {
            side: Side::Receiver,
            interface: "ens1f0".to_owned(),
            losses: [("rx_missed_errors".to_owned(), 1_234)].into(),
        };
        assert_eq!(driver.to_string(), "the driver of receiver's ens1f0 counted rx_missed_errors 1,234");
        driver.losses.extend([5, 7, 9].map(|count| (format!("rx{count}_drops"), count)));
        assert_eq!(
            driver.to_string(),
            "the driver of receiver's ens1f0 counted rx_missed_errors 1,234, rx9_drops 9, rx7_drops 7 and 1 more of losses"
        );
    }
}
