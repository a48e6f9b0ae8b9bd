//! The levels of a history between its changes.

use serde::Serialize;

use crate::Verdict;
use crate::change::contrast::Sums;
use crate::change::point::{FEWEST, Own, Split, VarianceScale, mean_and_squares};
use crate::distribution::student;

// The number of points from which a recent level has a spread of its own; with fewer, all levels
// share one. Levels may differ in their spread: slower programs often vary less.
const ENOUGH: usize = 5;

/// In the unit of the points, fitted together: studies differ by the same spread on all of them.
pub(super) struct Levels {
    /// The first point of each level and, at the end, the number of points.
    pub(super) edges: Vec<usize>,
    pub(super) means: Vec<f64>,
    /// The sum of the weights of each level's points.
    pub(super) sums: Vec<f64>,
    scale: VarianceScale,
    /// The weighted squares of the points around their levels, and of those of the last level.
    pub(super) residual: f64,
    recent: f64,
    pub(super) df: f64,
    pub(super) contrasts: Sums,
}

impl Levels {
    /// Fits levels that begin at the first point and at each of these.
    pub(super) fn fit(points: &[Own], firsts: Vec<usize>) -> Self {
        let edges: Vec<usize> = [0].into_iter().chain(firsts).chain([points.len()]).collect();
        let parts = || edges.windows(2).map(|edge| &points[edge[0]..edge[1]]);
        let df = (points.len() as f64 - (edges.len() - 1) as f64).max(0.0);
        let squares: f64 = parts().map(|part| mean_and_squares(part).1).sum();
        let scale = VarianceScale::from_points(points, squares / df.max(1.0));
        let weights: Vec<f64> = points.iter().map(|point| scale.weight(point)).collect();
        let (mut means, mut sums, mut residual, mut recent) = (Vec::new(), Vec::new(), 0.0, 0.0);
        for (edge, part) in edges.windows(2).zip(parts()) {
            let own = &weights[edge[0]..edge[1]];
            let sum: f64 = own.iter().sum();
            // Around the plain mean, so that equal values have exactly that mean.
            let (around, _) = mean_and_squares(part);
            let beyond: f64 =
                own.iter().zip(part).map(|(weight, point)| weight * (point.value - around)).sum();
            let mean = if part.is_empty() { 0.0 } else { around + beyond / sum };
            let squares = own.iter().zip(part).map(|(weight, point)| weight * (point.value - mean).powi(2));
            recent = squares.sum();
            residual += recent;
            means.push(mean);
            sums.push(sum);
        }
        let mut contrasts = Sums::with_room(points.len());
        let (middle, _) = mean_and_squares(points);
        contrasts.fill(weights.iter().zip(points).map(|(weight, point)| (*weight, point.value - middle)));
        Self { edges, means, sums, scale, residual, recent, df, contrasts }
    }

    /// The mean of the last level and the number of its first point.
    pub(super) fn last(&self) -> (f64, usize) {
        (self.means.last().copied().unwrap_or(0.0), self.edges[self.edges.len() - 2])
    }

    /// The standard error of the difference between the last level and a new point, with its
    /// degrees of freedom; `None` if the spread is not known.
    pub(super) fn error_of_new(&self, point: &Own) -> Option<(f64, f64)> {
        let (sum, weight) = (self.sums.last()?, self.scale.weight(point));
        let points = self.edges[self.edges.len() - 1] - self.last().1;
        let (residual, df) =
            if points >= ENOUGH { (self.recent, points as f64 - 1.0) } else { (self.residual, self.df) };
        (df > 0.0).then(|| ((residual / df * (1.0 / sum + 1.0 / weight)).sqrt(), df))
    }
}

/// The newest point against the points before it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct NewestPoint {
    /// The first point of the recent level, from 0; the level ends before the newest point.
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

/// Judges the last of the points by those before it; `None` if it is alone. A point that belongs to
/// the recent level is called higher or lower with a chance of 1 - `level`.
pub(super) fn newest(points: &[Own], unit: f64, splits: &[Split], level: f64) -> Option<NewestPoint> {
    let (point, before) = points.split_last().filter(|(_, before)| !before.is_empty())?;
    // The recent level is the one that the whole history shows. Its mean and the spread (its own,
    // if it has five points, else that of all levels) are those of the points before the newest,
    // which must not help to decide what is expected of it.
    let levels = Levels::fit(before, splits.iter().map(|split| split.first).collect());
    let (mean, first) = levels.last();
    let difference = point.value - mean;
    let error = levels.error_of_new(point);
    let half_width =
        error.and_then(|(error, df)| Some(error * student::upper_quantile((1.0 - level) / 2.0, df)?));
    let interval = half_width.map(|half| ((mean - half) * unit, (mean + half) * unit));
    let verdict = match half_width {
        None => Verdict::Inconclusive,
        Some(half) if difference > half => Verdict::Higher,
        Some(half) if -difference > half => Verdict::Lower,
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

// The most passes over all places: each depends on its neighbours.
const ROUNDS: usize = 4;

/// Moves each change to the place between its neighbours that explains most.
pub(super) fn settle(points: &[Own], splits: &mut [Split]) {
    for _ in 0..ROUNDS {
        let levels = Levels::fit(points, splits.iter().map(|split| split.first).collect());
        let mut has_moved = false;
        for index in 0..splits.len() {
            // The search put it where two windows differ most, which may not know all of their
            // points.
            let start = index.checked_sub(1).map_or(0, |before| splits[before].first);
            let end = splits.get(index + 1).map_or(points.len(), |after| after.first);
            let size = |first: usize| levels.contrasts.between(start, first, end);
            let here = splits[index].first;
            let best = (start + FEWEST..=end - FEWEST)
                .fold(here, |best, first| if size(first) > size(best) { first } else { best });
            has_moved |= best != here;
            splits[index].first = best;
        }
        if !has_moved {
            return;
        }
    }
}

/// The first and the last place that a change may have, at this confidence: those around its best
/// place.
pub(super) fn interval(levels: &Levels, change: usize, level: f64) -> (usize, usize) {
    // The first points of the level before it, of the level after it, and beyond that.
    let [start, here, end] = [0, 1, 2].map(|edge| levels.edges[change + edge]);
    // A place stays if moving the change there costs no more likelihood than the true place does
    // with this confidence (B. E. Hansen, Sample splitting and threshold estimation, Econometrica
    // 68, 2000, whose limit holds for small changes and is wider than needed for large ones).
    let limit = -2.0 * (1.0 - level.sqrt()).ln();
    let most = levels.contrasts.between(start, here, end);
    let costs = |first: usize| {
        let lost = (most - levels.contrasts.between(start, first, end)).max(0.0);
        // The likelihood of normal points whose spread is not known.
        if levels.residual > 0.0 {
            levels.df * (lost / levels.residual).ln_1p()
        } else {
            f64::INFINITY * lost
        }
    };
    let may_be = |first: &usize| costs(*first) <= limit;
    let before = (start + 1..here).rev().take_while(may_be).count();
    let after = (here + 1..end).take_while(may_be).count();
    (here - before, here + after)
}
