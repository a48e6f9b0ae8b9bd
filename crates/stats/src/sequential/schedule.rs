//! When a study looks at its data, and the error rate of each look.

use serde::{Deserialize, Serialize};

use super::student::Sequence;
use super::{Bounds, crossings};
use crate::distribution::normal;

/// From this many degrees of freedom at the first look on, t counts as normal: the error rate
/// differs by at most 0.015 %.
const NORMAL: f64 = 150.0;

/// Looks in equal steps, planned before the first boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Schedule {
    /// The bounds.
    pub bounds: Bounds,
    /// The number of looks, the last one included.
    pub looks: u32,
    /// The number of boots at the last look.
    pub boots: u32,
}

impl Schedule {
    /// The boots of each look: equal steps, rounded up. Empty if the first look would have fewer
    /// than two boots, or two looks the same number.
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

    /// The looks of a comparison whose error has `df_per_boot` (n - 1) degrees of freedom with n
    /// boots: 1 in a paired comparison, more where several conditions contribute, any number for a
    /// normal statistic. At least 1 is used.
    pub fn looks(&self, df_per_boot: f64) -> Looks {
        let (after, df) = (self.after(), df_per_boot.max(1.0));
        let is_normal = after.first().is_none_or(|first| df * (f64::from(*first) - 1.0) >= NORMAL);
        let sequence = (!is_normal).then(|| Sequence::new(&after, df));
        Looks { bounds: self.bounds, fractions: self.fractions(), sequence }
    }
}

/// The looks of a [`Schedule`] for a comparison.
pub struct Looks {
    bounds: Bounds,
    fractions: Vec<f64>,
    /// `None` where t counts as normal.
    sequence: Option<Sequence>,
}

impl Looks {
    /// The two-sided nominal level of each look, so that the chance that t crosses at any of them
    /// without a difference is `alpha`.
    ///
    /// The levels are those of bounds on a normal statistic, and each uses the quantile of t at its
    /// look's degrees of freedom; the constant of the bounds is chosen for t statistics. Empty
    /// unless 0 < `alpha` < 1 and the schedule has looks.
    pub fn nominal(&self, alpha: f64) -> Vec<f64> {
        levels(&self.z(alpha))
    }

    /// The bounds on a normal statistic behind [`Looks::nominal`].
    #[must_use]
    pub fn z(&self, alpha: f64) -> Vec<f64> {
        match &self.sequence {
            Some(sequence) => {
                self.bounds.calibrated(&self.fractions, alpha, |z| sequence.crossed(&levels(z)))
            }
            None => self.bounds.z(&self.fractions, alpha),
        }
    }

    /// The share of all boots that each look has.
    #[must_use]
    pub fn fractions(&self) -> &[f64] {
        &self.fractions
    }

    /// The repeated p-value (Jennison and Turnbull 1989): the chance that t crosses at any look
    /// with the bounds that it just reaches at this one (from 1), where its two-sided p is
    /// `nominal`. It is below alpha exactly where `nominal` is below its level.
    ///
    /// `None` for a look outside of the schedule, and unless 0 <= `nominal` <= 1.
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
