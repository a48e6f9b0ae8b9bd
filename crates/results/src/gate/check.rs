//! One condition against one bound.

use crate::{CaseAnswer, GateCase};
use serde::Serialize;

use crate::gate::acknowledged::Acknowledgement;
use crate::gate::bound::Bound;
use crate::gate::bound_difference::{ErrorShares, difference};
use crate::gate::settling_boots::{SettlingBoots, boots_to_settle};

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
            difference: difference(&judged, comparison),
            interval,
            boots: Some(comparison.boots),
            is_counted,
            open: (outcome == GateOutcome::Inconclusive).then(open),
            acknowledged: known,
        }
    }

    /// The bound that it is judged by.
    pub(crate) fn judged_by(&self) -> Bound {
        self.acknowledged.as_ref().map_or(self.bound, |known| known.bound)
    }
}
