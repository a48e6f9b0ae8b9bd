//! The levels of a history between its changes.

use super::contrast::Sums;
use super::point::{Own, Scale};

/// The number of points from which a recent level has a spread of its own; with fewer, all levels
/// share one. Levels may differ in their spread: slower programs often vary less.
const ENOUGH: usize = 5;

/// Levels in the unit of the points, fitted together: studies differ by the same spread on all of
/// them.
pub(super) struct Levels {
    /// The first point of each level and, at the end, the number of points.
    pub(super) edges: Vec<usize>,
    pub(super) means: Vec<f64>,
    /// The sum of the weights of each level's points.
    pub(super) sums: Vec<f64>,
    scale: Scale,
    /// The weighted squares of the points around their levels, and of those of the last level.
    pub(super) residual: f64,
    recent: f64,
    /// Points less levels.
    pub(super) df: f64,
    /// Sums of the points' weights and values.
    pub(super) contrasts: Sums,
}

impl Levels {
    /// Fits levels that begin at the first point and at each of these.
    pub(super) fn fit(points: &[Own], firsts: Vec<usize>) -> Self {
        let edges: Vec<usize> = [0].into_iter().chain(firsts).chain([points.len()]).collect();
        let parts = || edges.windows(2).map(|edge| &points[edge[0]..edge[1]]);
        let plain = |part: &[Own]| crate::mean(&part.iter().map(|point| point.value).collect::<Vec<_>>());
        let squares = |part: &[Own]| {
            let mean = plain(part);
            part.iter().map(|point| (point.value - mean).powi(2)).sum::<f64>()
        };
        let df = (points.len() as f64 - (edges.len() - 1) as f64).max(0.0);
        let scale = Scale::from_points(points, parts().map(squares).sum::<f64>() / df.max(1.0));
        let weights: Vec<f64> = points.iter().map(|point| scale.weight(point)).collect();
        let (mut means, mut sums, mut residual, mut recent) = (Vec::new(), Vec::new(), 0.0, 0.0);
        for (edge, part) in edges.windows(2).zip(parts()) {
            let own = &weights[edge[0]..edge[1]];
            let sum: f64 = own.iter().sum();
            // Around the plain mean, so that equal values have exactly that mean.
            let around = plain(part);
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
        let middle = plain(points);
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

    /// The spread of a point of weight 1; `None` if it is not known.
    pub(super) fn deviation(&self) -> Option<f64> {
        (self.df > 0.0).then(|| (self.residual / self.df).sqrt())
    }

    /// The edges around a change, from 0: the first points of the level before it, of the level
    /// after it, and beyond that.
    pub(super) fn around(&self, change: usize) -> [usize; 3] {
        [self.edges[change], self.edges[change + 1], self.edges[change + 2]]
    }
}
