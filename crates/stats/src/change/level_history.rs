//! The result of searching a history for changes.

use serde::Serialize;

use super::levels::Levels;
use super::newest::NewestPoint;
use super::place;
use super::search::Split;
use crate::distribution::student;

/// The levels and changes of a history.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LevelHistory {
    /// The levels, from the oldest point on. There is at least one if there is a point.
    pub levels: Vec<Level>,
    /// Between each two of them a change.
    pub changes: Vec<Change>,
    /// The newest point against the recent level; `None` if it is alone, and for counts.
    pub newest: Option<NewestPoint>,
    /// The number of points that are needed for any change to be proven at this confidence.
    pub needed: usize,
}

/// A change of level.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Change {
    /// The first point of the new level, from 0.
    pub first: usize,
    /// The first and the last point that may be the first of the new level, at the confidence of
    /// the history.
    pub place: (usize, usize),
    /// The chance of a difference as large as this in a history without a change, with the share of
    /// the error rate taken into account; `None` for counts without noise.
    pub p: Option<f64>,
    /// The new level less the old one.
    pub difference: f64,
    /// Its interval by itself; `None` for counts without noise.
    pub interval: Option<(f64, f64)>,
    /// The difference in % of the old level; `None` where that is zero.
    pub relative: Option<f64>,
    /// Its interval by itself.
    pub relative_interval: Option<(f64, f64)>,
}

/// Points between two changes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Level {
    /// Its first point, from 0.
    pub first: usize,
    /// The number of its points.
    pub points: usize,
    /// Their weighted mean.
    pub mean: f64,
    /// The interval of the mean by itself; `None` if the spread of studies is not known.
    pub interval: Option<(f64, f64)>,
}

/// The levels and changes, in multiples of `unit`. `newest` and `needed` stay open.
pub(super) fn level_history(levels: &Levels, splits: &[Split], level: f64, unit: f64) -> LevelHistory {
    if levels.edges[levels.edges.len() - 1] == 0 {
        return LevelHistory { levels: Vec::new(), changes: Vec::new(), newest: None, needed: 0 };
    }
    let critical = student::upper_quantile((1.0 - level) / 2.0, levels.df.max(1.0));
    let error = levels.deviation().zip(critical).map(|(deviation, critical)| deviation * critical);
    let around = |mean: f64, variance: f64, unit: f64| {
        let half = error? * variance.sqrt();
        let ends = ((mean - half) * unit, (mean + half) * unit);
        (ends.0.is_finite() && ends.1.is_finite()).then_some(ends)
    };
    let shown = levels.edges.windows(2).enumerate().map(|(index, edge)| Level {
        first: edge[0],
        points: edge[1] - edge[0],
        mean: levels.means[index] * unit,
        interval: around(levels.means[index], 1.0 / levels.sums[index], unit),
    });
    let change = |(index, split): (usize, &Split)| {
        let ([old, new], [before, after]) =
            ([0, 1].map(|level| levels.means[index + level]), [0, 1].map(|level| levels.sums[index + level]));
        let difference = new - old;
        let share = (new / old - 1.0).is_finite().then(|| new / old);
        // The variance of a ratio, by its derivatives.
        let variance = share.map(|share| (1.0 / after + share * share / before) / (old * old));
        Change {
            first: split.first,
            place: place::interval(levels, index, level),
            p: Some(split.p),
            difference: (difference * unit).clamp(f64::MIN, f64::MAX),
            interval: around(difference, 1.0 / before + 1.0 / after, unit),
            relative: share.map(|_| 100.0 * difference / old),
            relative_interval: variance.and_then(|variance| around(difference / old, variance, 100.0)),
        }
    };
    LevelHistory {
        levels: shown.collect(),
        changes: splits.iter().enumerate().map(change).collect(),
        newest: None,
        needed: 0,
    }
}
