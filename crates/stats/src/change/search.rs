//! The changes of a history, one after the other.

use super::permutation;
use super::point::{Own, Scale};

/// A place where a history is divided.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Split {
    /// The first point of the part after it.
    pub(super) first: usize,
    /// Its chance in a history without a change.
    pub(super) p: f64,
}

/// All changes that are proven at this error rate, in order.
///
/// A part of the history has a share of the error rate by its length. Parts beside each other do
/// not overlap, so that their shares are no more than the whole; a part of a part is searched only
/// if there was a change, which the error rate of the larger part bounds.
pub(super) fn splits(points: &[Own], alpha: f64) -> Vec<Split> {
    let mut found = Vec::new();
    divide(points, (0, points.len()), (alpha, 0.0), &mut found);
    found.sort_by_key(|split| split.first);
    found
}

/// Searches the points from `start` to before `end`. What is found there is no surer than `least`,
/// the chance of the change that made it a part.
fn divide(points: &[Own], (start, end): (usize, usize), (alpha, least): (f64, f64), found: &mut Vec<Split>) {
    let share = (end - start) as f64 / points.len().max(1) as f64;
    let part = &points[start..end];
    let scale = Scale::from_points(part, spread(part));
    let weighed: Vec<(f64, f64)> = part.iter().map(|point| (scale.weight(point), point.value)).collect();
    let Some((contrast, p)) = permutation::proven(&centred(weighed), alpha * share) else { return };
    let (first, p) = (start + contrast.first, (p / share).max(least));
    found.push(Split { first, p });
    divide(points, (start, first), (alpha, p), found);
    divide(points, (first, end), (alpha, p), found);
}

/// The values less their mean, so that sums of them round little.
fn centred(mut points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let mean = crate::mean(&points.iter().map(|(_, value)| *value).collect::<Vec<_>>());
    points.iter_mut().for_each(|(_, value)| *value -= mean);
    points
}

/// The variance of values around their mean. With a change among them it is larger, and the weights
/// are more alike: that costs a little power, and no order of the points has other weights.
fn spread(points: &[Own]) -> f64 {
    let values: Vec<f64> = points.iter().map(|point| point.value).collect();
    let mean = crate::mean(&values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    squares / (values.len() as f64 - 1.0).max(1.0)
}
