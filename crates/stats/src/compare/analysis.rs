//! The answer of the data to a question.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::compare::comparison::{Comparison, Gap};
use crate::compare::family::detectable;
use crate::compare::judgement::judge;
use crate::compare::{ratio, robust};
use crate::distribution::{normal, student};
use crate::model::{Borrowing, Components, ErrorTerm, Estimate, Fit};
use crate::observed::{Cells, Observation};
use crate::question::{Against, Design, Look, Question, StatsError, ValueRange};
use crate::sequential::{Looks, Schedule, shift};

/// The analysis of one metric.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Analysis {
    /// The design, as requested or detected.
    pub design: Design,
    /// The error of the differences.
    pub error: ErrorTerm,
    /// The confidence level of all intervals.
    pub level: f64,
    /// Every measured condition, in order.
    pub conditions: Vec<ConditionEstimate>,
    /// The spread of boots and of runs.
    pub components: Components,
    /// The requested comparisons, in order.
    pub comparisons: Vec<Comparison>,
}

impl Analysis {
    /// The analysis without an answer where one of the two conditions is among `carried`
    /// ([`Gap::Carried`]).
    pub fn without_answers(mut self, carried: &[usize]) -> Analysis {
        for one in &mut self.comparisons {
            if carried.contains(&one.condition) || carried.contains(&one.baseline) {
                *one = Comparison { gap: Some(Gap::Carried), ..std::mem::take(one).means() };
            }
        }
        self
    }
}

/// One condition by itself.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ConditionEstimate {
    /// The condition.
    pub condition: usize,
    /// Its mean over boots, in the metric's unit; in a crossed design an estimate for all boots.
    pub mean: f64,
    /// Its interval, over boots like these, with that level by itself; `None` if unknown.
    pub interval: Option<(f64, f64)>,
    /// The standard error of the mean with its degrees of freedom; `None` if it is unknown.
    #[serde(skip)]
    pub error: Option<(f64, f64)>,
    /// The boots that measured it.
    pub boots: usize,
    /// Its runs.
    pub runs: usize,
}

/// Answers `question` from `observations` in any order.
///
/// The runs of a condition in a boot become one cell. Where conditions share boots (crossed),
/// differences are taken inside the boots; where each has its own (nested), the spread between
/// boots is their error. Each condition has its own spread; where several comparisons hold
/// together, it is moderated by those of the others. The boot counts, not the run.
///
/// # Errors
/// [`StatsError`] for a value that is not finite, an invalid question, or an unmeasured baseline.
pub fn analyse(observations: &[Observation], question: &Question) -> Result<Analysis, StatsError> {
    analyse_with(observations, question, |_| true, &Spending::default())
}

/// Analyses as [`analyse`], but compares and lists only the conditions in `takes_part`, with the
/// looks' levels that earlier analyses computed. The other conditions contribute to the effects of
/// the boots that they share, and to the degrees of freedom of several comparisons.
///
/// # Errors
/// As [`analyse`].
pub fn analyse_with(
    observations: &[Observation],
    question: &Question,
    takes_part: impl Fn(usize) -> bool,
    spending: &Spending,
) -> Result<Analysis, StatsError> {
    question.check()?;
    let cells = Cells::from_observations(observations)?;
    if let Against::Baseline(baseline) = question.against
        && cells.condition(baseline).is_empty()
    {
        return Err(StatsError::NoBaseline(baseline));
    }
    let fit = Fit::new(&cells, question);
    let asked = QuestionAtLook::new(*question, &cells, &takes_part, spending);
    let mut comparisons = judge(&fit, &asked);
    ratio::state(&mut comparisons, &cells, &asked);
    robust::state(&mut comparisons, (&cells, fit.design), observations, &asked);
    let shown = fit.conditions().iter().filter(|condition| takes_part(**condition));
    Ok(Analysis {
        design: fit.design,
        error: fit.error,
        level: question.level,
        conditions: shown.map(|condition| estimate(&fit, *condition, question, spending)).collect(),
        components: Components::from_fit(&fit.model, 1.0 - question.level),
        comparisons,
    })
}

