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
mod counts;
mod level_history;
mod levels;
mod newest;
mod permutation;
mod place;
mod point;
mod search;

pub use counts::of_counts;
pub use level_history::{Change, Level, LevelHistory};
pub use newest::NewestPoint;
pub use point::{Error, FEWEST, Point};

use self::levels::Levels;
use self::point::Scaled;
use crate::error::StatsError;

/// Finds the changes of a history. In a history without one, a change is found with a chance of
/// 1 - `level` at most.
///
/// # Errors
/// [`StatsError`] for a value that is not finite, or an invalid level.
pub fn find(points: &[Point], level: f64) -> Result<LevelHistory, StatsError> {
    let scaled = Scaled::from_points(points, level)?;
    let mut splits = search::splits(&scaled.points, 1.0 - level);
    place::settle(&scaled.points, &mut splits);
    let levels = Levels::fit(&scaled.points, splits.iter().map(|split| split.first).collect());
    let newest = newest::newest(&scaled, &splits, level);
    let needed = permutation::fewest(1.0 - level);
    Ok(LevelHistory { newest, needed, ..level_history::level_history(&levels, &splits, level, scaled.unit) })
}
