//! When a study looks at its data, and what each look may spend.

use serde::{Deserialize, Serialize};

use super::student::Sequence;
use super::{Bounds, crossings};
use crate::distribution::normal;

/// From so many degrees of freedom at the first look on t is taken as normal: the error rate
/// differs by 0.015 % at most.
const NORMAL: f64 = 150.0;

/// Looks in equal steps, planned before the first boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Schedule {
    /// The bounds.
    pub bounds: Bounds,
    /// How many looks, the last one included.
    pub looks: u32,
    /// How many boots there are at the last look.
    pub boots: u32,
}

impl Schedule {
    /// After how many boots each look is: equal steps, rounded up. Empty where the first look would
    /// have fewer than two boots, or a look no boot of its own.
    pub fn after(&self) -> Vec<u32> {
        let (looks, boots) = (u64::from(self.looks), u64::from(self.boots));
        if looks == 0 || boots < looks || boots.div_ceil(looks) < 2 {
            return Vec::new();
        }
        (1..=looks).map(|look| (boots * look).div_ceil(looks) as u32).collect()
    }

    /// The share of all boots that each look has.
    pub fn fractions(&self) -> Vec<f64> {
        self.after().iter().map(|boots| f64::from(*boots) / f64::from(self.boots)).collect()
    }

    /// The looks at a comparison whose error has `df_per_boot` (n - 1) degrees of freedom at a look
    /// with n boots: 1 in a paired comparison, more where several conditions tell the error, any
    /// number for a normal statistic. Fewer than 1 are taken as 1.
    pub fn with(&self, df_per_boot: f64) -> Looks {
        let (after, df) = (self.after(), df_per_boot.max(1.0));
        let is_normal = after.first().is_none_or(|first| df * (f64::from(*first) - 1.0) >= NORMAL);
        let sequence = (!is_normal).then(|| Sequence::of(&after, df));
        Looks { bounds: self.bounds, fractions: self.fractions(), sequence }
    }
}

/// The looks of a [`Schedule`] at a comparison.
pub struct Looks {
    bounds: Bounds,
    fractions: Vec<f64>,
    /// None where t is as good as normal.
    sequence: Option<Sequence>,
}

impl Looks {
    /// The two-sided nominal level of each look, so that the chance that t crosses at any of them
    /// is `alpha` where nothing differs.
    ///
    /// The levels are those of bounds on a normal statistic, and each takes the quantile of t at
    /// its look's degrees of freedom; the constant of the bounds is the one with which the t
    /// statistics, and not normal ones, cross with that chance. Empty unless 0 < `alpha` < 1 and
    /// the schedule has looks.
    pub fn nominal(&self, alpha: f64) -> Vec<f64> {
        levels(&self.z(alpha))
    }

    /// The bounds on a normal statistic behind [`Looks::nominal`].
    pub(crate) fn z(&self, alpha: f64) -> Vec<f64> {
        match &self.sequence {
            Some(sequence) => {
                self.bounds.calibrated(&self.fractions, alpha, |z| sequence.crossed(&levels(z)))
            }
            None => self.bounds.z(&self.fractions, alpha),
        }
    }

    /// The share of all boots that each look has.
    pub(crate) fn fractions(&self) -> &[f64] {
        &self.fractions
    }

    /// The chance that t crosses at any look, by the bounds that it just reaches at this one
    /// (from 1) if its two-sided p is `nominal` there: the repeated p-value (Jennison and
    /// Turnbull 1989). It is below alpha exactly where `nominal` is below its level.
    ///
    /// None for a look that the schedule has not, and unless 0 <= `nominal` <= 1.
    pub fn p(&self, look: u32, nominal: f64) -> Option<f64> {
        let fraction = self.fractions.get((look as usize).checked_sub(1)?)?;
        if nominal == 0.0 || nominal == 1.0 {
            return Some(nominal);
        }
        let constant = normal::upper_quantile(0.5 * nominal)? / self.bounds.shape(*fraction);
        let z = self.bounds.scaled(&self.fractions, constant);
        Some(match &self.sequence {
            Some(sequence) => sequence.crossed(&levels(&z)),
            None => crossings(&self.fractions, &z, 0.0).iter().sum(),
        })
    }
}

/// The two-sided levels of bounds on |z|.
fn levels(z: &[f64]) -> Vec<f64> {
    z.iter().map(|z| normal::two_sided(*z)).collect()
}
