//! The newest study against the recent level.

use serde::Serialize;

use super::levels::Levels;
use super::point::Scaled;
use super::search::Split;
use crate::Verdict;
use crate::distribution::student;

/// The newest point against the points before it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct NewestPoint {
    /// The first point of the recent level, from 0; the level ends with the last point before the
    /// newest.
    pub first: usize,
    /// Its mean.
    pub mean: f64,
    /// The interval in which the next point is expected, at the confidence of the history; `None`
    /// if there are too few points before it.
    pub interval: Option<(f64, f64)>,
    /// The chance of a point at least as far from the level, if nothing changed.
    pub p: Option<f64>,
    /// The newest point less the level.
    pub difference: f64,
    /// The difference in % of the level; `None` where that is zero.
    pub relative: Option<f64>,
    /// Higher or lower if the newest point is outside the interval.
    pub verdict: Verdict,
}

/// Judges the last of the points by those before it; `None` if it is alone.
///
/// The recent level is the one that the whole history shows. Its mean and the spread (its own, if
/// it has five points, else that of all levels) are those of the points before the newest, which
/// must not help to decide what is expected of it. A point that belongs to the recent level is
/// called higher or lower with a chance of 1 - `level`.
pub(super) fn newest(scaled: &Scaled, splits: &[Split], level: f64) -> Option<NewestPoint> {
    let (point, before) = scaled.points.split_last().filter(|(_, before)| !before.is_empty())?;
    let levels = Levels::fit(before, splits.iter().map(|split| split.first).collect());
    let (mean, first) = levels.last();
    let difference = point.value - mean;
    let error = levels.error_of_new(point);
    let judged =
        error.and_then(|(error, df)| Some((error, student::upper_quantile((1.0 - level) / 2.0, df)?)));
    let unit = scaled.unit;
    let interval = judged.map(|(error, critical)| {
        let half = error * critical;
        ((mean - half) * unit, (mean + half) * unit)
    });
    let verdict = match judged {
        None => Verdict::Inconclusive,
        Some((error, critical)) if difference > error * critical => Verdict::Higher,
        Some((error, critical)) if -difference > error * critical => Verdict::Lower,
        Some(_) => Verdict::NoDifferenceProven,
    };
    Some(NewestPoint {
        first,
        mean: mean * unit,
        interval: interval.filter(|(low, high)| low.is_finite() && high.is_finite()),
        p: error.map(|(error, df)| match difference {
            0.0 => 1.0,
            _ => student::two_sided(difference / error, df),
        }),
        difference: (difference * unit).clamp(f64::MIN, f64::MAX),
        relative: Some(100.0 * difference / mean).filter(|share| share.is_finite()),
        verdict,
    })
}
