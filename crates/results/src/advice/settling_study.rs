//! The size of a study that would settle an open question.

use crate::{ChangeOutcome, MetricChange, SwitchContext, SwitchEffects};
use serde::Serialize;
use stats::planning::Pilot;

/// The chance that a difference is then proven, if it exists.
pub(crate) const POWER: f64 = 0.8;
// The most boots that are named.
const BOOTS: u32 = 10_000;
// The boots that a study without a spread between boots needs to have one.
const FIRST: u32 = 3;

/// A larger study that would settle an open question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SettlingStudy {
    /// Boots of each state of the testbed, those measured included.
    pub boots: u32,
    /// The duration of these boots, in seconds, with the factors of `set` held at one level.
    pub seconds: f64,
    /// The factors to hold, each with its level, so that only this question is measured. Empty for
    /// the whole study.
    pub set: Vec<(String, String)>,
    /// The difference that they prove with 80 % power, in % of the base; `None` if the spread
    /// between boots is not known yet.
    pub detects: Option<f64>,
}

impl SettlingStudy {
    /// A study that would settle whether there is a change of `matters` % in a context of a study.
    /// `None` where more boots would not: saturated rates, counts that do not repeat, boots that
    /// were enough already, and changes that are proven.
    pub(crate) fn to_settle(
        change: &MetricChange,
        context: &SwitchContext,
        study: &SwitchEffects,
        matters: f64,
    ) -> Option<Self> {
        let boots = context.boots;
        match &change.outcome {
            // Of the whole study nothing is known yet.
            ChangeOutcome::Unknown(_) if boots < 2 => Some(Self {
                boots: FIRST,
                seconds: study.seconds_per_boot * f64::from(FIRST),
                set: Vec::new(),
                detects: None,
            }),
            ChangeOutcome::NotProven => {
                let pilot = Pilot { boots, standard_error: change.standard_error?, df: change.df };
                let needed = pilot.boots_needed(matters / 100.0 * base(change), study.level, POWER, BOOTS)?;
                (needed > boots).then(|| Self {
                    boots: needed,
                    seconds: context.alone.seconds_per_boot * f64::from(needed),
                    set: context.alone.set.clone(),
                    detects: Some(matters),
                })
            }
            _ => None,
        }
    }
}

/// The size of the base, in the metric's unit; if it is not known well enough for a percentage, the
/// mean of all runs.
fn base(change: &MetricChange) -> f64 {
    let relative = change.there.relative.filter(|relative| *relative != 0.0);
    relative.map_or(change.mean, |relative| 100.0 * change.there.value / relative).abs()
}
