//! Early looks without more false positives: the bounds of group-sequential designs.
//!
//! [`SpendingBounds`] are for a normal statistic with known variance: Jennison and Turnbull, Group
//! Sequential Methods with Applications to Clinical Trials (2000), chapter 2. A [`Schedule`]
//! converts them to bounds of t statistics, whose variance is estimated.

mod student;

use serde::{Deserialize, Serialize};

use crate::distribution::numeric::gauss_legendre;
use crate::distribution::{normal, numeric};
use crate::sequential::student::Sequence;

// The least distance of looks, as a share of all information.
const CLOSEST: f64 = 0.001;
// Farther from the mean, in standard deviations, the density is negligible.
const REACH: f64 = 10.0;

/// The way in which the error rate is spread over the looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SpendingBounds {
    /// Little at first, nearly all at the last look (O'Brien and Fleming, Biometrics 35, 1979): |z|
    /// at a fraction f of the information must reach c / sqrt(f).
    ObrienFleming,
    /// Equal at each look (Pocock, Biometrika 64, 1977).
    Pocock,
}

impl SpendingBounds {
    /// Both kinds.
    pub const ALL: [SpendingBounds; 2] = [SpendingBounds::ObrienFleming, SpendingBounds::Pocock];

    /// The bound of each look on |z|, so that the chance of crossing any of them without a
    /// difference is `alpha`; `fractions` are the looks' shares of all information (boots).
    ///
    /// Empty unless 0 < `alpha` < 1 and the fractions grow, by at least 0.001 each, to 1.
    pub fn z(self, fractions: &[f64], alpha: f64) -> Vec<f64> {
        Looks { bounds: self, fractions: fractions.to_vec(), sequence: None }.z(alpha)
    }

    fn shape(self, fraction: f64) -> f64 {
        if self == SpendingBounds::ObrienFleming { 1.0 / fraction.sqrt() } else { 1.0 }
    }
}

/// The probability that |z| first exceeds its bound at each look, for the bounds `z` at these
/// `fractions` of the information, when the mean of z at the end is `drift`. The rest to 1 is the
/// probability that it never does.
///
/// Empty unless there are as many bounds as fractions, none of them negative, the fractions are as
/// for [`SpendingBounds::z`] and `drift` is finite.
pub fn crossings(fractions: &[f64], z: &[f64], drift: f64) -> Vec<f64> {
    let is_valid = are_valid(fractions)
        && z.len() == fractions.len()
        && z.iter().all(|z| *z >= 0.0)
        && drift.is_finite();
    if is_valid { either(&walk(fractions, z, drift)) } else { Vec::new() }
}

fn either(sides: &[[f64; 2]]) -> Vec<f64> {
    sides.iter().map(|[below, above]| below + above).collect()
}

fn are_valid(fractions: &[f64]) -> bool {
    let mut before = 0.0;
    let grow = fractions.iter().all(|fraction| {
        // Fractions such as 0.003 and 0.004 are a little closer than written.
        let is_further = fraction - before >= CLOSEST * (1.0 - 1e-9);
        before = *fraction;
        is_further
    });
    grow && fractions.last() == Some(&1.0)
}

/// Each look's chances of crossing the lower and the upper bound.
fn walk(fractions: &[f64], z: &[f64], drift: f64) -> Vec<[f64; 2]> {
    let mut crossed = Vec::with_capacity(fractions.len());
    // Points of the score with their probabilities; before the first look it is 0.
    let mut points = vec![(0.0, 1.0)];
    let mut before = 0.0;
    // The score z sqrt(fraction) moves by independent normal steps. Its density, given that no
    // bound was crossed, is carried from look to look: Armitage, McPherson and Rowe, Journal of the
    // Royal Statistical Society A 132 (1969).
    for (look, (fraction, z)) in fractions.iter().zip(z).enumerate() {
        let (step, bound) = (fraction - before, z * fraction.sqrt());
        let (sd, mean) = (step.sqrt(), drift * step);
        crossed.push([-1.0, 1.0].map(|side| {
            points.iter().map(|(at, share)| share * normal::sf((bound - side * (at + mean)) / sd)).sum()
        }));

        // Nobody looks after the last one.
        let Some(next) = fractions.get(look + 1) else { break };
        let density = |to: f64| -> f64 {
            points.iter().map(|(at, share)| share * normal::density((to - at - mean) / sd)).sum::<f64>() / sd
        };
        let nodes = nodes(*fraction, step.min(next - fraction), bound, drift);
        points = nodes.into_iter().map(|(to, weight)| (to, weight * density(to))).collect();
        before = *fraction;
    }
    crossed
}

/// The nodes and weights of the score's density at this fraction.
fn nodes(fraction: f64, step: f64, bound: f64, drift: f64) -> Vec<(f64, f64)> {
    let (centre, reach) = (drift * fraction, REACH * fraction.sqrt());
    // Up to the bound, or to where the density is negligible. Panels are as narrow as the shorter
    // of the adjacent steps needs.
    let (low, high) = ((centre - reach).max(-bound), (centre + reach).min(bound));
    let panels = if high > low { ((high - low) / (2.0 * step.sqrt())).ceil() } else { 0.0 };
    gauss_legendre(low, high, panels).collect()
}

// From this many degrees of freedom at the first look on, t counts as normal: the error rate
// differs by at most 0.015 %.
const NORMAL: f64 = 150.0;

