//! A question about the data.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::sequential::Schedule;

/// The compared conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Against {
    /// Every condition with this one.
    Baseline(usize),
    /// Every condition with every one before it.
    AllPairs,
}

/// The largest difference that does not matter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Margin {
    /// The margin in % of the baseline's size.
    Percent(f64),
    /// The margin in the metric's unit.
    Absolute(f64),
}

/// Whether conditions share boots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Design {
    /// Conditions share boots: each boot is a comparison by itself.
    Crossed,
    /// Every condition has boots of its own.
    Nested,
}

/// The correction for several comparisons.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Correction {
    /// All intervals together have the level: Dunnett's rule, or Šidák's for all pairs.
    #[default]
    Family,
    /// Each interval has the level by itself.
    None,
}

/// One look of a group-sequential design. The intervals are repeated confidence intervals (Jennison
/// and Turnbull, J. R. Stat. Soc. B 51, 1989), whose level holds over all looks together. Boots are
/// numbered from 1 in the order of measurement.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Look {
    /// Which look this is, from 1.
    pub number: u32,
    /// All looks.
    pub schedule: Schedule,
}

/// The range that values cannot leave by their nature: rates, times and counts are not negative,
/// shares at most 100 %.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ValueRange {
    /// The least possible value; `None`: there is none.
    pub least: Option<f64>,
    /// The largest possible value; `None`: there is none.
    pub most: Option<f64>,
}

impl ValueRange {
    /// Any value.
    pub const ANY: ValueRange = ValueRange { least: None, most: None };
    /// No negative one.
    pub const NON_NEGATIVE: ValueRange = ValueRange { least: Some(0.0), most: None };

    /// The possible part of an interval of a value.
    pub(crate) fn of_value(self, (low, high): (f64, f64), value: f64) -> (f64, f64) {
        let (least, most) = self.ends();
        // It includes the value: a measured value is possible, whatever was thought of it.
        (low.max(least.min(value)), high.min(most.max(value)))
    }

    /// The possible part of an interval of the difference from a baseline between these ends.
    pub(crate) fn of_difference(self, (low, high): (f64, f64), baseline: (f64, f64)) -> (f64, f64) {
        let (least, most) = self.ends();
        // If a true mean is at an end of the range, all values are, so that cutting costs no
        // confidence.
        (low.max((least - baseline.1).min(0.0)), high.min((most - baseline.0).max(0.0)))
    }

    /// The possible part of an interval of a difference in %, from a baseline between these ends.
    pub(crate) fn of_share(self, (low, high): (f64, f64), baseline: (f64, f64)) -> (f64, f64) {
        let share = |value: f64, of: f64| 100.0 * (value / of - 1.0);
        let least = self.least.filter(|least| *least >= 0.0).map(|least| share(least, baseline.1).min(0.0));
        let most = self.most.filter(|_| baseline.0 > 0.0).map(|most| share(most, baseline.0).max(0.0));
        (least.map_or(low, |least| low.max(least)), most.map_or(high, |most| high.min(most)))
    }

    pub(crate) fn ends(self) -> (f64, f64) {
        (self.least.unwrap_or(f64::NEG_INFINITY), self.most.unwrap_or(f64::INFINITY))
    }
}

/// A question to [`analyse`](crate::analyse).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// Which conditions are compared.
    pub against: Against,
    /// The confidence level, as a probability: 0.95 for 95 %.
    pub level: f64,
    /// The largest difference that does not matter; `None`: equivalence is not judged.
    pub margin: Option<Margin>,
    /// The design; `None`: detected.
    pub design: Option<Design>,
    /// The correction for several comparisons.
    pub correction: Correction,
    /// The look, if the study looks before its end.
    pub look: Option<Look>,
    /// The possible values: no interval leaves them.
    #[serde(default)]
    pub range: ValueRange,
}

