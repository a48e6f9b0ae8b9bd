//! Looking before the end: what it costs without bounds, and what bounds make of it.

use std::ops::Range;

use serde::Serialize;

use super::means::Anova;
use super::rate::Rate;
use super::world::{self, World};
use super::{ALPHA, Plan, SimulateError, in_threads};
use crate::distribution::student;
use crate::question::Design;
use crate::sequential::Bounds;

/// Where the numbers of these cells begin: above all those of [`simulate`](super::simulate), so that no random numbers are
/// used twice.
const OWN: usize = 1 << 20;

/// When a difference counts as seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Looking {
    /// At the end, the only look.
    Once,
    /// At any look that is significant at 5 % by itself.
    Unguarded,
    /// At any look beyond O'Brien and Fleming's bounds.
    ObrienFleming,
    /// At any look beyond Pocock's bounds.
    Pocock,
}

impl Looking {
    /// All, in the order of the tables.
    pub const ALL: [Looking; 4] =
        [Looking::Once, Looking::Unguarded, Looking::ObrienFleming, Looking::Pocock];

    /// The name in tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Looking::Once => "one look, at the end",
            Looking::Unguarded => "5 % at every look",
            Looking::ObrienFleming => "O'Brien-Fleming bounds",
            Looking::Pocock => "Pocock bounds",
        }
    }

    /// The two-sided level of each look.
    fn nominal(self, fractions: &[f64]) -> Vec<f64> {
        match self {
            Looking::Once => fractions.iter().map(|share| if *share < 1.0 { 0.0 } else { ALPHA }).collect(),
            Looking::Unguarded => vec![ALPHA; fractions.len()],
            Looking::ObrienFleming => Bounds::ObrienFleming.nominal(fractions, ALPHA),
            Looking::Pocock => Bounds::Pocock.nominal(fractions, ALPHA),
        }
    }
}

/// What came of looking early.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SequentialRates {
    /// How many boots there were at each look.
    pub looks: Vec<usize>,
    /// By difference (none first), then by spread between boots.
    pub cells: Vec<SequentialCell>,
}

/// The rates of one spread and difference.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SequentialCell {
    /// The standard deviation between boots.
    pub between: f64,
    /// The difference.
    pub difference: f64,
    /// In the order of [`Looking::ALL`]: how often the difference was seen.
    pub rates: Vec<Rate>,
    /// In the same order: boots until it was, or all, on average.
    pub boots: Vec<f64>,
}

/// Simulates `plan` with its boots measured in `looks` equal parts, a look after each, in `threads` threads. The decision is
/// that of t on boot means, pooled over all conditions, with the quantile of Student's t at each look's nominal level and degrees
/// of freedom. The plan's methods do not matter.
///
/// # Errors
/// [`SimulateError`] as for [`simulate`](super::simulate), and for looks that boots cannot be divided into.
pub fn look_often(plan: &Plan, looks: u32, threads: usize) -> Result<SequentialRates, SimulateError> {
    plan.check()?;
    let boots = plan.world.boots;
    let wrong = SimulateError::Looks { looks, boots };
    if looks as usize > boots {
        return Err(wrong);
    }
    let at: Vec<usize> = (1..=looks as usize).map(|look| (look * boots).div_ceil(looks as usize)).collect();
    // With at most one look for each boot they grow.
    if at.first().is_none_or(|first| *first < 2) {
        return Err(wrong);
    }
    let thresholds: Vec<Vec<f64>> =
        Looking::ALL.iter().map(|looking| quantiles(*looking, &plan.world, &at)).collect();
    let cell = |place: usize, between: f64, difference: f64| {
        let world = plan.world.with_between(between);
        let count =
            |experiments: Range<u32>| count(plan, &world, place, difference, (&at, &thresholds), experiments);
        let (width, of) = (Looking::ALL.len(), f64::from(plan.experiments));
        let mut counts = in_threads(plan.experiments, threads, 2 * width, &count);
        let boots = counts.split_off(width).into_iter().map(|boots| boots as f64 / of).collect();
        let rates = counts.into_iter().map(|hits| Rate::new(hits, u64::from(plan.experiments))).collect();
        SequentialCell { between, difference, rates, boots }
    };
    let differences = std::iter::once(0.0).chain(plan.differences.iter().copied());
    let all =
        differences.flat_map(|difference| plan.between.iter().map(move |between| (*between, difference)));
    let cells = all.enumerate().map(|(place, (between, d))| cell(OWN + place, between, d)).collect();
    Ok(SequentialRates { looks: at, cells })
}

/// The quantile of Student's t that each look needs.
fn quantiles(looking: Looking, world: &World, looks: &[usize]) -> Vec<f64> {
    let fractions: Vec<f64> = looks.iter().map(|boots| *boots as f64 / world.boots as f64).collect();
    let a = world.conditions as f64;
    let quantile = |(nominal, boots): (f64, &usize)| {
        let of_condition = *boots as f64 - 1.0;
        let df = match world.design {
            Design::Nested => a * of_condition,
            Design::Crossed => (a - 1.0) * of_condition,
        };
        student::upper_quantile(nominal / 2.0, df).unwrap_or(f64::INFINITY)
    };
    looking.nominal(&fractions).into_iter().zip(looks).map(quantile).collect()
}

/// Hits of each rule, then the boots that each used.
fn count(
    plan: &Plan,
    world: &World,
    place: usize,
    difference: f64,
    (looks, thresholds): (&[usize], &[Vec<f64>]),
    experiments: Range<u32>,
) -> Vec<u64> {
    let mut counts = vec![0; 2 * Looking::ALL.len()];
    let (mut values, mut part) = (Vec::new(), Vec::new());
    for experiment in experiments {
        world.draw(&mut world::random(plan.seed, place, experiment), difference, &mut values);
        let mut statistic = |boots: &usize| {
            part.clear();
            let conditions = values.chunks_exact(world.boots * world.runs);
            conditions.for_each(|condition| part.extend_from_slice(&condition[..boots * world.runs]));
            let anova = Anova::of(&World { boots: *boots, ..*world }, &part, world.conditions);
            anova.difference.abs() / anova.standard_error(anova.boots)
        };
        let t: Vec<f64> = looks.iter().map(&mut statistic).collect();
        for (rule, thresholds) in thresholds.iter().enumerate() {
            let crossing = t.iter().zip(thresholds).position(|(t, threshold)| t > threshold);
            counts[rule] += u64::from(crossing.is_some());
            counts[Looking::ALL.len() + rule] += crossing.map_or(world.boots, |look| looks[look]) as u64;
        }
    }
    counts
}
