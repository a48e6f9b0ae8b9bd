//! The levels of a history between its changes.

use serde::Serialize;

use super::contrast::Sums;
use super::place;
use super::point::{Own, Scale};
use super::search::Split;
use super::{Change, Found};
use crate::distribution::student;

/// Points between two changes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Level {
    /// Its first point, from 0.
    pub first: usize,
    /// How many points it has.
    pub points: usize,
    /// Their weighted mean.
    pub mean: f64,
    /// The interval of the mean by itself; `None` if the spread of studies is not known.
    pub interval: Option<(f64, f64)>,
}

/// Levels in the unit of the points, fitted together: studies differ by the same spread on all of
/// them.
pub(super) struct Levels {
    /// The first point of each level and, at the end, the number of points.
    edges: Vec<usize>,
    means: Vec<f64>,
    /// The sum of the weights of each level's points.
    sums: Vec<f64>,
    scale: Scale,
    /// The weighted squares of the points around their levels.
    pub(super) residual: f64,
    /// Points less levels.
    pub(super) df: f64,
    /// Of the points' weights and values.
    pub(super) contrasts: Sums,
}

impl Levels {
    /// Fits levels that begin at the first point and at each of these.
    pub(super) fn of(points: &[Own], firsts: Vec<usize>) -> Self {
        let edges: Vec<usize> = [0].into_iter().chain(firsts).chain([points.len()]).collect();
        let parts = || edges.windows(2).map(|edge| &points[edge[0]..edge[1]]);
        let plain = |part: &[Own]| crate::mean(&part.iter().map(|point| point.value).collect::<Vec<_>>());
        let squares = |part: &[Own]| {
            let mean = plain(part);
            part.iter().map(|point| (point.value - mean).powi(2)).sum::<f64>()
        };
        let df = (points.len() as f64 - (edges.len() - 1) as f64).max(0.0);
        let scale = Scale::of(points, parts().map(squares).sum::<f64>() / df.max(1.0));
        let weights: Vec<f64> = points.iter().map(|point| scale.weight(point)).collect();
        let (mut means, mut sums, mut residual) = (Vec::new(), Vec::new(), 0.0);
        for (edge, part) in edges.windows(2).zip(parts()) {
            let own = &weights[edge[0]..edge[1]];
            let sum: f64 = own.iter().sum();
            // Around the plain mean, so that equal values have exactly that mean.
            let around = plain(part);
            let beyond: f64 =
                own.iter().zip(part).map(|(weight, point)| weight * (point.value - around)).sum();
            let mean = if part.is_empty() { 0.0 } else { around + beyond / sum };
            residual += own
                .iter()
                .zip(part)
                .map(|(weight, point)| weight * (point.value - mean).powi(2))
                .sum::<f64>();
            means.push(mean);
            sums.push(sum);
        }
        let mut contrasts = Sums::with_room(points.len());
        let middle = plain(points);
        contrasts.fill(weights.iter().zip(points).map(|(weight, point)| (*weight, point.value - middle)));
        Self { edges, means, sums, scale, residual, df, contrasts }
    }

    /// The mean of the last level and the number of its first point.
    pub(super) fn last(&self) -> (f64, usize) {
        (self.means.last().copied().unwrap_or(0.0), self.edges[self.edges.len() - 2])
    }

    /// The standard error of the difference between the last level and a new point; `None` if the
    /// spread is not known.
    pub(super) fn error_of_new(&self, point: &Own) -> Option<f64> {
        let sum = self.sums.last()?;
        let weight = self.scale.weight(point);
        self.deviation().map(|deviation| deviation * (1.0 / sum + 1.0 / weight).sqrt())
    }

    /// The spread of a point of weight 1; `None` if it is not known.
    fn deviation(&self) -> Option<f64> {
        (self.df > 0.0).then(|| (self.residual / self.df).sqrt())
    }

    /// The edges around a change, from 0: the first points of the level before it, of the level
    /// after it, and beyond that.
    pub(super) fn around(&self, change: usize) -> [usize; 3] {
        [self.edges[change], self.edges[change + 1], self.edges[change + 2]]
    }

    /// What was found, in multiples of `unit`. `newest` and `needed` stay open.
    pub(super) fn found(&self, splits: &[Split], level: f64, unit: f64) -> Found {
        if self.edges[self.edges.len() - 1] == 0 {
            return Found { levels: Vec::new(), changes: Vec::new(), newest: None, needed: 0 };
        }
        let critical = student::upper_quantile((1.0 - level) / 2.0, self.df.max(1.0));
        let error = self.deviation().zip(critical).map(|(deviation, critical)| deviation * critical);
        let around = |mean: f64, variance: f64, unit: f64| {
            let half = error? * variance.sqrt();
            let ends = ((mean - half) * unit, (mean + half) * unit);
            (ends.0.is_finite() && ends.1.is_finite()).then_some(ends)
        };
        let levels = self.edges.windows(2).enumerate().map(|(index, edge)| Level {
            first: edge[0],
            points: edge[1] - edge[0],
            mean: self.means[index] * unit,
            interval: around(self.means[index], 1.0 / self.sums[index], unit),
        });
        let change = |(index, split): (usize, &Split)| {
            let ([old, new], [before, after]) =
                ([0, 1].map(|level| self.means[index + level]), [0, 1].map(|level| self.sums[index + level]));
            let difference = new - old;
            let share = (new / old - 1.0).is_finite().then(|| new / old);
            // The variance of a ratio, by its derivatives.
            let variance = share.map(|share| (1.0 / after + share * share / before) / (old * old));
            Change {
                first: split.first,
                place: place::interval(self, index, level),
                p: Some(split.p),
                difference: (difference * unit).clamp(f64::MIN, f64::MAX),
                interval: around(difference, 1.0 / before + 1.0 / after, unit),
                relative: share.map(|_| 100.0 * difference / old),
                relative_interval: variance.and_then(|variance| around(difference / old, variance, 100.0)),
            }
        };
        Found {
            levels: levels.collect(),
            changes: splits.iter().enumerate().map(change).collect(),
            newest: None,
            needed: 0,
        }
    }
}
