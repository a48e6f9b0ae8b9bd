//! Where the level of a history changed: one point for each study, in order.
//!
//! A point is a mean with its error. Points differ by more than their own errors say: each study
//! has its own day, its own heat and its own neighbours. How much more is not known beforehand, so
//! the error rate comes from the history itself: if no level changed, any order of its points was
//! as likely as the one that was seen.
//!
//! - **Statistic.** Two neighbouring windows of points are compared, at every place and in many
//!   sizes (`contrast`); the largest difference in units of its weight is the statistic. Windows
//!   that end before the history ends also find a regression that was mended later, which a split
//!   of the whole history hides (P. Fryzlewicz, Wild binary segmentation for multiple change-point
//!   detection, Ann. Stat. 42, 2014; S. Kovács et al., Seeded binary segmentation, Biometrika 110,
//!   2023).
//! - **Error rate.** The statistic is compared with that of permuted points (`permutation`), each
//!   of which keeps its own error; such a test is exact (E. J. G. Pitman, 1937). D. S. Matteson and
//!   N. A. James (A nonparametric approach for multiple change point analysis of multivariate data,
//!   J. Am. Stat. Assoc. 109, 2014) decide in the same way, and D. Daly et al. (The use of change
//!   point detection to identify software performance regressions in a continuous integration
//!   system, ICPE 2020) use their method for the nightly benchmarks of a database.
//! - **Several changes.** A change divides the points, and both parts are searched in the same way,
//!   each with a share of the error rate by its length, so that all tests beside each other have no
//!   more than the whole (`search`).
//!
//! Not covered: noise that is alike in neighbouring studies (a slow drift) is seen as
//! changes, as it is one.

mod contrast;
mod levels;
mod point;

use serde::Serialize;

use crate::change::levels::Levels;
use crate::change::point::Split;
use crate::distribution::student;
use crate::question::{StatsError, require_finite};

pub use levels::NewestPoint;
pub use point::{FEWEST, HistoryPoint};

/// Finds the changes of a history. In a history without one, a change is found with a chance of
/// 1 - `level` at most.
///
/// # Errors
/// [`StatsError`] for a value that is not finite, or an invalid level.
pub fn find(points: &[HistoryPoint], level: f64) -> Result<LevelHistory, StatsError> {
    let (points, unit) = point::scaled(points, level)?;
    let mut splits = point::splits(&points, 1.0 - level);
    levels::settle(&points, &mut splits);
    let levels = Levels::fit(&points, splits.iter().map(|split| split.first).collect());
    let newest = levels::newest(&points, unit, &splits, level);
    let (levels, changes) = described(&levels, &splits, level, unit);
    Ok(LevelHistory { levels, changes, newest, needed: contrast::fewest(1.0 - level) })
}

/// The levels of counts that repeat within `resolution`, in %: a new level begins with each count
/// that is farther than that from the first of its level.
///
/// # Errors
/// [`StatsError::NotFinite`].
pub fn of_counts(counts: &[f64], resolution: f64) -> Result<LevelHistory, StatsError> {
    require_finite(counts.iter().copied())?;
    let mut firsts: Vec<usize> = Vec::new();
    for (index, count) in counts.iter().enumerate() {
        let is_new = firsts.last().is_none_or(|first| {
            let level = counts[*first];
            100.0 * (count / 2.0 - level / 2.0).abs() > resolution * (level / 2.0).abs()
        });
        if is_new {
            firsts.push(index);
        }
    }
    let ends = firsts.iter().skip(1).copied().chain([counts.len()]);
    let level = |(first, end): (&usize, usize)| Level {
        first: *first,
        points: end - first,
        mean: crate::mean(&counts[*first..end]),
        interval: None,
    };
    let levels: Vec<Level> = firsts.iter().zip(ends).map(level).collect();
    let change = |pair: &[Level]| {
        let difference = (pair[1].mean - pair[0].mean).clamp(f64::MIN, f64::MAX);
        DetectedChange {
            first: pair[1].first,
            place: (pair[1].first, pair[1].first),
            p: None,
            difference,
            interval: None,
            relative: Some(100.0 * (pair[1].mean / pair[0].mean - 1.0)).filter(|share| share.is_finite()),
            relative_interval: None,
        }
    };
    let changes = levels.windows(2).map(change).collect();
    Ok(LevelHistory { levels, changes, newest: None, needed: 2 })
}

/// The levels and changes of a history.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LevelHistory {
    /// The levels, from the oldest point on. There is at least one if there is a point.
    pub levels: Vec<Level>,
    /// Between each two of them a change.
    pub changes: Vec<DetectedChange>,
    /// The newest point against the recent level; `None` if it is alone, and for counts.
    pub newest: Option<NewestPoint>,
    /// The number of points that are needed for any change to be proven at this confidence.
    pub needed: usize,
}

/// A change of level.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DetectedChange {
    /// The first point of the new level, from 0.
    pub first: usize,
    /// The range of points that may begin the new level, at the confidence of the history.
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

fn described(levels: &Levels, splits: &[Split], level: f64, unit: f64) -> (Vec<Level>, Vec<DetectedChange>) {
    let critical = student::upper_quantile((1.0 - level) / 2.0, levels.df.max(1.0));
    // The spread of a point of weight 1, if it is known.
    let deviation = (levels.df > 0.0).then(|| (levels.residual / levels.df).sqrt());
    let error = deviation.zip(critical).map(|(deviation, critical)| deviation * critical);
    let around = |mean: f64, variance: f64, unit: f64| {
        let half = error? * variance.sqrt();
        let ends = ((mean - half) * unit, (mean + half) * unit);
        (ends.0.is_finite() && ends.1.is_finite()).then_some(ends)
    };
    // A history without points has no level.
    let edges = levels.edges.windows(2).enumerate().filter(|(_, edge)| edge[0] < edge[1]);
    let shown = edges.map(|(index, edge)| Level {
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
        DetectedChange {
            first: split.first,
            place: levels::interval(levels, index, level),
            p: Some(split.p),
            difference: (difference * unit).clamp(f64::MIN, f64::MAX),
            interval: around(difference, 1.0 / before + 1.0 / after, unit),
            relative: share.map(|_| 100.0 * difference / old),
            relative_interval: variance.and_then(|variance| around(difference / old, variance, 100.0)),
        }
    };
    (shown.collect(), splits.iter().enumerate().map(change).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_change_where_they_differ_by_more_than_their_resolution() {
        let found = of_counts(&[1000.0, 1000.5, 1002.0, 1001.5, 999.0], 0.1).unwrap();
        let firsts: Vec<usize> = found.levels.iter().map(|level| level.first).collect();
        assert_eq!(firsts, [0, 2, 4]);
        assert!((found.levels[0].mean - 1000.25).abs() < 1e-9);
        assert_eq!(found.changes.len(), 2);
        assert!((found.changes[0].relative.unwrap() - 0.15).abs() < 0.01, "{found:?}");
        assert_eq!(of_counts(&[], 0.1).unwrap().levels, []);
        assert!(of_counts(&[1.0, f64::NAN], 0.1).is_err());
    }
}