impl Question {
    /// Compares every condition with `baseline` at 95 %, without a margin, as one family.
    pub fn against(baseline: usize) -> Question {
        Question {
            against: Against::Baseline(baseline),
            level: 0.95,
            margin: None,
            design: None,
            correction: Correction::Family,
            look: None,
            range: ValueRange::ANY,
        }
    }

    /// The condition that is in all comparisons, if they are corrected as a family.
    pub(crate) fn baseline(&self) -> Option<usize> {
        match (self.against, self.correction) {
            (Against::Baseline(baseline), Correction::Family) => Some(baseline),
            (Against::AllPairs, _) | (_, Correction::None) => None,
        }
    }

    /// The two-sided error rate of the family, over all looks.
    pub(crate) fn alpha(&self) -> f64 {
        1.0 - self.level
    }

    /// # Errors
    /// [`StatsError::Level`], [`StatsError::Margin`], [`StatsError::Look`].
    pub(crate) fn check(&self) -> Result<(), StatsError> {
        require_level(self.level)?;
        if let Some(Margin::Percent(margin) | Margin::Absolute(margin)) = self.margin
            && !(margin > 0.0 && margin.is_finite())
        {
            return Err(StatsError::Margin(margin));
        }
        if let Some(look) = self.look
            && !(1..=look.schedule.after().len()).contains(&(look.number as usize))
        {
            let Look { number, schedule: Schedule { looks, boots, .. } } = look;
            return Err(StatsError::Look { number, looks, boots });
        }
        Ok(())
    }
}

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Error)]
#[expect(missing_docs, reason = "the messages name the fields")]
pub enum StatsError {
    #[error("value {place} is {value}: only finite numbers can be compared; leave the run out or correct it")]
    NotFinite { place: usize, value: f64 },
    #[error("confidence level {0} is not between 0 and 1: give 0.95 for 95 %")]
    Level(f64),
    #[error("margin {0} is not a finite number above 0: give the largest difference that would not matter")]
    Margin(f64),
    #[error(
        "there is no look {number} of {looks} at {boots} boots: number looks from 1, and plan more boots than looks"
    )]
    Look { number: u32, looks: u32, boots: u32 },
    #[error("the baseline, condition {0}, has no runs: choose a baseline that was measured")]
    NoBaseline(usize),
    #[error("there are no machine pairs: give the effect of at least one")]
    NoPairs,
    #[error(
        "the {name} of machine pair {place} is {value}: give finite numbers, and none below 0 but the estimate; leave the pair out or correct it"
    )]
    Pair { place: usize, name: &'static str, value: f64 },
}

pub(crate) fn require_level(level: f64) -> Result<(), StatsError> {
    if level > 0.0 && level < 1.0 { Ok(()) } else { Err(StatsError::Level(level)) }
}

pub(crate) fn require_finite(values: impl IntoIterator<Item = f64>) -> Result<(), StatsError> {
    match values.into_iter().enumerate().find(|(_, value)| !value.is_finite()) {
        Some((index, value)) => Err(StatsError::NotFinite { place: index + 1, value }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sequential::SpendingBounds;

    #[test]
    fn what_is_no_question_is_refused() {
        let question = Question::against(0);
        assert_eq!(question.check(), Ok(()));
        assert_eq!(Question { level: 95.0, ..question }.check(), Err(StatsError::Level(95.0)));
        for margin in [0.0, -1.0, f64::INFINITY, f64::NAN] {
            for margin in [Margin::Percent(margin), Margin::Absolute(margin)] {
                assert!(matches!(
                    Question { margin: Some(margin), ..question }.check(),
                    Err(StatsError::Margin(..))
                ));
            }
        }
        let bounds = SpendingBounds::Pocock;
        for (number, looks, boots) in [(0, 3, 10), (4, 3, 10), (1, 3, 3), (1, 0, 3), (1, 5, 2)] {
            let look = Some(Look { number, schedule: Schedule { bounds, looks, boots } });
            let refused = Question { look, ..question }.check();
            assert_eq!(refused, Err(StatsError::Look { number, looks, boots }));
        }
    }
}
