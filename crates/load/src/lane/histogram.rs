//! A histogram of latencies, small enough to be stored with every run.

use std::ops::Range;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

/// A histogram of latencies: how many transactions took how long.
///
/// Its buckets are equally wide on a logarithmic scale: [`Self::PER_DECADE`] for each factor of
/// ten, from 1 ns to 10 s, with edges in whole ns (rounded up). What took longer than 10 s is in
/// the last one. Only buckets with a transaction are kept, in JSON as pairs of lower edge in ns and
/// count: `[[10000,5],[10965,2]]`. There are at most 235 of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<(u64, u64)>")]
pub struct LatencyHistogram(Vec<(u64, u64)>);

/// The lower edges of all buckets in ns, and the upper edge of the last one.
static EDGES: LazyLock<Vec<u64>> = LazyLock::new(|| {
    const DECADES: u32 = 10;
    let per_decade = LatencyHistogram::PER_DECADE;
    let edge = |place: u32| {
        let power = 10_u64.pow(place / per_decade) as f64;
        (power * 10_f64.powf(f64::from(place % per_decade) / f64::from(per_decade))).ceil() as u64
    };
    let mut edges: Vec<u64> = (0..=DECADES * per_decade + 1).map(edge).collect();
    // Below 10 ns several would be the same whole number.
    edges.dedup();
    edges
});

impl LatencyHistogram {
    /// Buckets for each factor of ten.
    pub const PER_DECADE: u32 = 25;

    /// The width of a bucket in % of its lower edge: 9.65.
    pub fn width_percent() -> f64 {
        100.0 * (10_f64.powf(1.0 / f64::from(Self::PER_DECADE)) - 1.0)
    }

    /// The histogram of latencies in ns, each with its number.
    pub fn from_latencies(latencies: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let mut counts = vec![0_u64; EDGES.len() - 1];
        for (ns, count) in latencies {
            let above = EDGES.partition_point(|edge| *edge <= ns).clamp(1, counts.len());
            // Latencies beyond all edges are in the first bucket and the last.
            counts[above - 1] = counts[above - 1].saturating_add(count);
        }
        let buckets = EDGES.iter().copied().zip(counts);
        Self(buckets.filter(|(_, count)| *count > 0).collect())
    }

    /// The latencies of each bucket in ns, and its number of transactions (at least one), from the
    /// shortest latency on.
    pub fn buckets(&self) -> impl ExactSizeIterator<Item = (Range<u64>, u64)> {
        self.0.iter().map(|(low, count)| {
            let above = EDGES.partition_point(|edge| edge <= low).min(EDGES.len() - 1);
            (*low..EDGES[above], *count)
        })
    }

    /// The number of transactions.
    pub fn count(&self) -> u64 {
        self.0.iter().fold(0, |sum, (_, count)| sum.saturating_add(*count))
    }

    /// Adds another one's transactions.
    pub fn add(&mut self, other: &Self) {
        *self = Self::from_latencies(self.0.iter().chain(&other.0).copied());
    }
}

/// Why buckets are no histogram, with the lower edge of one in ns.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages of its variants say it")]
pub enum HistogramError {
    #[error("no bucket of a latency histogram begins at {0} ns")]
    NoEdge(u64),
    #[error("the bucket at {0} ns is not above the one before it")]
    NotAbove(u64),
    #[error("the bucket at {0} ns is empty")]
    Empty(u64),
    #[error("the counts of a latency histogram add up to more than 2^64 - 1")]
    TooMany,
}

impl TryFrom<Vec<(u64, u64)>> for LatencyHistogram {
    type Error = HistogramError;

    fn try_from(buckets: Vec<(u64, u64)>) -> Result<Self, HistogramError> {
        let (mut last, mut sum) = (None, 0_u64);
        for (low, count) in &buckets {
            if EDGES[..EDGES.len() - 1].binary_search(low).is_err() {
                return Err(HistogramError::NoEdge(*low));
            }
            if last.is_some_and(|last| last >= low) {
                return Err(HistogramError::NotAbove(*low));
            }
            if *count == 0 {
                return Err(HistogramError::Empty(*low));
            }
            sum = sum.checked_add(*count).ok_or(HistogramError::TooMany)?;
            last = Some(low);
        }
        Ok(Self(buckets))
    }
}

#[cfg(test)]
mod tests;
