//! Early looks: their cost without bounds, and the effect of bounds.

use std::ops::Range;

use serde::Serialize;
use stats::Design;
use stats::distribution::{normal, student};
use stats::sequential::{Schedule, SpendingBounds, shift, shifted};

use super::in_threads;
use super::means::Anova;
use super::plan::Plan;
use super::rate::Rate;
use super::world::ALPHA;
use super::world::{self, World};

/// The first number of these cells: above all those of [`simulate`](super::simulate), so that none
/// share random numbers.
const OWN: usize = 1 << 20;

/// When a difference counts as found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Looking {
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
    /// All of them, in the order of the rates.
    pub(crate) const ALL: [Looking; 4] =
        [Looking::Once, Looking::Unguarded, Looking::ObrienFleming, Looking::Pocock];

    /// The bounds, if there are any.
    fn bounds(self) -> Option<SpendingBounds> {
        match self {
            Looking::Once | Looking::Unguarded => None,
            Looking::ObrienFleming => Some(SpendingBounds::ObrienFleming),
            Looking::Pocock => Some(SpendingBounds::Pocock),
        }
    }
}

/// The result of early looks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct SequentialRates {
    /// The number of boots at each look.
    pub(crate) looks: Vec<usize>,
    /// By difference (none first), then by spread between boots.
    pub(crate) cells: Vec<SequentialCell>,
}

/// The rates of one spread and difference.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct SequentialCell {
    /// The standard deviation between boots.
    pub(crate) between: f64,
    /// The difference.
    pub(crate) difference: f64,
    /// In the order of [`Looking::ALL`]: how often the difference was found.
    pub(crate) rates: Vec<Rate>,
    /// In the same order: the mean number of boots used.
    pub(crate) boots: Vec<f64>,
    /// In the same order: the mean difference found, in the metric's unit.
    pub(crate) estimates: Vec<Estimates>,
}

/// The mean of the experiments' final differences, in the metric's unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Estimates {
    /// As measured.
    pub(crate) measured: f64,
    /// Median-unbiased, as netassay states it; without bounds as measured.
    pub(crate) adjusted: f64,
    /// The share of experiments whose measured difference was above the true one.
    pub(crate) measured_above: f64,
    /// The rate at which the stated difference is above the true one: a half if it is
    /// median-unbiased.
    pub(crate) adjusted_above: f64,
}

/// Simulates `plan` with its boots measured in `looks` equal parts, a look after each, in `threads`
/// threads. It decides by t on boot means, pooled over all conditions, with the quantile of
/// Student's t at each look's nominal level and degrees of freedom. The plan's methods are ignored.
///
/// # Errors
/// As for [`simulate`](super::simulate), and if the boots do not divide into the looks.
pub(crate) fn look_often(plan: &Plan, looks: u32, threads: usize) -> Result<SequentialRates, String> {
    plan.check()?;
    let at = Schedule { bounds: SpendingBounds::Pocock, looks, boots: plan.world.boots as u32 }.after();
    if at.is_empty() {
        let (boots, most) = (plan.world.boots, plan.world.boots.saturating_sub(1));
        return Err(format!(
            "{looks} looks do not fit into {boots} boots: the first look needs 2 boots, so plan 1 to {most} looks"
        ));
    }
    let has_differences = !plan.differences.is_empty();
    let rules: Vec<Rule> =
        Looking::ALL.iter().map(|looking| Rule::of(*looking, &plan.world, looks, has_differences)).collect();
    let cell = |place: usize, between: f64, difference: f64| {
        let world = plan.world.with_between(between);
        let count = |experiments: Range<u32>| count(plan, &world, place, difference, &rules, experiments);
        let of = f64::from(plan.experiments);
        let counts = in_threads(plan.experiments, threads, SUMS * rules.len(), &count);
        let sum = |of_what: usize| counts.iter().skip(of_what).step_by(SUMS);
        let mean = |sum: &i64| *sum as f64 / of;
        let estimate = |sum: &i64| difference + mean(sum) * unit(&world);
        SequentialCell {
            between,
            difference,
            rates: sum(0).map(|hits| Rate::new(*hits as u64, u64::from(plan.experiments))).collect(),
            boots: sum(1).map(mean).collect(),
            estimates: counts
                .chunks_exact(SUMS)
                .map(|of| Estimates {
                    measured: estimate(&of[2]),
                    adjusted: estimate(&of[3]),
                    measured_above: mean(&of[4]),
                    adjusted_above: mean(&of[5]),
                })
                .collect(),
        }
    };
    let differences = std::iter::once(0.0).chain(plan.differences.iter().copied());
    let all =
        differences.flat_map(|difference| plan.between.iter().map(move |between| (*between, difference)));
    let cells = all.enumerate().map(|(place, (between, d))| cell(OWN + place, between, d)).collect();
    Ok(SequentialRates { looks: at.into_iter().map(|boots| boots as usize).collect(), cells })
}

