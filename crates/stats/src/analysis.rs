//! The data's answer to a question.

use serde::Serialize;

use crate::boots::{Cells, Observation};
use crate::comparison::Comparison;
use crate::components::Components;
use crate::error::StatsError;
use crate::fit::{ErrorTerm, Fit};
use crate::homogeneity::Homogeneity;
use crate::judgement::judge;
use crate::question::{Against, Design, Question};

/// Everything that inference says of one metric.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Analysis {
    /// The design, as asked or as recognised.
    pub design: Design,
    /// What the differences are held against.
    pub error: ErrorTerm,
    /// The confidence level of all intervals.
    pub level: f64,
    /// Every condition that was measured, in order.
    pub conditions: Vec<ConditionEstimate>,
    /// How much boots and runs differ.
    pub components: Components,
    /// Whether conditions spread equally; none where that cannot be tested.
    pub homogeneity: Option<Homogeneity>,
    /// The comparisons asked for, in order.
    pub comparisons: Vec<Comparison>,
}

/// One condition by itself.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ConditionEstimate {
    /// The condition.
    pub condition: usize,
    /// Its mean over boots, in the metric's unit. In a crossed design it is what it would be over all boots.
    pub mean: f64,
    /// The interval of the mean over boots like these, of that level by itself; none if nothing tells the error.
    pub interval: Option<(f64, f64)>,
    /// How many boots measured it.
    pub boots: usize,
    /// How many runs it has.
    pub runs: usize,
}

/// Answers `question` from `observations`, whatever their order.
///
/// The runs of a condition in a boot become one cell. Where conditions share boots (crossed) a difference is taken inside the
/// boots; where each has its own (nested) it is held against the spread between them. The error is pooled over all
/// conditions unless Brown and Forsythe's test objects; with unequal numbers of runs the variances come from REML. A boot, not
/// a run, is what counts.
///
/// # Errors
/// [`StatsError`] if a value is no number, the question is none, or the baseline was never measured.
pub fn analyse(observations: &[Observation], question: &Question) -> Result<Analysis, StatsError> {
    question.check()?;
    let cells = Cells::of(observations)?;
    if let Against::Baseline(baseline) = question.against
        && cells.condition(baseline).is_empty()
    {
        return Err(StatsError::NoBaseline { baseline });
    }
    let fit = Fit::of(&cells, question.design);
    Ok(Analysis {
        design: fit.design,
        error: fit.error,
        level: question.level,
        conditions: fit.conditions().iter().map(|condition| estimate(&fit, *condition, question)).collect(),
        components: Components::of(fit.unweighted(), 1.0 - question.level),
        homogeneity: fit.homogeneity,
        comparisons: judge(&fit, question),
    })
}

fn estimate(fit: &Fit, condition: usize, question: &Question) -> ConditionEstimate {
    let cells = fit.cells(condition);
    let estimate = fit.contrast(&[(condition, 1.0)]);
    ConditionEstimate {
        condition,
        mean: estimate.map_or(0.0, |estimate| estimate.value),
        interval: estimate.and_then(|estimate| estimate.interval(question.alpha())),
        boots: cells.len(),
        runs: cells.iter().map(|cell| cell.runs).sum(),
    }
}
