//! Predictions for a study from the estimates of its first boots.

use super::plan::noncentrality;
use crate::distribution::student;

/// An estimate's error, and the boots that it rests on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pilot {
    /// The boots: of each condition if nested, of all together if crossed.
    pub boots: u32,
    /// The standard error of the estimate.
    pub standard_error: f64,
    /// Its degrees of freedom.
    pub df: f64,
}

impl Pilot {
    /// The fewest boots, at least those of the pilot, with which a true value of size `delta` is
    /// proven with probability `power` by an interval of this `level`, if the true spread is the
    /// pilot's. The standard error falls with the root of the boots; the degrees of freedom grow
    /// with the boots less one, as those of [`super::Plan::df`] do. `None` if `at_most` are too
    /// few, and for figures that no pilot can have.
    pub fn boots_needed(self, delta: f64, level: f64, power: f64, at_most: u32) -> Option<u32> {
        if !(delta > 0.0 && delta.is_finite()) {
            return None;
        }
        let is_enough = |boots: u32| self.detectable(boots, level, power).map(|least| least <= delta);
        let (mut low, mut high) = (self.boots, self.boots);
        while !is_enough(high)? {
            if high >= at_most {
                return None;
            }
            low = high;
            high = high.saturating_mul(2).min(at_most);
        }
        // Too few at `low`, unless it is the pilot's own size; enough at `high`.
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if is_enough(middle)? { high = middle } else { low = middle }
        }
        Some(high)
    }

    /// The true value that `boots` boots prove with probability `power`; the rest is as for
    /// [`Pilot::boots_needed`].
    pub fn detectable(self, boots: u32, level: f64, power: f64) -> Option<f64> {
        let is_sound = self.boots >= 2
            && boots >= 2
            && self.df >= 1.0
            && self.standard_error >= 0.0
            && self.standard_error.is_finite()
            && level > 0.0
            && level < 1.0;
        if !is_sound {
            return None;
        }
        let df = self.df * (f64::from(boots) - 1.0) / (f64::from(self.boots) - 1.0);
        let error = self.standard_error * (f64::from(self.boots) / f64::from(boots)).sqrt();
        Some(noncentrality(student::upper_quantile(0.5 * (1.0 - level), df)?, df, power)? * error)
    }
}
