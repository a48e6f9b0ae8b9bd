//! How long transactions took.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use crate::sys;

/// The longest latency told apart, in ns: longer ones count as this one. A flow is given up after not much more, see
/// [`crate::socket::stall`].
const LONGEST: u64 = 10_000_000_000;
/// Significant decimal digits: values are exact to 1 ns up to 2 µs and to 0.1 % above.
const DIGITS: u8 = 3;
/// Bytes of one histogram: 25 powers of two, each with 1024 counters of 4 bytes, which is a page.
const SIZE: usize = 25 * 1024 * 4;
/// What the histograms of all flows may take from the start.
const READY: usize = 16 << 20;

/// Latencies of the transactions that started and ended in the window, in ns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// Transactions recorded.
    pub count: u64,
    /// The shortest.
    pub min: u64,
    /// The mean.
    pub mean: f64,
    /// Half of the transactions took at most this long.
    pub p50: u64,
    /// 90 % took at most this long.
    pub p90: u64,
    /// 99 % took at most this long.
    pub p99: u64,
    /// 99.9 % took at most this long.
    pub p99_9: u64,
    /// 99.99 % took at most this long.
    pub p99_99: u64,
    /// The longest.
    pub max: u64,
    /// What one reading of the clock cost on this machine, in ns: part of every latency, and not taken off.
    pub clock_ns: f64,
}

/// One thread's private histogram: [`SIZE`] bytes of addresses, whatever it records. With many flows only those pages of
/// it take memory that are written to, one for each power of two between the shortest latency and the longest: some
/// 40 KB of 100.
pub(crate) struct Recorder(Histogram<u32>);

impl Recorder {
    /// That of one of `flows` threads.
    pub(crate) fn new(flows: usize) -> Self {
        let mut histogram =
            Histogram::new_with_bounds(1, LONGEST, DIGITS).expect("constant bounds are valid");
        if flows.saturating_mul(SIZE) <= READY {
            // Writes every page, so that none is first touched in the window.
            histogram.reset();
        }
        Self(histogram)
    }

    #[inline(always)]
    pub(crate) fn record(&mut self, ns: u64) {
        self.0.saturating_record(ns);
    }

    /// Records the same latency for `count` transactions.
    pub(crate) fn record_many(&mut self, ns: u64, count: u64) {
        self.0.saturating_record_n(ns, u32::try_from(count).unwrap_or(u32::MAX));
    }
}

/// All threads' latencies in one; `None` if none was recorded.
pub(crate) fn merge(recorders: Vec<Recorder>) -> Option<Latency> {
    let mut all = Histogram::<u64>::new_with_bounds(1, LONGEST, DIGITS).expect("constant bounds are valid");
    for Recorder(one) in recorders {
        for value in one.iter_recorded() {
            all.saturating_record_n(value.value_iterated_to(), u64::from(value.count_at_value()));
        }
    }
    (!all.is_empty()).then(|| Latency {
        count: all.len(),
        min: all.min(),
        mean: all.mean(),
        p50: all.value_at_quantile(0.50),
        p90: all.value_at_quantile(0.90),
        p99: all.value_at_quantile(0.99),
        p99_9: all.value_at_quantile(0.999),
        p99_99: all.value_at_quantile(0.9999),
        max: all.max(),
        clock_ns: clock_cost(),
    })
}

/// What one reading of the clock costs, in ns: the least mean of a few short series, so that an interruption is not
/// counted as the clock's.
fn clock_cost() -> f64 {
    const READINGS: u64 = 200;
    let series = || {
        let first = sys::now();
        let last = (0..READINGS).fold(first, |_, _| std::hint::black_box(sys::now()));
        (last - first) as f64 / READINGS as f64
    };
    (0..5).map(|_| series()).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nothing_recorded_is_no_latency() {
        assert_eq!(merge(vec![Recorder::new(1), Recorder::new(1)]), None);
        assert_eq!(merge(vec![]), None);
    }

    #[test]
    fn quantiles_are_those_of_all_threads_together() {
        let (mut low, mut high) = (Recorder::new(1), Recorder::new(1));
        (1..=500).for_each(|ns| low.record(ns));
        (501..=1000).for_each(|ns| high.record(ns));
        let latency = merge(vec![low, high]).unwrap();
        assert_eq!((latency.count, latency.min, latency.max), (1000, 1, 1000));
        assert_eq!((latency.p50, latency.p90, latency.p99, latency.p99_9), (500, 900, 990, 999));
        assert!((latency.mean - 500.5).abs() < 1e-9, "{}", latency.mean);
    }

    #[test]
    fn a_recorder_is_as_large_as_said() {
        let recorder = Recorder::new(1);
        assert_eq!(recorder.0.distinct_values() * size_of::<u32>(), SIZE);
    }

    #[test]
    fn what_is_out_of_range_is_still_counted() {
        let mut recorder = Recorder::new(1);
        recorder.record(0);
        recorder.record(u64::MAX);
        let latency = merge(vec![recorder]).unwrap();
        assert_eq!(latency.count, 2);
        assert!(latency.max >= LONGEST);
    }

    proptest! {
        #[test]
        fn quantiles_are_exact_to_a_thousandth(mut values in proptest::collection::vec(1u64..1_000_000_000, 1..300)) {
            let mut recorder = Recorder::new(1);
            values.iter().for_each(|ns| recorder.record(*ns));
            let latency = merge(vec![recorder]).unwrap();
            values.sort_unstable();
            for (quantile, found) in [(0.5, latency.p50), (0.9, latency.p90), (0.99, latency.p99), (1.0, latency.max)] {
                let rank = (quantile * values.len() as f64).ceil() as usize;
                let exact = values[rank.max(1) - 1];
                prop_assert!(found.abs_diff(exact) as f64 <= 0.001 * exact as f64, "{found} for {exact}");
            }
        }
    }
}
