//! One condition against one bound.

use crate::GateCase;
use serde::Serialize;
use stats::planning::{PlannedFamily, PowerGoal, SampleSizePlan};
use stats::{Analysis, Component, Design};

use crate::gate::acknowledged::Acknowledgement;
use crate::gate::bound::Bound;

words::vocabulary! {
    /// The outcome of a check or of the whole gate, in the order in which a reader needs them.
    #[derive(PartialOrd, Ord)]
    pub enum GateOutcome: "an outcome" {
        /// The bound is shown to be broken.
        Fail = "fail";
        /// Neither is shown.
        Inconclusive = "inconclusive";
        /// The bound is shown to be kept.
        Pass = "pass";
    }
}

/// One condition against one bound.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct GateCheck {
    pub condition: String,
    pub against: String,
    pub bound: Bound,
    /// The acknowledgement whose bound replaces that of the gate.
    pub acknowledged: Option<Acknowledgement>,
    pub outcome: GateOutcome,
    /// The difference from the baseline, in % of it if the bound is, else in the metric's unit.
    pub difference: Option<f64>,
    /// Its interval. For counts: as far as they repeat.
    pub interval: Option<(f64, f64)>,
    pub boots: Option<usize>,
    /// Whether it is judged by the resolution of counts.
    pub is_counted: bool,
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

impl GateCheck {
    pub(crate) fn unjudged(case: &GateCase, bound: Bound, acknowledged: &[Acknowledgement]) -> Self {
        // The acknowledgement of its condition replaces its bound, but never by a stricter one.
        let replaces = |entry: &&Acknowledgement| entry.is_of(case) && entry.bound.is_looser_than(&bound);
        Self {
            condition: case.label.clone(),
            against: case.against.clone(),
            bound,
            acknowledged: acknowledged.iter().find(replaces).cloned(),
            outcome: GateOutcome::Inconclusive,
            difference: None,
            interval: None,
            boots: None,
            is_counted: case.is_counted(),
            open: None,
        }
    }

    /// `shares`: the one-sided error rates of the ends that decide a failure and a pass.
    pub(crate) fn settle(
        &mut self,
        case: &GateCase,
        answer: &Analysis,
        interval: Option<(f64, f64)>,
        shares: [f64; 2],
    ) {
        let judged = self.judged_by();
        let comparison = &answer.comparisons[0];
        self.outcome = match interval {
            Some(interval) if judged.is_broken_by(interval) => GateOutcome::Fail,
            Some(interval) if judged.is_kept_by(interval) => GateOutcome::Pass,
            _ => GateOutcome::Inconclusive,
        };
        let open = || match (interval, comparison.gap) {
            (Some(_), _) if self.is_counted => InconclusiveReason::WithinResolution,
            (Some(_), _) => {
                InconclusiveReason::Includes { settled_by: boots_to_settle(&judged, answer, shares) }
            }
            (None, Some(gap)) if case.is_over_pairs => InconclusiveReason::NoInterval(gap.over_pairs()),
            (None, Some(gap)) => InconclusiveReason::NoInterval(gap.as_str()),
            (None, None) => InconclusiveReason::NoPercentage,
        };
        self.open = (self.outcome == GateOutcome::Inconclusive).then(open);
        self.difference = judged.difference(comparison);
        self.interval = interval;
        self.boots = Some(comparison.boots);
    }

    /// The bound that it is judged by.
    pub fn judged_by(&self) -> Bound {
        self.acknowledged.as_ref().map_or(self.bound, |known| known.bound)
    }
}

/// With 80 % power, one-sided, if all is as measured ([`stats::planning`]). `None` if the spread is
/// unknown.
fn boots_to_settle(
    bound: &Bound,
    answer: &Analysis,
    [of_failure, of_pass]: [f64; 2],
) -> Option<SettlingBoots> {
    let comparison = &answer.comparisons[0];
    let measured = bound.difference(comparison)?;
    // The size that proves a difference as large as the distance from the bound.
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
    let spread = &answer.components;
    let cell = match answer.design {
        Design::Nested => sd(spread.boots)?,
        Design::Crossed if comparison.boots_apart => sd(spread.interaction)?.hypot(sd(spread.boots)?),
        Design::Crossed => sd(spread.interaction)?,
    };
    let is_beyond = bound.is_broken_by((measured, measured));
    let plan = SampleSizePlan {
        design: if is_nested { Design::Nested } else { Design::Crossed },
        conditions: 2,
        cell: factor * cell,
        // With one run in each boot, the spread between boots includes that of the runs.
        run: factor * sd(spread.runs).unwrap_or(0.0),
        family: PlannedFamily::Alone,
        alpha: 2.0 * if is_beyond { of_failure } else { of_pass },
        looks: None,
    };
    let own = answer.conditions.iter().find(|one| one.condition == comparison.condition);
    // Runs of the condition in each of its boots, on average.
    let runs = own.map_or(1.0, |own| own.runs as f64 / own.boots.max(1) as f64);
    // More boots are asked for, not more runs in each.
    let runs = (runs.round() as u32).max(1);
    let goal = PowerGoal {
        delta,
        power: SettlingBoots::POWER,
        boots_at_most: SettlingBoots::MOST,
        runs_at_most: runs,
    };
    let now = u32::try_from(comparison.boots).unwrap_or(SettlingBoots::MOST);
    if delta == 0.0 || now >= SettlingBoots::MOST {
        return Some(SettlingBoots::TooMany);
    }
    // The two sides may vary more than on average, so that the boots at hand were not enough.
    let needed = plan.boots_needed(goal, runs);
    Some(needed.map_or(SettlingBoots::TooMany, |boots| SettlingBoots::About(boots.max(now + 1))))
}
