//! A check of this host's clocks during a measurement.

use std::time::Duration;

use nix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

/// This host's clocks, read one right after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClockReading {
    monotonic_ns: u64,
    raw_ns: u64,
    boottime_ns: u64,
    source: Option<String>,
}

/// The time between two readings by each clock, in ns, and whether the kernel changed the clock
/// source.
///
/// The three differ when something went wrong: NTP slews `CLOCK_MONOTONIC` (at most 0.05 % by
/// `adjtime`, up to 10 % by `adjtimex`'s tick) but not `CLOCK_MONOTONIC_RAW`; only `CLOCK_BOOTTIME`
/// continues while the machine sleeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClockCheck {
    /// By `CLOCK_MONOTONIC`, the clock of all measurements.
    pub monotonic_ns: u64,
    /// By `CLOCK_MONOTONIC_RAW`.
    pub raw_ns: u64,
    /// By `CLOCK_BOOTTIME`.
    pub boottime_ns: u64,
    /// Whether the kernel changed the clock source, for example because `tsc` was unstable.
    pub source_changed: bool,
}

const SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

impl ClockReading {
    /// Reads the clocks, in less than 1 µs where the clock source needs no system call.
    #[must_use]
    pub fn read() -> Self {
        // The file first: it takes longest, and the clocks must be read together.
        let source = std::fs::read_to_string(SOURCE).ok().map(|text| text.trim().to_owned());
        Self {
            monotonic_ns: now(ClockId::CLOCK_MONOTONIC),
            raw_ns: now(ClockId::CLOCK_MONOTONIC_RAW),
            boottime_ns: now(ClockId::CLOCK_BOOTTIME),
            source,
        }
    }

    /// The difference from `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> ClockCheck {
        ClockCheck {
            monotonic_ns: self.monotonic_ns.saturating_sub(earlier.monotonic_ns),
            raw_ns: self.raw_ns.saturating_sub(earlier.raw_ns),
            boottime_ns: self.boottime_ns.saturating_sub(earlier.boottime_ns),
            source_changed: self.source != earlier.source,
        }
    }
}

/// The time of a clock; 0 without that clock: Linux has had all three since 2.6.39.
fn now(clock: ClockId) -> u64 {
    clock_gettime(clock).map_or(0, |time| u64::try_from(Duration::from(time).as_nanos()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clocks_go_on_and_a_change_of_their_source_shows() {
        let first = ClockReading::read();
        std::thread::sleep(Duration::from_millis(5));
        let last = ClockReading::read();
        let check = last.since(&first);
        assert!(check.monotonic_ns >= 5_000_000, "{check:?}");
        // Slewing is at most 10 %, and a machine that runs a test does not sleep for long.
        assert!(
            check.raw_ns >= check.monotonic_ns / 2 && check.boottime_ns >= check.monotonic_ns / 2,
            "{check:?}"
        );
        assert!(!check.source_changed);
        let other = ClockReading { source: Some("hpet".to_owned()), ..first.clone() };
        assert!(last.since(&other).source_changed);
        assert_eq!(first.since(&last).monotonic_ns, 0);
    }
}
