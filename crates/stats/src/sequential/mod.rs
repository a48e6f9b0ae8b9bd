//! Early looks without more false positives: the bounds of group-sequential designs.
//!
//! [`Bounds`] are for a normal statistic with known variance: Jennison and Turnbull, Group
//! Sequential Methods with Applications to Clinical Trials (2000), chapter 2. A [`Schedule`]
//! converts them to bounds of t statistics, whose variance is estimated.

mod schedule;
mod student;
mod unbiased;

use serde::{Deserialize, Serialize};

pub use schedule::{Looks, Schedule};
pub use unbiased::{Shifted, shift};

use crate::distribution::quadrature::gauss_legendre;
use crate::distribution::{normal, solve};

/// The least distance of looks, as a share of all information.
const CLOSEST: f64 = 0.001;
/// Farther from the mean, in standard deviations, the density is negligible.
const REACH: f64 = 10.0;

/// The way in which the error rate is spread over the looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bounds {
    /// Little at first, nearly all at the last look (O'Brien and Fleming, Biometrics 35, 1979): |z|
    /// at a fraction f of the information must reach c / sqrt(f).
    ObrienFleming,
    /// Equal at each look (Pocock, Biometrika 64, 1977).
    Pocock,
}

impl Bounds {
    /// Both kinds.
    pub const ALL: [Bounds; 2] = [Bounds::ObrienFleming, Bounds::Pocock];

    /// Its word in files and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Bounds::ObrienFleming => "obrien-fleming",
            Bounds::Pocock => "pocock",
        }
    }

    /// The bound of each look on |z|, so that the chance of crossing any of them without a
    /// difference is `alpha`; `fractions` are the looks' shares of all information (boots).
    ///
    /// Empty unless 0 < `alpha` < 1 and the fractions grow, by at least 0.001 each, to 1.
    pub fn z(self, fractions: &[f64], alpha: f64) -> Vec<f64> {
        self.calibrated(fractions, alpha, |z| either(&walk(fractions, z, 0.0)).iter().sum())
    }

    /// The bounds on |z| whose chance of crossing, by `crossed`, is `alpha`. Other statistics may
    /// be used, each transformed to a normal one.
    fn calibrated(self, fractions: &[f64], alpha: f64, crossed: impl Fn(&[f64]) -> f64) -> Vec<f64> {
        // A single look is the lower limit, and independent looks are the upper one.
        let ends = (
            normal::upper_quantile(0.5 * alpha),
            normal::upper_quantile(0.5 * alpha / fractions.len() as f64),
        );
        let (Some(low), Some(high), true) = (ends.0, ends.1, are_valid(fractions) && alpha < 1.0) else {
            return Vec::new();
        };
        let constant =
            solve::bracketed(low, high, |constant| (crossed(&self.scaled(fractions, constant)) / alpha).ln());
        self.scaled(fractions, constant)
    }

    /// The bound of each look, from that at the end.
    fn scaled(self, fractions: &[f64], constant: f64) -> Vec<f64> {
        fractions.iter().map(|fraction| constant * self.shape(*fraction)).collect()
    }

    fn shape(self, fraction: f64) -> f64 {
        match self {
            Bounds::ObrienFleming => 1.0 / fraction.sqrt(),
            Bounds::Pocock => 1.0,
        }
    }
}

/// The probability that |z| first exceeds its bound at each look, for the bounds `z` at these
/// `fractions` of the information, when the mean of z at the end is `drift`. The rest to 1 is the
/// probability that it never does.
///
/// Empty unless there are as many bounds as fractions, none of them negative, the fractions are as
/// for [`Bounds::z`] and `drift` is finite.
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

/// The score z sqrt(fraction) moves by independent normal steps. Its density, given that no bound
/// was crossed, is carried from look to look: Armitage, McPherson and Rowe, Journal of the Royal
/// Statistical Society A 132 (1969). Returns each look's chances of crossing the lower and the
/// upper bound.
fn walk(fractions: &[f64], z: &[f64], drift: f64) -> Vec<[f64; 2]> {
    let mut crossed = Vec::with_capacity(fractions.len());
    // Points of the score with their probabilities; before the first look it is 0.
    let mut points = vec![(0.0, 1.0)];
    let mut before = 0.0;
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
        points = nodes(*fraction, step.min(next - fraction), bound, drift)
            .into_iter()
            .map(|(to, weight)| (to, weight * density(to)))
            .collect();
        before = *fraction;
    }
    crossed
}

/// The nodes and weights of the score's density at this fraction. Panels are as narrow as the
/// shorter of the adjacent steps needs, up to the bound or to where the density is negligible.
fn nodes(fraction: f64, step: f64, bound: f64, drift: f64) -> Vec<(f64, f64)> {
    let (centre, reach) = (drift * fraction, REACH * fraction.sqrt());
    let (low, high) = ((centre - reach).max(-bound), (centre + reach).min(bound));
    let panels = if high > low { ((high - low) / (2.0 * step.sqrt())).ceil() } else { 0.0 };
    gauss_legendre(low, high, panels).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::quadrature;

    /// The work of a look is the product of its nodes and of those before it: this keeps 200 looks
    /// affordable.
    #[test]
    fn nodes_grow_with_the_root_of_the_number_of_looks() {
        for looks in [1, 50, 200] {
            let step = 1.0 / f64::from(looks);
            let most = quadrature::NODES * (REACH / step.sqrt()).ceil() as usize;
            for bound in [0.0, 2.0, f64::INFINITY] {
                for look in 1..=looks {
                    let count = nodes(f64::from(look) * step, step, bound, 0.0).len();
                    assert!(count <= most, "look {look} of {looks}, bound {bound}: {count} nodes");
                }
            }
        }
    }
}
