//! The answer of a robust check.

use std::cmp::Ordering;

use serde::Serialize;

/// The data of a check, in place of the means of boots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Looks {
    /// The median of each boot's runs.
    RunMedians,
    /// The ranks of the boots' means: Wilcoxon's test of the differences inside boots, or Mann and
    /// Whitney's.
    BootRanks,
}

/// The result of a check of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Check {
    /// Its data.
    pub looks: Looks,
    /// Its estimate of the difference, in % of its baseline; `None` for a baseline of zero.
    pub relative: Option<f64>,
    /// The p-value of this comparison by itself.
    pub p: f64,
    /// Whether it agrees with the verdict.
    pub agrees: bool,
    /// If it disagrees: the run or boot farthest from the others.
    pub farthest: Option<Farthest>,
}

/// The run or boot farthest from its group.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Farthest {
    /// Its condition.
    pub condition: usize,
    /// Its boot, or the boot itself.
    pub boot: u32,
    /// Which run of the condition in that boot, from 1; `None` for a boot.
    pub run: Option<usize>,
    /// Its value, in the metric's unit; of a boot the mean.
    pub value: f64,
    /// The median of its group.
    pub median: f64,
}

impl Farthest {
    /// Orders by the distance from the median, then by condition, boot and run, so that the order
    /// of the data decides nothing.
    pub(crate) fn by_distance(one: &Farthest, other: &Farthest) -> Ordering {
        let distance = |one: &Farthest| (one.value - one.median).abs();
        distance(one)
            .total_cmp(&distance(other))
            .then(one.value.total_cmp(&other.value))
            .then((one.condition, one.boot).cmp(&(other.condition, other.boot)))
    }
}
