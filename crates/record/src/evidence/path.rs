//! Evidence from the path between the ends.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use words::Side;

use crate::figure::{count, percent};

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

pub(super) fn queued(delayed: u64, dropped: u64) -> String {
    if (delayed, dropped) == (0, 0) {
        return String::new();
    }
    format!("; delayed packets {} times, dropped {}", count(delayed), count(dropped))
}

// The number of a driver's counters that the sentence names: the largest.
const NAMED: usize = 3;

pub(super) fn largest_losses(losses: &BTreeMap<String, u64>) -> String {
    let mut largest: Vec<(&String, &u64)> = losses.iter().collect();
    largest.sort_by_key(|(_, losses)| std::cmp::Reverse(**losses));
    let named = largest.iter().take(NAMED).map(|(name, losses)| format!("{name} {}", count(**losses)));
    let named = named.collect::<Vec<_>>().join(", ");
    match largest.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named} and {more} more of losses"),
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
    use crate::evidence::Evidence;

    #[test]
    fn the_largest_losses_of_a_driver_are_named() {
        let told = |losses: &[(&str, u64)]| {
            let losses = losses.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
            let interface = "ens1f0".to_owned();
            Evidence::Driver { side: Side::Receiver, interface, losses }.to_string()
        };
        assert_eq!(
            told(&[("rx_missed_errors", 1_234)]),
            "the driver of receiver's ens1f0 counted rx_missed_errors 1,234"
        );
        assert_eq!(
            told(&[("rx_missed_errors", 1_234), ("rx5_drops", 5), ("rx7_drops", 7), ("rx9_drops", 9)]),
            "the driver of receiver's ens1f0 counted rx_missed_errors 1,234, rx9_drops 9, rx7_drops 7 and 1 more of losses"
        );
    }
}
