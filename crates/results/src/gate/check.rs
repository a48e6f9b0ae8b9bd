//! One condition against one bound.

use crate::{CaseAnswer, GateCase};
use serde::Serialize;
use stats::planning::{Family, Goal, Noise, Plan};
use stats::{Component, Design};

use crate::gate::acknowledged::Acknowledgement;
use crate::gate::bound::Bound;

/// The outcome of a check or of the whole gate.
///
/// In the order in which a reader needs them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GateOutcome {
    /// The bound is shown to be broken.
    Fail,
    /// Neither is shown.
    Inconclusive,
    /// The bound is shown to be kept.
    Pass,
}

impl GateOutcome {
    /// The word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Inconclusive => "inconclusive",
        }
    }
}

/// One condition against one bound.
#[derive(Debug, Clone, Serialize)]
pub struct GateCheck {
    /// The condition's label.
    pub condition: String,
    /// The baseline of the comparison.
    pub against: String,
    /// The bound of the gate.
    pub bound: Bound,
    /// The acknowledgement whose bound replaces that of the gate.
    pub acknowledged: Option<Acknowledgement>,
    /// The outcome.
    pub outcome: GateOutcome,
    /// The difference from the baseline, in % of it if the bound is, else in the metric's unit.
    pub difference: Option<f64>,
    /// Its interval. For counts: as far as they repeat.
    pub interval: Option<(f64, f64)>,
    /// The boots: those that measured both, or those of the side with fewer.
    pub boots: Option<usize>,
    /// Whether it is judged by the resolution of counts.
    pub is_counted: bool,
    /// The reason why it is inconclusive.
    pub open: Option<InconclusiveReason>,
}

/// A reason why a check is inconclusive.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum InconclusiveReason {
    /// The interval includes the bound.
    Includes {
        /// The boots that would settle it; `None` if unknown.
        settled_by: Option<SettlingBoots>,
    },
    /// The bound is nearer than counts repeat.
    WithinResolution,
    /// One side was not measured: why.
    NotMeasured(String),
    /// The interval is missing, for this reason.
    NoInterval(&'static str),
    /// Zero is within the baseline's interval, so that no percentage can be stated.
    NoPercentage,
}

/// The boots that would settle a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SettlingBoots {
    /// This number of boots; of each side where each has its own.
    About(u32),
    /// More than [`Self::MOST`].
    TooMany,
}

impl SettlingBoots {
    /// The power with which a check is settled.
    pub const POWER: f64 = 0.8;
    /// The largest number of boots that is named.
    pub const MOST: u32 = 1000;
}

/// The one-sided error rates of the two ends of an interval.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ErrorShares {
    /// The rate of the end that must lie beyond the bound for a failure.
    pub(crate) fail: f64,
    /// The rate of the end that must lie within the bound for a pass.
    pub(crate) pass: f64,
}

impl GateCheck {
    pub(crate) fn unmeasured(
        case: &GateCase,
        bound: Bound,
        known: Option<Acknowledgement>,
        why: &str,
    ) -> Self {
        Self {
            condition: case.label.clone(),
            against: case.against.clone(),
            bound,
            acknowledged: known,
            outcome: GateOutcome::Inconclusive,
            difference: None,
            interval: None,
            boots: None,
            is_counted: case.is_counted(),
            open: Some(InconclusiveReason::NotMeasured(why.to_owned())),
        }
    }

    /// The check of a case with this answer and these ends of its difference. `shares` are the
    /// error rates of the end that decides a failure and of the end that decides a pass, one-sided.
    pub(crate) fn from_answer(
        case: &GateCase,
        bound: Bound,
        known: Option<Acknowledgement>,
        (answer, interval): (&CaseAnswer, Option<(f64, f64)>),
        shares: ErrorShares,
    ) -> Self {
        let judged = known.as_ref().map_or(bound, |known| known.bound);
        let comparison = &answer.comparison;
        let is_counted = comparison.resolution.is_some();
        let outcome = match interval {
            Some(interval) if judged.is_broken_by(interval) => GateOutcome::Fail,
            Some(interval) if judged.is_kept_by(interval) => GateOutcome::Pass,
            _ => GateOutcome::Inconclusive,
        };
        let open = || match (interval, comparison.gap) {
            (Some(_), _) if is_counted => InconclusiveReason::WithinResolution,
            (Some(_), _) => {
                InconclusiveReason::Includes { settled_by: boots_to_settle(&judged, answer, shares) }
            }
            (None, Some(gap)) => InconclusiveReason::NoInterval(gap.as_str()),
            (None, None) => InconclusiveReason::NoPercentage,
        };
        Self {
            condition: case.label.clone(),
            against: case.against.clone(),
            bound,
            outcome,
            difference: judged.difference(comparison),
            interval,
            boots: Some(comparison.boots),
            is_counted,
            open: (outcome == GateOutcome::Inconclusive).then(open),
            acknowledged: known,
        }
    }

    /// The bound that it is judged by.
    #[must_use]
    pub fn judged_by(&self) -> Bound {
        self.acknowledged.as_ref().map_or(self.bound, |known| known.bound)
    }
}

/// The boots with which the bound is excluded with 80 % power, if the difference and the spread are
/// as measured: the size of a study that proves a difference as large as the distance from the
/// bound ([`stats::planning`]), one-sided. `None` if the spread is unknown.
fn boots_to_settle(bound: &Bound, answer: &CaseAnswer, shares: ErrorShares) -> Option<SettlingBoots> {
    let comparison = &answer.comparison;
    let measured = bound.difference(comparison)?;
    let distance = (measured - bound.number()).abs();
    let (delta, factor) = if bound.is_percent() {
        // A percentage p of the baseline b is tested as mean - (1 + p / 100) b, in whose variance
        // the baseline counts by that factor's square.
        let factor = 1.0 + bound.number() / 100.0;
        (distance / 100.0 * comparison.baseline_mean.abs(), ((1.0 + factor * factor) / 2.0).sqrt())
    } else {
        (distance, 1.0)
    };
    let is_nested = answer.design == Design::Nested || comparison.boots_apart;
    let sd = |of: Option<Component>| of.map(|component| component.sd);
    let spread = &answer.spread;
    let cell = match answer.design {
        Design::Nested => sd(spread.boots)?,
        Design::Crossed if comparison.boots_apart => sd(spread.interaction)?.hypot(sd(spread.boots)?),
        Design::Crossed => sd(spread.interaction)?,
    };
    // With one run in each boot, the spread between boots includes that of the runs.
    let noise = Noise { cell: factor * cell, run: factor * sd(spread.runs).unwrap_or(0.0) };
    let is_beyond = bound.is_broken_by((measured, measured));
    let plan = Plan {
        design: if is_nested { Design::Nested } else { Design::Crossed },
        conditions: 2,
        noise,
        family: Family::Alone,
        alpha: 2.0 * if is_beyond { shares.fail } else { shares.pass },
        looks: None,
    };
    let runs = (answer.runs.round() as u32).max(1);
    let goal =
        Goal { delta, power: SettlingBoots::POWER, boots_at_most: SettlingBoots::MOST, runs_at_most: runs };
    let now = u32::try_from(comparison.boots).unwrap_or(SettlingBoots::MOST);
    if delta == 0.0 || now >= SettlingBoots::MOST {
        return Some(SettlingBoots::TooMany);
    }
    // The two sides may vary more than on average, so that the boots at hand were not enough.
    Some(
        plan.boots_needed(goal, runs)
            .map_or(SettlingBoots::TooMany, |boots| SettlingBoots::About(boots.max(now + 1))),
    )
}