/// The conditions of `observations` by themselves, each interval with `level` by itself. They are
/// those of [`analyse`] without a comparison, looks, or a family. `range`: the possible values.
///
/// # Errors
/// [`StatsError`] for a value that is not finite, or a level outside of 0 to 1.
pub fn estimates(
    observations: &[Observation],
    level: f64,
    range: ValueRange,
) -> Result<Vec<ConditionEstimate>, StatsError> {
    let question = Question { level, range, ..Question::against(0) };
    question.check()?;
    let fit = Fit::new(&Cells::from_observations(observations)?, &question);
    let spending = Spending::default();
    Ok(fit.conditions().iter().map(|condition| estimate(&fit, *condition, &question, &spending)).collect())
}

fn estimate(fit: &Fit, condition: usize, question: &Question, spending: &Spending) -> ConditionEstimate {
    let cells = fit.cells(condition);
    let estimate = fit.contrast(&[(condition, 1.0)], Borrowing::None);
    let alpha = |estimate: &Estimate| match question.look {
        Some(look) if estimate.is_sure() => {
            spending.nominal(LookPosition::new(look, estimate.df, cells.len()), question.alpha())
        }
        _ => Some(question.alpha()),
    };
    let interval = estimate.and_then(|estimate| estimate.interval(alpha(&estimate)?));
    let mean = fit.mean(condition).unwrap_or(f64::NAN);
    ConditionEstimate {
        condition,
        mean,
        interval: interval.map(|ends| question.range.of_value(ends, mean)),
        error: estimate.filter(Estimate::is_sure).map(|estimate| (estimate.se, estimate.df)),
        boots: cells.len(),
        runs: cells.iter().map(|cell| cell.runs).sum(),
    }
}

#[derive(Clone)]
pub(crate) struct QuestionAtLook<'a> {
    pub(crate) question: Question,
    /// The other conditions only contribute to the error.
    pub(crate) takes_part: &'a dyn Fn(usize) -> bool,
    pub(crate) spending: &'a Spending,
    /// (condition, baseline) of the comparisons that an earlier look decided: the study did not
    /// continue for them.
    pub(crate) decided: BTreeSet<(usize, usize)>,
}

// Degrees of freedom per boot are rounded to this share: the error rate changes by less than 0.02
// %.
const STEP: f64 = 0.05;

/// Computed levels of looks, and detectable differences: they take milliseconds, and do not depend
/// on the data.
#[derive(Default)]
pub struct Spending {
    looks: RefCell<BTreeMap<(Schedule, i64), KnownLooks>>,
    /// In standard errors, by critical value and degrees of freedom.
    detectable: RefCell<BTreeMap<(u64, u64), Option<f64>>>,
}

type KnownLooks = (Looks, BTreeMap<u64, Vec<f64>>);

#[derive(Clone, Copy, Debug)]
pub(crate) struct LookPosition {
    pub(crate) look: Look,
    /// Degrees of freedom of its error per boot but one, in steps.
    df: i64,
}

impl LookPosition {
    /// The position of a look with `df` degrees of freedom from this many boots.
    pub(crate) fn new(look: Look, df: f64, boots: usize) -> LookPosition {
        let per_boot = (df / (boots as f64 - 1.0).max(1.0)).max(1.0);
        LookPosition { look, df: (per_boot.ln() / STEP).round() as i64 }
    }
}

impl Spending {
    /// The two-sided level of the look for a comparison with the error rate `alpha` over all looks.
    pub(crate) fn nominal(&self, at: LookPosition, alpha: f64) -> Option<f64> {
        let number = at.look.number as usize;
        self.with_bounds(at, alpha, |_, z| z.get(number - 1).map(|z| normal::two_sided(*z)))
    }

