//! Latencies of transactions.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use super::histogram::LatencyHistogram;
use crate::sys;

// In ns: longer latencies count as this one. A flow is given up soon after (`stall`).
const LONGEST: u64 = 10_000_000_000;
// Values are exact to 1 ns up to 2 µs and to 0.1 % above.
const DIGITS: u8 = 3;
// Counters of one power of two: a page.
const STEPS: usize = 1 << 10;
// The first two powers of two are of single nanoseconds, and the last reaches beyond `LONGEST`.
const POWERS: usize = 25;
// Bytes of all histograms up to which they are allocated at the start.
const READY: usize = 16 << 20;

/// Latencies of transactions within the window, in ns. All but the mean are upper ends of HDR
/// counters, so that they lie in the bucket of [`Latency::histogram`] that counts them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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
    /// Cost of one reading of the clock here, in ns: part of every latency, not subtracted.
    pub clock_ns: f64,
    /// The distribution; `None` in accounts from before histograms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub histogram: Option<LatencyHistogram>,
}

// One thread's private histogram: the counters of an HDR histogram of [`DIGITS`] digits, 100 KB.
// With many flows only written pages use memory, one for each power of two that occurs.
#[derive(Debug)]
pub(crate) struct Recorder(Box<[u32]>);

impl Recorder {
    pub(crate) fn new(flows: usize) -> Self {
        // The allocator returns zero pages without writing them.
        let mut counters = vec![0; POWERS * STEPS].into_boxed_slice();
        // With many flows only the pages that are written are to take memory.
        if flows.saturating_mul(size_of_val(&*counters)) <= READY {
            // Writes to every page, so that the window touches none for the first time.
            counters.iter_mut().step_by(STEPS).for_each(|counter| *std::hint::black_box(counter) = 0);
        }
        Self(counters)
    }

    #[inline(always)]
    pub(crate) fn record(&mut self, ns: u64) {
        self.record_many(ns, 1);
    }

    #[inline(always)]
    pub(crate) fn record_many(&mut self, ns: u64, count: u64) {
        if let Some(counter) = self.0.get_mut(place(ns)) {
            *counter = counter.saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
        }
    }

    fn counts(&self) -> impl Iterator<Item = (u64, u64)> {
        let counted = self.0.iter().enumerate().filter(|(_, count)| **count > 0);
        counted.map(|(place, count)| (least(place), u64::from(*count)))
    }
}

// Single nanoseconds up to 2 `STEPS`, then as many steps for each power of two.
#[inline(always)]
fn place(ns: u64) -> usize {
    let ns = ns.min(LONGEST);
    // The number of low bits that do not count.
    let shift = (ns | STEPS as u64).ilog2() - STEPS.ilog2();
    shift as usize * STEPS + (ns >> shift) as usize
}

fn least(place: usize) -> u64 {
    let shift = (place / STEPS).saturating_sub(1);
    ((place - shift * STEPS) as u64) << shift
}

pub(crate) fn merge(recorders: Vec<Recorder>) -> Option<Latency> {
    let mut all = Histogram::<u64>::new_with_bounds(1, LONGEST, DIGITS).expect("constant bounds are valid");
    for (ns, count) in recorders.iter().flat_map(Recorder::counts) {
        all.saturating_record_n(ns, count);
    }
    (!all.is_empty()).then(|| Latency {
        count: all.len(),
        min: all.highest_equivalent(all.min()),
        mean: all.mean(),
        p50: all.value_at_quantile(0.50),
        p90: all.value_at_quantile(0.90),
        p99: all.value_at_quantile(0.99),
        p99_9: all.value_at_quantile(0.999),
        p99_99: all.value_at_quantile(0.9999),
        max: all.max(),
        clock_ns: clock_cost(),
        histogram: Some(LatencyHistogram::from_latencies(
            all.iter_recorded().map(|one| (one.value_iterated_to(), one.count_at_value())),
        )),
    })
}

// The least mean of a few short series, so that interruptions do not count.
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
    fn a_recorder_has_a_place_for_all_and_no_more() {
        let counters = Recorder::new(1).0.len();
        assert_eq!(
            (place(0), place(1), place(2047), place(2048), place(2049), place(2050)),
            (0, 1, 2047, 2048, 2048, 2049)
        );
        assert_eq!(place(u64::MAX), place(LONGEST));
        assert!((counters - STEPS..counters).contains(&place(LONGEST)));
        assert_eq!(STEPS * size_of::<u32>(), 4096, "a page");
        (0..counters).for_each(|at| assert!(least(at) > LONGEST || place(least(at)) == at, "{at}"));
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
        fn a_place_is_exact_to_a_thousandth(ns in 0..=LONGEST) {
            let kept = least(place(ns));
            prop_assert!(kept <= ns && (ns - kept) as f64 <= 0.001 * ns as f64, "{kept} for {ns}");
            prop_assert_eq!(place(ns + 1).saturating_sub(place(ns)) <= 1, true);
        }

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

        #[test]
        fn the_stored_histogram_has_the_stored_quantiles(
            values in proptest::collection::vec(1u64..20_000_000_000, 1..300),
        ) {
            let mut recorder = Recorder::new(1);
            values.iter().for_each(|ns| recorder.record(*ns));
            // Often the shortest, and its counter lies across the edge of two buckets: 10^5.2 ns
            // are 158,489.3.
            recorder.record(158_480);
            let latency = merge(vec![recorder]).unwrap();
            let histogram = latency.histogram.unwrap();
            prop_assert_eq!(histogram.count(), latency.count);
            let quantiles = [
                (0.0, latency.min),
                (0.5, latency.p50),
                (0.9, latency.p90),
                (0.99, latency.p99),
                (1.0, latency.max),
            ];
            for (share, found) in quantiles {
                let rank = (share * latency.count as f64).ceil() as u64;
                let mut passed = 0;
                let bucket = histogram.buckets().find(|(_, count)| {
                    passed += count;
                    passed >= rank
                });
                let (bucket, _) = bucket.unwrap();
                prop_assert!(bucket.contains(&found), "{share}: {found} in {bucket:?}");
            }
        }
    }
}
