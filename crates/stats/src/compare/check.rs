//! The answer of a robust check.

use std::cmp::Ordering;

use serde::Serialize;

/// What a check looks at instead of the means of boots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Looks {
    /// The median of each boot's runs.
    RunMedians,
    /// The ranks of the boots' means: Wilcoxon's test of the differences inside boots, or Mann and
    /// Whitney's.
    BootRanks,
}

/// The answer of a check to the question of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Check {
    /// At what it looks.
    pub looks: Looks,
    /// Its estimate of the difference, in % of the baseline as it sees it; none for a baseline of
    /// zero.
    pub relative: Option<f64>,
    /// The chance of such a difference where there is none; of this comparison by itself.
    pub p: f64,
    /// Whether it leaves the verdict standing.
    pub agrees: bool,
    /// Where it does not: the run or boot that is farthest from the others.
    pub farthest: Option<Farthest>,
}

/// A run, or a boot, that is farthest from what it is one of.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Farthest {
    /// Its condition.
    pub condition: usize,
    /// Its boot, or the boot itself.
    pub boot: u32,
    /// Which run of the condition in that boot, from 1; none for a boot.
    pub run: Option<usize>,
    /// Its value, in the metric's unit; of a boot the mean.
    pub value: f64,
    /// The median of what it is one of.
    pub median: f64,
}

impl Farthest {
    /// By the distance from the median; of two that are equally far by what they are, so that their
    /// order in the data decides nothing.
    pub(crate) fn by_distance(one: &Farthest, other: &Farthest) -> Ordering {
        let distance = |one: &Farthest| (one.value - one.median).abs();
        distance(one)
            .total_cmp(&distance(other))
            .then(one.value.total_cmp(&other.value))
            .then((one.condition, one.boot).cmp(&(other.condition, other.boot)))
    }
}
