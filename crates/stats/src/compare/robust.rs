//! A robust check of a verdict: whether it stays the same when single runs, which have full weight
//! in a mean, have less influence.
//!
//! It answers the same question by the same model from the medians of the boots' runs. (Logarithms
//! are no check: with a pooled error they contradict small differences beside large ones in any
//! additive world.)
//!
//! Two estimates of the same quantity differ by chance, so a check disagrees only with a clear
//! margin: a proven difference has no support ([`DOUBT`]) or the other sign, or a verdict far from
//! proven (p above [`DOUBT`]) is beyond doubt ([`SURE`], for all comparisons of the family
//! together).

use serde::Serialize;

use crate::compare::analysis::QuestionAtLook;
use crate::compare::comparison::Comparison;
use crate::observed::{Cells, Observation};
use crate::question::{Correction, Design, Question, ValueRange};

// A larger p-value is no support for a difference, and a verdict with one is far from proven.
const DOUBT: f64 = 0.3;

// A smaller p-value is beyond doubt.
const SURE: f64 = 0.005;

pub(crate) fn state(
    comparisons: &mut [Comparison],
    (cells, design): (&Cells, Design),
    observations: &[Observation],
    asked: &QuestionAtLook<'_>,
) {
    // The median of two runs is their mean.
    if !cells.iter().any(|cell| cell.runs > 2) {
        return;
    }
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
    let medians = QuestionAtLook { question, ..asked.clone() }.judge(&Cells::medians(observations));
    for one in comparisons.iter_mut().filter(|one| one.interval.is_some()) {
        let by_medians = one.same_among(&medians);
        one.checks = by_medians.and_then(|other| RobustCheck::new(one, other, family)).into_iter().collect();
    }
}

/// The result of a check of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RobustCheck {
    /// Its data: the median of each boot's runs.
    pub looks: &'static str,
    /// Its estimate of the difference, in % of its baseline; `None` for a baseline of zero.
    pub relative: Option<f64>,
    /// The p-value of this comparison by itself.
    pub p: f64,
    /// Whether it agrees with the verdict.
    pub agrees: bool,
}

impl RobustCheck {
    fn new(one: &Comparison, by_medians: &Comparison, family: usize) -> Option<RobustCheck> {
        let (p, baseline) = (by_medians.p?, by_medians.baseline_mean);
        let share = (baseline != 0.0).then(|| 100.0 * by_medians.difference / baseline.abs());
        let relative = share.filter(|share| share.is_finite());
        let (low, high) = one.interval?;
        let agrees = if low > 0.0 || high < 0.0 {
            let has_other_sign = relative.is_some_and(|share| share * one.difference < 0.0);
            p <= DOUBT && !has_other_sign
        } else {
            one.p.is_none_or(|p| p <= DOUBT) || p * family as f64 >= SURE
        };
        Some(RobustCheck { looks: "run_medians", relative, p, agrees })
    }
}
