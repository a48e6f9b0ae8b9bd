//! The points of a history.

use serde::Serialize;

use crate::change::contrast;
use crate::question::{StatsError, require_finite, require_level};

/// One study: a mean, in the metric's unit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct HistoryPoint {
    /// The mean.
    pub value: f64,
    /// The standard error of the mean, with its degrees of freedom, as the study itself knows it;
    /// `None` if it had one boot.
    pub error: Option<(f64, f64)>,
}

/// The fewest points of a level. A single point that lies apart is no new level: the next study
/// tells.
pub const FEWEST: usize = 2;

// The degrees of freedom with which the common error is added to a study's own. Few boots tell an
// error badly, and a study that knows its error too small must not outweigh the others.
const COMMON_DF: f64 = 4.0;

/// A point in a unit in which nothing overflows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Own {
    pub(super) value: f64,
    /// The variance that its own boots tell.
    pub(super) variance: f64,
}

pub(super) fn scaled(points: &[HistoryPoint], level: f64) -> Result<(Vec<Own>, f64), StatsError> {
    require_level(level)?;
    require_finite(points.iter().map(|point| point.value))?;
    let largest = points.iter().map(|point| point.value.abs()).fold(0.0, f64::max);
    let unit = if largest > 0.0 { largest } else { 1.0 };
    let known: Vec<Option<(f64, f64)>> = points.iter().map(|point| known(point, unit)).collect();
    let weights: f64 = known.iter().flatten().map(|(_, df)| df).sum();
    let common: f64 = known.iter().flatten().map(|(variance, df)| variance * (df / weights)).sum();
    let with_variance = |(point, known): (&HistoryPoint, &Option<(f64, f64)>)| {
        let variance = known.map_or(common, |(own, df)| (own * df + common * COMMON_DF) / (df + COMMON_DF));
        Own { value: point.value / unit, variance }
    };
    Ok((points.iter().zip(&known).map(with_variance).collect(), unit))
}

/// The variance that a study knows, in squares of the unit, with its degrees of freedom.
fn known(point: &HistoryPoint, unit: f64) -> Option<(f64, f64)> {
    let (standard, df) = point.error?;
    // An error beyond that says nothing, and its square would not be finite.
    let share = (standard / unit).abs().min(1e9);
    (share.is_finite() && df > 0.0).then(|| (share * share, df.min(1e6)))
}

/// One over the variance of a point's boots and the variance between studies of one level.
#[derive(Debug, Clone, Copy)]
pub(super) struct VarianceScale {
    between: f64,
    /// The largest variance of a point: its weight is 1.
    largest: f64,
}

impl VarianceScale {
    /// `spread` is the variance of the values around their levels.
    pub(super) fn from_points(points: &[Own], spread: f64) -> Self {
        let of_boots = crate::mean(&points.iter().map(|point| point.variance).collect::<Vec<_>>());
        let between = (spread - of_boots).max(0.0);
        let largest = points.iter().map(|point| between + point.variance).fold(0.0, f64::max);
        Self { between, largest }
    }

    pub(super) fn weight(&self, point: &Own) -> f64 {
        if self.largest > 0.0 {
            // No point has more than a million times the weight of another.
            1.0 / ((self.between + point.variance) / self.largest).max(1e-6)
        } else {
            1.0
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Split {
    /// The first point of the part after it.
    pub(super) first: usize,
    /// Its chance in a history without a change.
    pub(super) p: f64,
}

/// All changes that are proven at this error rate, in order.
pub(super) fn splits(points: &[Own], alpha: f64) -> Vec<Split> {
    let mut found = Vec::new();
    divide(points, (0, points.len()), (alpha, 0.0), &mut found);
    found.sort_by_key(|split| split.first);
    found
}

/// A change found here is no surer than `least`, the chance of the change that made it a part.
fn divide(points: &[Own], (start, end): (usize, usize), (alpha, least): (f64, f64), found: &mut Vec<Split>) {
    // A part of the history has a share of the error rate by its length. Parts beside each other do
    // not overlap, so that their shares are no more than the whole; a part of a part is searched
    // only if there was a change, which the error rate of the larger part bounds.
    let share = (end - start) as f64 / points.len().max(1) as f64;
    let part = &points[start..end];
    // With a change among the values their variance is larger, and the weights are more alike: that
    // costs a little power, and no order of the points has other weights.
    let (mean, squares) = mean_and_squares(part);
    let scale = VarianceScale::from_points(part, squares / (part.len() as f64 - 1.0).max(1.0));
    // Sums of values less their mean round little.
    let centred = part.iter().map(|point| (scale.weight(point), point.value - mean));
    let Some(split) = contrast::proven(&centred.collect::<Vec<_>>(), alpha * share) else { return };
    let (first, p) = (start + split.first, (split.p / share).max(least));
    found.push(Split { first, p });
    divide(points, (start, first), (alpha, p), found);
    divide(points, (first, end), (alpha, p), found);
}

pub(super) fn mean_and_squares(points: &[Own]) -> (f64, f64) {
    let mean = crate::mean(&points.iter().map(|point| point.value).collect::<Vec<_>>());
    (mean, points.iter().map(|point| (point.value - mean).powi(2)).sum())
}
