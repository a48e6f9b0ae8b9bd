//! The runs of a campaign, by condition and boot, in order.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::observed::{Observation, deviation, mean};

// A smaller spread, in units of rounding of the largest value, is none.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

// Fewer degrees of freedom give no scale: dividing by it would add more noise than it removes.
const FEW: usize = 8;

pub(super) struct CampaignValues {
    /// All values, cell by cell, each cell's in the order of measurement.
    values: Vec<f64>,
    /// The values, sorted within each cell.
    sorted: Vec<f64>,
    /// The cells by condition, then by boot.
    pub(super) cells: Vec<CellRuns>,
    pub(super) conditions: Vec<ConditionValues>,
}

pub(super) struct CellRuns {
    pub(super) boot: u32,
    /// The places of its values.
    pub(super) runs: Range<usize>,
    pub(super) mean: f64,
    /// The mean position of the runs in the campaign.
    pub(super) time: f64,
}

pub(super) struct ConditionValues {
    pub(super) number: usize,
    pub(super) cells: Range<usize>,
    pub(super) runs: usize,
    pub(super) mean: f64,
    /// Pooled over its boots; `None` without one.
    pub(super) within: Option<f64>,
    /// The divisor of its deviations, so that conditions of all sizes can be combined: `within`, or
    /// the spread of all its values where boots have too few runs for it; `None` where nothing
    /// varies.
    pub(super) scale: Option<f64>,
}

impl CampaignValues {
    pub(super) fn from_observations(observations: &[Observation]) -> CampaignValues {
        // With their times, so that a cell keeps the order of measurement.
        let mut keys: Vec<(usize, u32, usize)> =
            observations.iter().enumerate().map(|(time, run)| (run.condition, run.boot, time)).collect();
        keys.sort_unstable();
        let values: Vec<f64> = keys.iter().map(|key| observations[key.2].value).collect();
        let mut sorted = values.clone();
        let (mut cells, mut conditions): (Vec<CellRuns>, _) = (Vec::new(), Vec::new());
        let mut end = 0;
        for of_condition in keys.chunk_by(|one, next| one.0 == next.0) {
            let first = cells.len();
            for own in of_condition.chunk_by(|one, next| one.1 == next.1) {
                let runs = end..end + own.len();
                end = runs.end;
                sorted[runs.clone()].sort_unstable_by(f64::total_cmp);
                let times: usize = own.iter().map(|key| key.2).sum();
                let (mean, time) = (mean(&values[runs.clone()]), times as f64 / own.len() as f64);
                cells.push(CellRuns { boot: own[0].1, runs, mean, time });
            }
            conditions.push(ConditionValues::new(of_condition[0].0, &values, &cells, first..cells.len()));
        }
        CampaignValues { values, sorted, cells, conditions }
    }

    pub(super) fn cells_of(&self, condition: &ConditionValues) -> &[CellRuns] {
        &self.cells[condition.cells.clone()]
    }

    pub(super) fn values(&self, cell: &CellRuns) -> &[f64] {
        &self.values[cell.runs.clone()]
    }

    pub(super) fn sorted(&self, cell: &CellRuns) -> &[f64] {
        &self.sorted[cell.runs.clone()]
    }

    /// The smallest distance between two different values of a condition in a boot: the step of
    /// rounding, if they were rounded.
    pub(super) fn step(&self, condition: &ConditionValues) -> f64 {
        let cells = self.cells_of(condition).iter();
        let steps = cells.flat_map(|cell| self.sorted(cell).windows(2).map(|pair| pair[1] - pair[0]));
        let step = steps.filter(|step| *step > 0.0).fold(f64::INFINITY, f64::min);
        if step.is_finite() { step } else { 0.0 }
    }
}

impl ConditionValues {
    fn new(number: usize, values: &[f64], all: &[CellRuns], cells: Range<usize>) -> ConditionValues {
        let own = &all[cells.clone()];
        let values = &values[own[0].runs.start..own[own.len() - 1].runs.end];
        let means: Vec<f64> = own.iter().map(|cell| cell.mean).collect();
        let largest = values.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
        let varies = |sd: f64| (sd.is_finite() && sd > ROUNDING * largest).then_some(sd);
        let df = values.len() - own.len();
        let start = own[0].runs.start;
        let of_cell = |cell: &CellRuns| {
            deviation(&values[cell.runs.start - start..cell.runs.end - start], cell.mean, 1.0)
        };
        let root = own.iter().map(of_cell).fold(0.0, f64::hypot);
        let within = if df > 0 { varies(root / (df as f64).sqrt()) } else { None };
        let overall = || match values.len() {
            0 | 1 => None,
            n => varies(deviation(values, mean(values), (n - 1) as f64)),
        };
        ConditionValues {
            number,
            runs: values.len(),
            mean: mean(&means),
            within,
            scale: if df >= FEW { within } else { overall() },
            cells,
        }
    }
}

/// A boot's mean effect on its conditions.
pub(super) struct BootEffect {
    pub(super) boot: u32,
    pub(super) condition: Option<usize>,
    /// The effect in units of the spread between runs, less the group's mean.
    pub(super) effect: f64,
    /// Its place in the campaign, less the group's mean place, in runs.
    pub(super) time: f64,
}

/// The effects of the boots by group.
pub(super) fn boot_effects(campaign: &CampaignValues) -> Vec<Vec<BootEffect>> {
    // The sums of a boot's effects and times, and the indices of its conditions.
    let mut sums: BTreeMap<u32, (f64, f64, Vec<usize>)> = BTreeMap::new();
    for (index, condition) in campaign.conditions.iter().enumerate() {
        // A condition that does not vary has no unit, and shows no effect of boots.
        let Some(scale) = condition.scale else { continue };
        for cell in campaign.cells_of(condition) {
            let (effect, time, conditions) = sums.entry(cell.boot).or_default();
            *effect += (cell.mean - condition.mean) / scale;
            *time += cell.time;
            conditions.push(index);
        }
    }
    // Boots with the same conditions are a group, whose effects differ only by chance: in a nested
    // design those of a condition, in a crossed one all, with several states of the testbed those
    // of a state. Groups may spread differently, so each is tested separately.
    let mut groups: BTreeMap<Vec<usize>, Vec<BootEffect>> = BTreeMap::new();
    for (boot, (effect, time, conditions)) in sums {
        let count = conditions.len() as f64;
        let only = (conditions.len() == 1).then(|| campaign.conditions[conditions[0]].number);
        let boot = BootEffect { boot, condition: only, effect: effect / count, time: time / count };
        groups.entry(conditions).or_default().push(boot);
    }
    let mut groups: Vec<Vec<BootEffect>> = groups.into_values().collect();
    groups.iter_mut().for_each(|group| centre(group));
    groups
}

fn centre(boots: &mut [BootEffect]) {
    let count = boots.len() as f64;
    let effect = boots.iter().map(|boot| boot.effect).sum::<f64>() / count;
    let time = boots.iter().map(|boot| boot.time).sum::<f64>() / count;
    for boot in boots {
        boot.effect -= effect;
        boot.time -= time;
    }
}
