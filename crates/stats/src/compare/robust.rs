//! Robust checks of a verdict: whether it stays the same when single runs or boots, which have full
//! weight in a mean, have less influence.
//!
//! Each check answers the same question from other data: the medians of the boots' runs, by the
//! same model; the ranks of the boots' means, by an exact test, if there are enough boots to
//! reject. (Logarithms are no check: with a pooled error they contradict small differences beside
//! large ones in any additive world.)
//!
//! Two estimates of the same quantity differ by chance, so a check disagrees only with a clear
//! margin: a proven difference has no support ([`DOUBT`]) or the other sign, or a verdict far from
//! proven ([`Looks::open`]) is beyond doubt ([`SURE`], for all comparisons of the family together).

use std::cmp::Ordering;

use serde::Serialize;

use crate::compare::analysis::QuestionAtLook;
use crate::compare::comparison::Comparison;
use crate::compare::ranks;
use crate::observed::{Cell, Cells, Observation, in_common, median};
use crate::question::{Correction, Design, Question, ValueRange};

/// A larger p-value is no support for a difference.
pub const DOUBT: f64 = 0.3;

/// A smaller p-value is beyond doubt.
pub const SURE: f64 = 0.005;

/// A test of ranks is used only if it can reach this p-value.
const REACH: f64 = 0.05;

impl Looks {
    /// A verdict with a larger p-value is far from proven. Ranks of means follow means closely,
    /// medians less so; one wild boot beside nine leaves the t-test a p-value of at most 0.3.
    fn open(self) -> f64 {
        match self {
            Looks::RunMedians => DOUBT,
            Looks::BootRanks => 0.1,
        }
    }
}

/// Adds the checks to comparisons with an interval.
pub(crate) fn state(
    comparisons: &mut [Comparison],
    (cells, design): (&Cells, Design),
    observations: &[Observation],
    asked: &QuestionAtLook<'_>,
) {
    let family = match asked.question.correction {
        Correction::Family => comparisons.iter().filter(|one| one.interval.is_some()).count(),
        Correction::None => 1,
    };
    let question = Question {
        design: Some(design),
        margin: None,
        look: None,
        correction: Correction::None,
        range: ValueRange::ANY,
        ..asked.question
    };
    let has_medians = cells.iter().any(|cell| cell.runs > 2);
    let medians =
        if has_medians { asked.instead(question).judge(&Cells::medians(observations)) } else { Vec::new() };
    for one in comparisons.iter_mut().filter(|one| one.interval.is_some()) {
        let check = |looks: Looks, (difference, baseline): (f64, f64), p: f64| {
            let share = (baseline != 0.0).then(|| 100.0 * difference / baseline.abs());
            let relative = share.filter(|share| share.is_finite());
            let mut check = Check { looks, relative, p, agrees: true, farthest: None };
            check.agrees = agrees(&check, one, family);
            if !check.agrees {
                check.farthest = farthest(looks, observations, cells, one);
            }
            check
        };
        let medians = one.same_among(&medians);
        let of_medians = medians.and_then(|other| {
            Some(check(Looks::RunMedians, (other.difference, other.baseline_mean), other.p?))
        });
        let of_ranks = boot_ranks(cells, design, one).map(|(medians, p)| check(Looks::BootRanks, medians, p));
        one.checks = of_medians.into_iter().chain(of_ranks).collect();
    }
}

fn agrees(check: &Check, one: &Comparison, family: usize) -> bool {
    let Some((low, high)) = one.interval else { return true };
    if low > 0.0 || high < 0.0 {
        let has_other_sign = check.relative.is_some_and(|share| share * one.difference < 0.0);
        return check.p <= DOUBT && !has_other_sign;
    }
    let is_close = one.p.is_none_or(|p| p <= check.looks.open());
    is_close || check.p * family as f64 >= SURE
}

/// The median difference with the baseline's median, and the p-value of the ranks; `None` where too
/// few boots could reject.
fn boot_ranks(cells: &Cells, design: Design, one: &Comparison) -> Option<((f64, f64), f64)> {
    let (own, base) = (cells.condition(one.condition), cells.condition(one.baseline));
    let means = |cells: &[Cell]| cells.iter().map(|cell| cell.mean).collect::<Vec<f64>>();
    let baseline = median(&means(base))?;
    if design == Design::Nested || one.boots_apart {
        let (own, base) = (means(own), means(base));
        // 2 of all choices of boots for the condition.
        let choices = (0..own.len()).map(|i| (base.len() + i + 1) as f64 / (i + 1) as f64).product::<f64>();
        let is_enough = 2.0 / choices < REACH;
        return is_enough.then_some(((median(&own)? - baseline, baseline), ranks::two_samples(&own, &base)));
    }
    let differences: Vec<f64> = in_common(own, base).map(|(cell, base)| cell.mean - base.mean).collect();
    let is_enough = 2.0_f64.powi(1 - i32::try_from(differences.len()).ok()?) < REACH;
    is_enough.then_some(((median(&differences)?, baseline), ranks::signed(&differences)))
}

/// The run farthest from the median of its boot, or the boot farthest from that of its condition,
/// in the compared conditions.
fn farthest(looks: Looks, observations: &[Observation], cells: &Cells, one: &Comparison) -> Option<Farthest> {
    let conditions = [one.condition, one.baseline].into_iter();
    let all: Vec<Farthest> = match looks {
        Looks::BootRanks => {
            let of = |condition: usize| {
                let own = cells.condition(condition);
                let median = median(&own.iter().map(|cell| cell.mean).collect::<Vec<_>>()).unwrap_or(0.0);
                own.iter().map(move |cell| {
                    let (boot, value) = (cell.boot, cell.mean);
                    Farthest { condition, boot, run: None, value, median }
                })
            };
            conditions.flat_map(of).collect()
        }
        Looks::RunMedians => {
            let medians = Cells::medians(observations);
            let of = |cell: &Cell| {
                let (condition, boot, median) = (cell.condition, cell.boot, cell.mean);
                let own =
                    observations.iter().filter(move |run| (run.condition, run.boot) == (condition, boot));
                (1..).zip(own).map(move |(run, own)| Farthest {
                    condition,
                    boot,
                    run: Some(run),
                    value: own.value,
                    median,
                })
            };
            conditions.flat_map(|condition| medians.condition(condition)).flat_map(of).collect()
        }
    };
    all.into_iter().max_by(Farthest::by_distance)
}

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
