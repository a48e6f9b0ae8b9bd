//! The knee of a curve of latency against load: where more load begins to cost more latency than it
//! is worth.
//!
//! It is the load with the most *power*, the served load divided by its mean latency: the point
//! where a line from the origin touches the curve (L. Kleinrock, Power and deterministic rules of
//! thumb for probabilistic problems in computer communications, Proc. ICC 1979, pp.
//! 43.1.1-43.1.10). Unlike the sharpest bend it depends neither on the scale of the axes nor on how
//! far the curve was measured.

use serde::Serialize;

use crate::observed::median_of_sorted;

/// One measured point of a curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KneePoint {
    /// The load that was offered.
    pub offered: f64,
    /// The load that was served.
    pub served: f64,
    /// The mean latency.
    pub latency: f64,
}

/// A knee, as an offered load.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Knee {
    /// The median of the repeats' knees; in JSON `rate`.
    #[serde(rename = "rate")]
    pub load: f64,
    /// The least of them.
    pub lower: f64,
    /// The largest.
    pub upper: f64,
    /// The chance that the median of all such repeats lies between the two: of n repeats all lie on
    /// one side of it with a chance of 2 / 2^n.
    pub confidence: f64,
}

impl Knee {
    /// Whether no repeat had its knee below `most`, the highest load that was offered.
    pub fn is_beyond(&self, most: f64) -> bool {
        self.lower >= most
    }
}

impl KneePoint {
    fn power(&self) -> f64 {
        if self.latency > 0.0 { self.served / self.latency } else { 0.0 }
    }
}

/// The knee of one curve, as an offered load; `None` if it has no point with a latency.
pub fn of_curve(curve: &[KneePoint]) -> Option<f64> {
    let best = curve.iter().max_by(|one, other| one.power().total_cmp(&other.power()))?;
    (best.power() > 0.0).then_some(best.offered)
}

/// The knee of several measurements of one curve, each a repeat of its own; `None` if one of them
/// has none, or if there are fewer than two.
pub fn of_repeats(curves: &[Vec<KneePoint>]) -> Option<Knee> {
    let mut knees: Vec<f64> = curves.iter().map(|curve| of_curve(curve)).collect::<Option<_>>()?;
    knees.sort_by(f64::total_cmp);
    let (lower, upper) = (*knees.first()?, *knees.last()?);
    let load = median_of_sorted(&knees);
    let repeats = i32::try_from(knees.len()).unwrap_or(i32::MAX);
    (repeats > 1).then(|| Knee { load, lower, upper, confidence: 1.0 - 2.0_f64.powi(1 - repeats) })
}

#[cfg(test)]
mod tests;
