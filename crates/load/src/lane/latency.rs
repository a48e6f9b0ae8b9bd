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
mod tests;
