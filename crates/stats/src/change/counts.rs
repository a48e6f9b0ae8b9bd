//! Counts without noise: any difference beyond their resolution is a change.

use super::level_history::{Change, Level, LevelHistory};
use crate::error::{StatsError, require_finite};

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
    let levels: Vec<Level> = firsts
        .iter()
        .zip(ends)
        .map(|(first, end)| Level {
            first: *first,
            points: end - first,
            mean: crate::mean(&counts[*first..end]),
            interval: None,
        })
        .collect();
    let change = |pair: &[Level]| {
        let difference = (pair[1].mean - pair[0].mean).clamp(f64::MIN, f64::MAX);
        Change {
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