    /// The error rate over all looks at which a comparison with this two-sided p at the look is
    /// just proven.
    pub(crate) fn p(&self, at: LookPosition, nominal: f64) -> Option<f64> {
        self.with_looks(at, |(looks, _)| looks.p(at.look.number, nominal))
    }

    /// The shift, in standard errors, of the median-unbiased estimate toward zero for this t at the
    /// look, if no earlier look decided.
    pub(crate) fn shift(&self, at: LookPosition, alpha: f64, t: f64, df: f64) -> f64 {
        let before = at.look.number as usize - 1;
        let z = normal::upper_quantile(student::sf(t, df)).unwrap_or(0.0);
        self.with_bounds(at, alpha, |looks, bounds| match bounds.get(..before) {
            Some(bounds) => shift(&looks.fractions[..=before], bounds, z),
            None => 0.0,
        })
    }

    pub(crate) fn detectable(&self, critical: f64, df: f64) -> Option<f64> {
        let place = (critical.to_bits(), df.to_bits());
        *self.detectable.borrow_mut().entry(place).or_insert_with(|| detectable(critical, df))
    }

    fn with_bounds<T>(&self, at: LookPosition, alpha: f64, ask: impl FnOnce(&Looks, &[f64]) -> T) -> T {
        self.with_looks(at, |(looks, bounds)| {
            let bounds = bounds.entry(alpha.to_bits()).or_insert_with(|| looks.z(alpha));
            ask(looks, bounds)
        })
    }

    fn with_looks<T>(&self, at: LookPosition, ask: impl FnOnce(&mut KnownLooks) -> T) -> T {
        let schedule = at.look.schedule;
        let computed = || (schedule.looks((at.df as f64 * STEP).exp()), BTreeMap::new());
        ask(self.looks.borrow_mut().entry((schedule, at.df)).or_insert_with(computed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_are_those_of_an_analysis() {
        let value = |condition: usize, boot: u32| 50.0 + 7.0 * condition as f64 + f64::from(boot * boot % 5);
        let runs: Vec<Observation> = (1..4)
            .flat_map(|condition| (1..=4).map(move |boot| (condition, boot)))
            .map(|(condition, boot)| Observation { condition, boot, value: value(condition, boot) })
            .collect();
        let question = Question { level: 0.9, ..Question::against(1) };
        assert_eq!(
            estimates(&runs, 0.9, ValueRange::ANY).unwrap(),
            analyse(&runs, &question).unwrap().conditions
        );
        assert_eq!(estimates(&[], 0.9, ValueRange::ANY).unwrap(), []);
        assert!(estimates(&runs, 1.0, ValueRange::ANY).is_err());
    }

    #[test]
    fn conditions_that_take_no_part_tell_the_error() {
        let value = |condition: usize, boot: u32| {
            let wobble = [0.3, -0.2, 0.1, -0.4, 0.2, 0.5, -0.1, -0.3][(condition * 3 + boot as usize) % 8];
            100.0 + 10.0 * condition as f64 + f64::from(boot) + wobble
        };
        let run = |condition, boot| Observation { condition, boot, value: value(condition, boot) };
        let all: Vec<Observation> = (0..4)
            .flat_map(|condition| (1..=3).map(move |boot| (condition, boot)))
            .map(|(condition, boot)| run(condition, boot))
            .collect();
        let question = Question::against(0);
        let among = analyse_with(&all, &question, |condition| condition < 3, &Spending::default()).unwrap();
        let alone: Vec<Observation> = all.iter().filter(|run| run.condition < 3).copied().collect();
        let alone = analyse(&alone, &question).unwrap();
        let whole = analyse(&all, &question).unwrap();
        assert_eq!((among.conditions.len(), among.comparisons.len()), (3, 2));
        assert!(alone.comparisons[0].df < among.comparisons[0].df);
        assert_eq!(among.comparisons[0].standard_error, whole.comparisons[0].standard_error);
        assert!(among.comparisons[0].p < whole.comparisons[0].p);
        assert!((among.comparisons[0].difference - alone.comparisons[0].difference).abs() < 1e-9);
    }
}