/// One look of a rule.
struct LookOf {
    boots: usize,
    df: f64,
    /// Its quantile of Student's t.
    critical: f64,
    /// The shift of an estimate towards zero in standard errors, by |z|; empty without one.
    shifts: Vec<f64>,
}

/// The looks of a rule, with their requirements.
struct Rule(Vec<LookOf>);

/// The step of |z| in a rule's shifts, and their number.
const STEP: f64 = 0.1;
const STEPS: usize = 80;

impl Rule {
    fn of(looking: Looking, world: &World, looks: u32, has_differences: bool) -> Rule {
        let a = world.conditions as f64;
        let df_per_boot = match world.design {
            Design::Nested => a,
            Design::Crossed => a - 1.0,
        };
        let schedule = Schedule {
            bounds: looking.bounds().unwrap_or(SpendingBounds::Pocock),
            looks,
            boots: world.boots as u32,
        };
        let (after, looks) = (schedule.after(), schedule.looks(df_per_boot));
        let nominal: Vec<f64> = match looking {
            Looking::Once => {
                after.iter().map(|boots| if *boots < schedule.boots { 0.0 } else { ALPHA }).collect()
            }
            Looking::Unguarded => vec![ALPHA; after.len()],
            Looking::ObrienFleming | Looking::Pocock => looks.nominal(ALPHA),
        };
        let (z, fractions) = (looks.z(ALPHA), looks.fractions.as_slice());
        let look = |(look, (boots, nominal)): (usize, (u32, f64))| {
            let df = df_per_boot * (f64::from(boots) - 1.0);
            let shifts = (0..=STEPS).map(|step| shift(&fractions[..=look], &z[..look], STEP * step as f64));
            let has_shifts = has_differences && looking.bounds().is_some();
            LookOf {
                boots: boots as usize,
                df,
                critical: student::upper_quantile(nominal / 2.0, df).unwrap_or(f64::INFINITY),
                shifts: if has_shifts { shifts.collect() } else { Vec::new() },
            }
        };
        Rule(after.into_iter().zip(nominal).enumerate().map(look).collect())
    }
}

impl LookOf {
    /// The stated estimate for this t, in standard errors.
    fn stated(&self, t: f64) -> f64 {
        let place = normal::upper_quantile(student::sf(t, self.df)).unwrap_or(0.0).max(0.0) / STEP;
        let (before, rest) = (place.floor(), place.fract());
        let at = |step: f64| self.shifts.get(step as usize).or(self.shifts.last()).copied().unwrap_or(0.0);
        shifted(t, self.critical, at(before) * (1.0 - rest) + at(before + 1.0) * rest)
    }
}

/// The unit of sums of errors: whole numbers have the same sum in any order.
fn unit(world: &World) -> f64 {
    (world.between + world.within) / f64::from(1 << 30)
}

/// The number of sums of each rule.
const SUMS: usize = 6;

/// For each rule hits, boots used, the errors of the measured and the stated estimates, and how
/// many of either are above the truth.
fn count(
    plan: &Plan,
    world: &World,
    place: usize,
    difference: f64,
    rules: &[Rule],
    experiments: Range<u32>,
) -> Vec<i64> {
    let mut counts = vec![0; SUMS * rules.len()];
    let (mut values, mut part) = (Vec::new(), Vec::new());
    for experiment in experiments {
        world.draw(&mut world::random(plan.seed, place, experiment), difference, &mut values);
        let mut found = |look: &LookOf| {
            part.clear();
            let conditions = values.chunks_exact(world.boots * world.runs);
            conditions.for_each(|condition| part.extend_from_slice(&condition[..look.boots * world.runs]));
            let anova = Anova::of(&World { boots: look.boots, ..*world }, &part, world.conditions);
            (anova.difference, anova.standard_error(anova.boots))
        };
        let looks: Vec<(f64, f64)> = rules[0].0.iter().map(&mut found).collect();
        for (rule, counts) in rules.iter().zip(counts.chunks_exact_mut(SUMS)) {
            let crosses =
                |(look, (estimate, se)): (&LookOf, &(f64, f64))| estimate.abs() / se > look.critical;
            let crossing = rule.0.iter().zip(&looks).position(crosses);
            let end = crossing.unwrap_or(looks.len() - 1);
            let (look, (estimate, se)) = (&rule.0[end], looks[end]);
            let stated = look.stated(estimate.abs() / se) * se * estimate.signum();
            let error = |of: f64| ((of - difference) / unit(world)).round() as i64;
            counts[0] += i64::from(crossing.is_some());
            counts[1] += look.boots as i64;
            counts[2] += error(estimate);
            counts[3] += error(stated);
            counts[4] += i64::from(estimate > difference);
            counts[5] += i64::from(stated > difference);
        }
    }
    counts
}
