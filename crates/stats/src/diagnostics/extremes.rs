//! Values too far from their groups' means: Grubbs' test for several groups and several outliers.

use crate::distribution::student;
use crate::observed::{mean, squares};

/// One value that stands out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Extreme {
    /// Which of the groups given.
    pub(super) group: usize,
    pub(super) value: f64,
    /// Its studentised residual, with its sign: Grubbs' G times √(n / (n - 1)) for a single group.
    pub(super) statistic: f64,
    /// The chance that the farthest of this many normal values is so far, by Bonferroni's bound.
    pub(super) p: f64,
}

/// The farthest values of `groups`, each in ascending order, with one common spread: step by step
/// the one with the largest studentised residual is removed. Rosner's generalised ESD procedure
/// (Technometrics 25, 1983), with the residual of a one-way layout instead of a single sample's,
/// accepts all up to the last one whose p-value passes. For one group and one step it is Grubbs'
/// test (Technometrics 11, 1969): the residual studentised without the value itself has Student's t
/// with df - 1 degrees of freedom.
pub(super) fn farthest(groups: &[&[f64]]) -> Vec<Extreme> {
    let mut left: Vec<ValueGroup> =
        groups.iter().enumerate().filter_map(|(index, values)| ValueGroup::new(index, values)).collect();
    let count: usize = left.iter().map(|group| group.values.len()).sum();
    let mut total: f64 =
        left.iter().map(|group| squares(group.values, group.mean).root_over(1.0).powi(2)).sum();
    let mut df = count - left.len();
    let mut found = Vec::new();
    for step in 0..most_outliers(count) {
        if df < 2 || !(total > 0.0 && total.is_finite()) {
            break;
        }
        let distances = left.iter().map(ValueGroup::farthest).enumerate();
        let by_size = |one: &(usize, f64), other: &(usize, f64)| one.1.abs().total_cmp(&other.1.abs());
        let Some((place, distance)) = distances.max_by(by_size) else { break };
        let rest = (df - 1) as f64;
        // Removing the value reduces the sum of squares at most to zero.
        let share = (distance * distance / total).min(1.0);
        let t = (share * rest / (1.0 - share).max(f64::EPSILON)).sqrt();
        let statistic = distance / (total / df as f64).sqrt();
        let (group, value) = left[place].drop_farthest();
        let p = (student::two_sided(t, rest) * (count - step) as f64).min(1.0);
        found.push(Extreme { group, value, statistic, p });
        total = (total - distance * distance).max(0.0);
        df -= 1;
    }
    found
}

/// The most outliers that are sought: more than a tenth are no longer outliers.
fn most_outliers(count: usize) -> usize {
    (count / 10).clamp(1, 10)
}

struct ValueGroup<'a> {
    index: usize,
    values: &'a [f64],
    mean: f64,
}

impl ValueGroup<'_> {
    /// `None` for a group of one, which is its own mean.
    fn new(index: usize, values: &[f64]) -> Option<ValueGroup<'_>> {
        (values.len() > 1).then(|| ValueGroup { index, values, mean: mean(values) })
    }

    /// The farthest value's residual over the root of its share of variance, 1 - 1/n. A group of
    /// one has none.
    fn farthest(&self) -> f64 {
        let n = self.values.len() as f64;
        if n < 2.0 { 0.0 } else { (self.values[self.end()] - self.mean) / (1.0 - 1.0 / n).sqrt() }
    }

    fn end(&self) -> usize {
        let last = self.values.len() - 1;
        if self.values[last] - self.mean >= self.mean - self.values[0] { last } else { 0 }
    }

    fn drop_farthest(&mut self) -> (usize, f64) {
        let end = self.end();
        let value = self.values[end];
        let rest = (self.values.len() - 1).max(1);
        self.mean -= (value - self.mean) / rest as f64;
        self.values = if end == 0 { &self.values[1..] } else { &self.values[..rest] };
        (self.index, value)
    }
}
