//! Exact mode: instructions counted in one emulated guest instead of time measured.

use stats::Observation;
use study::WorkloadKind;
use study::metric::{Metric, Needs};

use crate::number::percent;

/// Counts are the same to this share, in %, on any machine whatever else it does; what differs by more is a difference.
pub(crate) const RESOLUTION: f64 = 0.1;

/// What counts say, and what they cannot see.
pub(crate) const TRUTH: &str = "exact mode: instructions counted in an emulated guest with one CPU, not time. No spread is normal there, what differs by more than 0.1 % differs, and there are no intervals of time. It does not see caches, branch prediction or parallelism";

/// Does the metric count instructions?
pub(crate) fn is_count(metric: &Metric) -> bool {
    metric.needs == Needs::Exact
}

/// What a unit of work of this traffic is called in metrics of CPU time.
pub(crate) fn unit_of_work(kind: WorkloadKind) -> &'static str {
    match kind {
        _ if kind.is_stream() => "byte",
        _ if kind.is_rr() => "transaction",
        _ => "packet",
    }
}

/// What instructions of this traffic are counted for, where a study does not say: a datagram is one piece of work however long.
pub(crate) fn counted_unit(kind: WorkloadKind) -> &'static str {
    kind.counted_work()
}

/// What must be said of counts that are not the same each time; none if they are, to the resolution. `label` names a condition.
pub(crate) fn unlike(runs: &[Observation], label: impl Fn(usize) -> String) -> Vec<String> {
    let mut conditions: Vec<usize> = runs.iter().map(|run| run.condition).collect();
    conditions.sort_unstable();
    conditions.dedup();
    let told = |condition: usize| {
        let values = runs.iter().filter(|run| run.condition == condition).map(|run| run.value);
        let (low, high) = values
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        let share = 100.0 * (high - low) / low.abs();
        (share > RESOLUTION).then(|| {
            format!(
                "{}: counts differ by up to {} % from run to run, more than the resolution of {RESOLUTION} %: something in it is not the same each time, and a difference as small as that means nothing",
                label(condition),
                percent(share)
            )
        })
    };
    conditions.into_iter().filter_map(told).collect()
}
