//! Boots, and runs inside boots, that stand out from the others.

use crate::diagnostics::campaign::{BootEffect, CampaignValues, ConditionValues};
use crate::diagnostics::flag::{Flag, FlagKind};
use crate::diagnostics::{ROUNDING, adjusted};
use crate::distribution::student;
use crate::observed::{deviation, mean};

pub(super) fn boots(effects: &[Vec<BootEffect>]) -> Vec<Flag> {
    let groups: Vec<&Vec<BootEffect>> = effects.iter().filter(|group| group.len() > 2).collect();
    let mut flags = Vec::new();
    // Groups may spread differently, so each boot is judged by the spread of its own group.
    for boots in &groups {
        let mut sorted: Vec<f64> = boots.iter().map(|boot| boot.effect).collect();
        sorted.sort_by(f64::total_cmp);
        for (extreme, p) in believed(&farthest(&[&sorted]), groups.len()) {
            let Some(boot) = boots.iter().find(|boot| boot.effect == extreme.value) else { continue };
            if boot.effect.abs() >= ROUNDING {
                let flag = Flag::new(FlagKind::OutlyingBoot, extreme.statistic, p, extreme.value);
                flags.push(Flag { condition: boot.condition, boot: Some(boot.boot), ..flag });
            }
        }
    }
    flags
}

/// Runs too far from their boot's mean, one family for each condition.
pub(super) fn runs(campaign: &CampaignValues) -> Vec<Flag> {
    let tested: Vec<(&ConditionValues, f64)> =
        campaign.conditions.iter().filter_map(|condition| Some((condition, condition.within?))).collect();
    let mut flags = Vec::new();
    for (condition, within) in &tested {
        let cells = campaign.cells_of(condition);
        let groups: Vec<&[f64]> = cells.iter().map(|cell| campaign.sorted(cell)).collect();
        for (extreme, p) in believed(&farthest(&groups), tested.len()) {
            let cell = &cells[extreme.group];
            let place = campaign.values(cell).iter().position(|value| *value == extreme.value);
            let size = (extreme.value - cell.mean) / within;
            let flag = Flag::new(FlagKind::OutlyingRun, extreme.statistic, p, size);
            let run = place.map(|place| place + 1);
            flags.push(Flag { boot: Some(cell.boot), run, ..flag }.in_condition(condition.number));
        }
    }
    flags
}

/// All up to the last that passes.
fn believed(found: &[Extreme], tests: usize) -> Vec<(&Extreme, f64)> {
    let mut p = None;
    let mut believed = Vec::new();
    for extreme in found.iter().rev() {
        // A value that is hidden by later ones has the p-value of its removal.
        p = adjusted(extreme.p, tests).or(p);
        believed.extend(p.map(|p| (extreme, p)));
    }
    believed.reverse();
    believed
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Extreme {
    group: usize,
    value: f64,
    /// Its studentised residual, with its sign: Grubbs' G times √(n / (n - 1)) for a single group.
    statistic: f64,
    /// The chance that the farthest of this many normal values is so far, by Bonferroni's bound.
    p: f64,
}

/// The farthest values of `groups`, each in ascending order, with one common spread: step by step
/// the one with the largest studentised residual is removed. Rosner's generalised ESD procedure
/// (Technometrics 25, 1983), with the residual of a one-way layout instead of a single sample's,
/// accepts all up to the last one whose p-value passes.
fn farthest(groups: &[&[f64]]) -> Vec<Extreme> {
    // A group of one is its own mean.
    let several = groups.iter().copied().enumerate().filter(|(_, values)| values.len() > 1);
    let mut left: Vec<ValueGroup> =
        several.map(|(index, values)| ValueGroup { index, values, mean: mean(values) }).collect();
    let count: usize = left.iter().map(|group| group.values.len()).sum();
    let mut total: f64 = left.iter().map(|group| deviation(group.values, group.mean, 1.0).powi(2)).sum();
    let mut df = count - left.len();
    let mut found = Vec::new();
    // More than a tenth are no longer outliers.
    for step in 0..(count / 10).clamp(1, 10) {
        if df < 2 || !(total > 0.0 && total.is_finite()) {
            break;
        }
        let distances = left.iter().map(ValueGroup::farthest).enumerate();
        let by_size = |one: &(usize, f64), other: &(usize, f64)| one.1.abs().total_cmp(&other.1.abs());
        let Some((place, distance)) = distances.max_by(by_size) else { break };
        let rest = (df - 1) as f64;
        // Removing the value reduces the sum of squares at most to zero.
        let share = (distance * distance / total).min(1.0);
        // For one group and one step it is Grubbs' test (Technometrics 11, 1969): the residual
        // studentised without the value itself has Student's t with df - 1 degrees of freedom.
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

struct ValueGroup<'a> {
    index: usize,
    values: &'a [f64],
    mean: f64,
}

impl ValueGroup<'_> {
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

// A first run that differs from the rest: caches, neighbours and frequencies that a longer warm-up
// would have settled.

/// The first recorded run of each condition in each boot less the mean of its others there, which
/// removes the boot's own effect, in units of the spread between runs: Student's t over all these
/// differences.
pub(super) fn unlike_first_run(campaign: &CampaignValues) -> Option<Flag> {
    let mut differences = Vec::new();
    for condition in &campaign.conditions {
        let Some(scale) = condition.scale else { continue };
        for cell in campaign.cells_of(condition).iter().filter(|cell| cell.runs.len() > 1) {
            let n = cell.runs.len() as f64;
            let first = campaign.values(cell)[0];
            // first - mean of the others = (first - mean of all) n / (n - 1), with variance n /
            // (n - 1) of a run's.
            differences.push((first - cell.mean) * (n / (n - 1.0)).sqrt() / scale);
        }
    }
    let df = differences.len().checked_sub(1).filter(|df| *df > 0)? as f64;
    let centre = mean(&differences);
    let error = deviation(&differences, centre, df * (df + 1.0)).max(centre.abs() * f64::EPSILON);
    let t = centre / error;
    let p = adjusted(student::two_sided(t, df), 1)?;
    Some(Flag::new(FlagKind::FirstRun, t, p, centre))
}