/// Looks in equal steps, planned before the first boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Schedule {
    /// The bounds.
    pub bounds: SpendingBounds,
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
    /// boots: 1 if paired, more where several conditions contribute; at least 1 is used.
    pub fn looks(&self, df_per_boot: f64) -> Looks {
        let (after, df) = (self.after(), df_per_boot.max(1.0));
        let is_normal = after.first().is_none_or(|first| df * (f64::from(*first) - 1.0) >= NORMAL);
        let sequence = (!is_normal).then(|| Sequence::new(&after, df));
        Looks { bounds: self.bounds, fractions: self.fractions(), sequence }
    }
}

/// The looks of a [`Schedule`] for a comparison.
pub struct Looks {
    bounds: SpendingBounds,
    /// The share of all boots that each look has.
    pub fractions: Vec<f64>,
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
    pub fn z(&self, alpha: f64) -> Vec<f64> {
        // A single look is the lower limit, and independent looks are the upper one.
        let ends = (
            normal::upper_quantile(0.5 * alpha),
            normal::upper_quantile(0.5 * alpha / self.fractions.len() as f64),
        );
        let (Some(low), Some(high), true) = (ends.0, ends.1, are_valid(&self.fractions) && alpha < 1.0)
        else {
            return Vec::new();
        };
        let crossed = |constant: f64| self.crossed(&self.scaled(constant));
        self.scaled(numeric::bracketed(low, high, |constant| (crossed(constant) / alpha).ln()))
    }

    /// The bound of each look, from that at the end.
    fn scaled(&self, constant: f64) -> Vec<f64> {
        self.fractions.iter().map(|fraction| constant * self.bounds.shape(*fraction)).collect()
    }

    /// The chance that the statistic crosses at any look with these bounds on a normal one.
    fn crossed(&self, z: &[f64]) -> f64 {
        match &self.sequence {
            Some(sequence) => sequence.crossed(&levels(z)),
            None => either(&walk(&self.fractions, z, 0.0)).iter().sum(),
        }
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
        Some(self.crossed(&self.scaled(constant)))
    }
}

fn levels(z: &[f64]) -> Vec<f64> {
    z.iter().map(|z| normal::two_sided(*z)).collect()
}

// The estimate after a stop.
//
// A study that stops as soon as a difference is proven stops rather where chance made it large, so
// the difference as measured is too large on average. The median-unbiased estimate of Emerson and
// Fleming (Biometrika 77, 1990) is the true difference with which an outcome that speaks for a
// larger one comes as often as one that speaks for a smaller; an earlier stop speaks for a larger
// difference than a later one (the stage-wise order).

/// The shift, in standard errors, of the median-unbiased estimate toward zero from the measured
/// one, at the last of the looks at these `fractions` of the information, where |z| is `z` and
/// `bounds` were those on |z| at the looks before it. The statistic is taken for normal.
pub fn shift(fractions: &[f64], bounds: &[f64], z: f64) -> f64 {
    let (Some(fraction), false) = (fractions.last(), bounds.is_empty() || z <= 0.0) else { return 0.0 };
    let crossed: Vec<f64> = bounds.iter().copied().chain([z]).collect();
    let larger =
        |drift: f64| -> f64 { walk(fractions, &crossed, drift).iter().map(|[_, above]| above).sum() };
    let high = z / fraction.sqrt();
    let drift = numeric::bracketed(0.0, high, |drift| (0.5 / larger(drift)).ln());
    z - drift * fraction.sqrt()
}

/// An estimate `t` moved toward zero by `shift`, never beyond zero or its interval of `critical`;
/// all in standard errors.
pub fn shifted(t: f64, critical: f64, shift: f64) -> f64 {
    (t - shift).max(t - critical).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::numeric;

    /// The work of a look is the product of its nodes and of those before it: this keeps 200 looks
    /// affordable.
    #[test]
    fn nodes_grow_with_the_root_of_the_number_of_looks() {
        for looks in [1, 50, 200] {
            let step = 1.0 / f64::from(looks);
            let most = numeric::NODES * (REACH / step.sqrt()).ceil() as usize;
            for bound in [0.0, 2.0, f64::INFINITY] {
                for look in 1..=looks {
                    let count = nodes(f64::from(look) * step, step, bound, 0.0).len();
                    assert!(count <= most, "look {look} of {looks}, bound {bound}: {count} nodes");
                }
            }
        }
    }
}

#[cfg(test)]
mod unbiased_tests {
    use super::*;

    /// Emerson and Fleming's property itself, from the recursion: under the estimate half of all
    /// outcomes are more extreme.
    #[test]
    fn the_first_look_is_taken_as_it_is_and_later_ones_move_towards_zero() {
        let fractions = [0.2, 0.4, 0.6, 0.8, 1.0];
        let bounds = [2.413; 5];
        assert_eq!(shift(&fractions[..1], &[], 3.0), 0.0);
        for look in 2..=5 {
            let shift = |z: f64| shift(&fractions[..look], &bounds[..look - 1], z);
            assert!(shift(2.5) > 0.05 && shift(2.5) < 1.0, "{look}: {}", shift(2.5));
            let drift = (2.5 - shift(2.5)) / fractions[look - 1].sqrt();
            let crossed: Vec<f64> = bounds[..look - 1].iter().copied().chain([2.5]).collect();
            let above: f64 = walk(&fractions[..look], &crossed, drift).iter().map(|[_, above]| above).sum();
            assert!((above - 0.5).abs() < 1e-9, "{look}: {above}");
        }
        // Bounds that nothing reaches change nothing.
        assert!(shift(&fractions[..2], &[9.0], 2.0) < 1e-6);
    }
}
