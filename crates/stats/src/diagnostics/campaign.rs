//! The runs of a campaign, by condition and boot, and still in their order.

use std::collections::HashMap;
use std::ops::Range;

use crate::observed::Observation;
use crate::observed::{mean, squares};

/// A spread below so many units of rounding of the largest value is none.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// Fewer degrees of freedom than this do not make a scale: dividing by it would add more noise than
/// it takes away.
const FEW: usize = 8;

pub(super) struct Campaign {
    /// All values, cell by cell, each cell's in the order of measurement.
    values: Vec<f64>,
    /// The same, sorted within each cell.
    sorted: Vec<f64>,
    /// By condition, then by boot.
    pub(super) cells: Vec<Cell>,
    /// Those that were measured, in the order of their numbers.
    pub(super) conditions: Vec<Condition>,
}

/// The runs of one condition in one boot.
pub(super) struct Cell {
    pub(super) boot: u32,
    runs: Range<usize>,
    pub(super) mean: f64,
    /// The mean of the runs' places in the campaign.
    pub(super) time: f64,
}

pub(super) struct Condition {
    /// Its number in the plan.
    pub(super) number: usize,
    pub(super) cells: Range<usize>,
    /// How many runs, over all boots.
    pub(super) runs: usize,
    /// The mean of its boot means.
    pub(super) mean: f64,
    /// The standard deviation between the runs of a boot, pooled over its boots; none where there
    /// is none.
    pub(super) within: Option<f64>,
    /// What its deviations are divided by, so that conditions of all sizes can be put together:
    /// `within`, or the spread of all its values where boots of one or two runs leave too little of
    /// it; none where nothing varies.
    pub(super) scale: Option<f64>,
}

impl Campaign {
    pub(super) fn of(observations: &[Observation]) -> Campaign {
        let (keys, cell_of) = keys(observations);
        let mut ends = vec![0; keys.len()];
        for cell in &cell_of {
            ends[*cell] += 1;
        }
        let mut start = 0;
        for end in &mut ends {
            start += std::mem::replace(end, start);
        }
        // Each cell's place moves on from its start to its end; inside a cell the order of
        // measurement remains.
        let mut values = vec![0.0; observations.len()];
        let mut times = vec![0.0; keys.len()];
        for (time, (observation, cell)) in observations.iter().zip(&cell_of).enumerate() {
            values[ends[*cell]] = observation.value;
            times[*cell] += time as f64;
            ends[*cell] += 1;
        }
        let mut sorted = values.clone();
        let mut cells: Vec<Cell> = Vec::with_capacity(keys.len());
        let mut numbers: Vec<(usize, Range<usize>)> = Vec::new();
        for (place, (condition, boot)) in keys.into_iter().enumerate() {
            let runs = cells.last().map_or(0, |cell: &Cell| cell.runs.end)..ends[place];
            sorted[runs.clone()].sort_unstable_by(f64::total_cmp);
            cells.push(Cell {
                boot,
                mean: mean(&values[runs.clone()]),
                time: times[place] / runs.len() as f64,
                runs,
            });
            match numbers.last_mut() {
                Some((number, cells)) if *number == condition => cells.end = place + 1,
                _ => numbers.push((condition, place..place + 1)),
            }
        }
        let conditions =
            numbers.into_iter().map(|(number, own)| Condition::of(number, &values, &cells, own)).collect();
        Campaign { values, sorted, cells, conditions }
    }

    pub(super) fn cells_of(&self, condition: &Condition) -> &[Cell] {
        &self.cells[condition.cells.clone()]
    }

    /// A cell's values in the order of measurement.
    pub(super) fn values(&self, cell: &Cell) -> &[f64] {
        &self.values[cell.runs.clone()]
    }

    /// A cell's values in rising order.
    pub(super) fn sorted(&self, cell: &Cell) -> &[f64] {
        &self.sorted[cell.runs.clone()]
    }

    /// The smallest distance between two different values of a condition in a boot: what they were
    /// rounded to, if they were.
    pub(super) fn step(&self, condition: &Condition) -> f64 {
        let cells = self.cells_of(condition).iter();
        let steps = cells.flat_map(|cell| self.sorted(cell).windows(2).map(|pair| pair[1] - pair[0]));
        let step = steps.filter(|step| *step > 0.0).fold(f64::INFINITY, f64::min);
        if step.is_finite() { step } else { 0.0 }
    }
}

/// Condition and boot of each cell, in order, and the cell of each observation.
fn keys(observations: &[Observation]) -> (Vec<(usize, u32)>, Vec<usize>) {
    let mut first_seen: HashMap<(usize, u32), usize> = HashMap::new();
    let mut cell_of: Vec<usize> = Vec::with_capacity(observations.len());
    for observation in observations {
        let next = first_seen.len();
        cell_of.push(*first_seen.entry((observation.condition, observation.boot)).or_insert(next));
    }
    let mut keys: Vec<((usize, u32), usize)> = first_seen.into_iter().collect();
    keys.sort_unstable();
    let mut place_of = vec![0; keys.len()];
    for (place, (_, seen)) in keys.iter().enumerate() {
        place_of[*seen] = place;
    }
    for cell in &mut cell_of {
        *cell = place_of[*cell];
    }
    (keys.into_iter().map(|(key, _)| key).collect(), cell_of)
}

impl Cell {
    /// How many runs.
    pub(super) fn count(&self) -> usize {
        self.runs.len()
    }
}

impl Condition {
    fn of(number: usize, values: &[f64], all: &[Cell], cells: Range<usize>) -> Condition {
        let own = &all[cells.clone()];
        let values = &values[own[0].runs.start..own[own.len() - 1].runs.end];
        let means: Vec<f64> = own.iter().map(|cell| cell.mean).collect();
        let largest = values.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
        let varies = |sd: f64| (sd.is_finite() && sd > ROUNDING * largest).then_some(sd);
        let df = values.len() - own.len();
        let start = own[0].runs.start;
        let of_cell = |cell: &Cell| {
            squares(&values[cell.runs.start - start..cell.runs.end - start], cell.mean).root_over(1.0)
        };
        let root = own.iter().map(of_cell).fold(0.0, f64::hypot);
        let within = if df > 0 { varies(root / (df as f64).sqrt()) } else { None };
        let overall = || match values.len() {
            0 | 1 => None,
            n => varies(squares(values, mean(values)).root_over((n - 1) as f64)),
        };
        Condition {
            number,
            runs: values.len(),
            mean: mean(&means),
            within,
            scale: if df >= FEW { within } else { overall() },
            cells,
        }
    }
}
