//! The number of boots that would settle an inconclusive check.

use crate::CaseAnswer;
use serde::Serialize;
use stats::planning::{Family, Goal, Noise, Plan};
use stats::{Component, Design};

use crate::gate::bound::{Bound, BoundLimit};
use crate::gate::bound_difference::{ErrorShares, difference};

/// The power with which [`SettlingBoots::About`] settles a check.
pub(crate) const POWER: f64 = 0.8;

/// The largest number of boots that is named.
pub(crate) const MOST: u32 = 1000;

/// The boots that would settle a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SettlingBoots {
    /// This number of boots; of each side where each has its own.
    About(u32),
    /// More than 1000.
    TooMany,
}

/// The boots with which the bound is excluded with 80 % power, if the difference and the spread are
/// as measured: the size of a study that proves a difference as large as the distance from the
/// bound ([`stats::planning`]), one-sided. `None` if the spread is unknown.
pub(crate) fn boots_to_settle(
    bound: &Bound,
    answer: &CaseAnswer,
    shares: ErrorShares,
) -> Option<SettlingBoots> {
    let comparison = &answer.comparison;
    let measured = difference(bound, comparison)?;
    let distance = (measured - bound.number()).abs();
    let (delta, factor) = match bound.limit() {
        BoundLimit::Percent(limit) => {
            // A percentage p of the baseline b is tested as mean - (1 + p / 100) b, in whose
            // variance the baseline counts by that factor's square.
            let factor = 1.0 + limit / 100.0;
            (distance / 100.0 * comparison.baseline_mean.abs(), ((1.0 + factor * factor) / 2.0).sqrt())
        }
        BoundLimit::Absolute(_) => (distance, 1.0),
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
    let goal = Goal { delta, power: POWER, boots_at_most: MOST, runs_at_most: runs };
    let now = u32::try_from(comparison.boots).unwrap_or(MOST);
    if delta == 0.0 || now >= MOST {
        return Some(SettlingBoots::TooMany);
    }
    // The two sides may vary more than on average, so that the boots at hand were not enough.
    Some(
        plan.boots_needed(goal, runs)
            .map_or(SettlingBoots::TooMany, |boots| SettlingBoots::About(boots.max(now + 1))),
    )
}
