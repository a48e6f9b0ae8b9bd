//! Exact mode: instructions of one emulated guest are counted, instead of time.

use std::collections::BTreeSet;

use serde::Serialize;
use stats::Observation;
use study::metric::{Metric, MetricNeeds};
use study::{Copies, Plan};

use crate::words::lists::{distinct, grouped};
use crate::words::number::{figure, percent};
use crate::words::phrases::{listed, metric_words};

/// Counts repeat within this share, in %, on any machine; larger differences are real.
pub const RESOLUTION: f64 = 0.1;

/// The meaning of counts, and the work that they leave out; `$copies` says how copies are counted.
macro_rules! truth {
    ($copies:literal) => {
        concat!(
            "exact mode: instructions counted in an emulated guest with one CPU, not time; ",
            $copies,
            ". Counts normally have no spread: a difference of more than 0.1 % is real, and there are no intervals. Counts do not show caches, branch prediction or parallelism"
        )
    };
}

pub(crate) fn truth(plan: &Plan) -> &'static str {
    let has = |copies| plan.conditions.iter().any(|condition| condition.copies() == copies);
    match (has(Copies::Words), has(Copies::Bytes)) {
        (true, true) => {
            truth!("copies count by the word of eight bytes or by the byte, as each condition says")
        }
        (false, true) => truth!("copies count by the byte"),
        _ => truth!("copies count by the word of eight bytes"),
    }
}

pub(crate) fn copying(copies: Copies) -> &'static str {
    match copies {
        Copies::Words => {
            "the guest's processor offers no fast string instructions: its kernel copies and clears memory by eight bytes, in loops or by rep movsq"
        }
        Copies::Bytes => {
            "the guest's processor offers fast string instructions: its kernel copies and clears memory by them, and each byte counts as an instruction"
        }
    }
}

pub(crate) fn is_count(metric: Metric) -> bool {
    metric.needs == MetricNeeds::Exact
}

/// A condition whose counts do not repeat within the resolution. No verdict uses it.
#[derive(Debug, Clone, Serialize)]
pub struct UnequalCounts {
    #[serde(skip)]
    pub(crate) condition: usize,
    label: String,
    metric: Metric,
    counts: (f64, f64),
    by_boot: Vec<(String, BTreeSet<u32>)>,
}

impl UnequalCounts {
    fn sentence(&self) -> String {
        let (low, high) = self.counts;
        let share = percent(100.0 * (high - low) / low.abs());
        let boots = |boots: &BTreeSet<u32>| {
            let word = if boots.len() == 1 { "boot" } else { "boots" };
            format!("{word} {}", listed(&boots.iter().map(u32::to_string).collect::<Vec<_>>()))
        };
        let by_boot: Vec<String> =
            self.by_boot.iter().map(|(count, of)| format!("{count} in {}", boots(of))).collect();
        format!(
            "{} of {} do not repeat: {}, {share} % apart, more than {RESOLUTION} %. Something differs between these boots, so comparisons with them have no verdict",
            metric_words(&self.metric.into()),
            self.label,
            by_boot.join(", ")
        )
    }
}

/// Sentences on counts that do not repeat, to be read before all verdicts; empty if all do.
pub fn no_verdicts<'g>(unlike: impl IntoIterator<Item = &'g UnequalCounts>) -> Vec<String> {
    // Several comparisons may use one condition.
    distinct(unlike.into_iter().map(|unlike| format!("No verdict: {}.", unlike.sentence())))
}

pub(crate) fn unequal_counts(
    runs: &[Observation],
    metric: Metric,
    label: impl Fn(usize) -> String,
) -> Vec<UnequalCounts> {
    let conditions: BTreeSet<usize> = runs.iter().map(|run| run.condition).collect();
    let unequal = |condition: usize| {
        let runs: Vec<&Observation> = runs.iter().filter(|run| run.condition == condition).collect();
        let ends = (f64::INFINITY, f64::NEG_INFINITY);
        let (low, high) =
            runs.iter().fold(ends, |(low, high), run| (low.min(run.value), high.max(run.value)));
        let is_unlike = 100.0 * (high - low) / low.abs() > RESOLUTION;
        is_unlike.then(|| UnequalCounts {
            condition,
            label: label(condition),
            metric,
            counts: (low, high),
            by_boot: by_boot(&runs),
        })
    };
    conditions.into_iter().filter_map(unequal).collect()
}

fn by_boot(runs: &[&Observation]) -> Vec<(String, BTreeSet<u32>)> {
    let mut sorted = runs.to_vec();
    sorted.sort_by(|one, other| one.value.total_cmp(&other.value));
    let counts = grouped(sorted.into_iter().map(|run| (figure(run.value), run.boot)));
    counts.into_iter().map(|(count, boots)| (count, boots.into_iter().collect())).collect()
}
