//! Where the level of a history changed: one point for each study, in order.
//!
//! A point is a mean with its error. Points differ by more than their own errors say: each study
//! has its own day, its own heat and its own neighbours. How much more is not known beforehand, so
//! the error rate comes from the history itself: if no level changed, any order of its points was
//! as likely as the one that was seen.
//!
//! - **Statistic.** Two neighbouring windows of points are compared, at every place and in many
//!   sizes ([`contrast`]); the largest difference in units of its weight is the statistic. Windows
//!   that end before the history ends also find a regression that was mended later, which a split of
//!   the whole history hides (P. Fryzlewicz, Wild binary segmentation for multiple change-point
//!   detection, Ann. Stat. 42, 2014; S. Kovács et al., Seeded binary segmentation, Biometrika 110,
//!   2023).
//! - **Error rate.** The statistic is compared with that of permuted points ([`permutation`]), each
//!   of which keeps its own error; such a test is exact (E. J. G. Pitman, 1937). D. S. Matteson and
//!   N. A. James (A nonparametric approach for multiple change point analysis of multivariate data,
//!   J. Am. Stat. Assoc. 109, 2014) decide in the same way, and D. Daly et al. (The use of change
//!   point detection to identify software performance regressions in a continuous integration
//!   system, ICPE 2020) use their method for the nightly benchmarks of a database.
//! - **Several changes.** A change divides the points, and both parts are searched in the same way,
//!   each with a share of the error rate by its length, so that all tests beside each other have no
//!   more than the whole ([`search`]).
//!
//! What is not covered: noise that is alike in neighbouring studies (a slow drift) is seen as
//! changes, as it is one.

mod contrast;
mod counts;
mod levels;
mod newest;
mod permutation;
mod place;
mod point;
mod search;

pub use counts::of_counts;
pub use levels::Level;
pub use newest::Expected;
pub use point::{Error, Point};

use serde::Serialize;

use self::levels::Levels;
use self::point::Scaled;
use crate::error::StatsError;

/// The fewest points of a level. A single point that lies apart is no new level: the next study
/// tells.
pub const FEWEST: usize = 2;

/// What was found in a history.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Found {
    /// The levels, from the oldest point on. There is at least one if there is a point.
    pub levels: Vec<Level>,
    /// Between each two of them a change.
    pub changes: Vec<Change>,
    /// The newest point against the recent level; `None` if it is alone, and for counts.
    pub newest: Option<Expected>,
    /// So many points are needed for any change to be proven at this confidence.
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

/// Finds the changes of a history. In a history without one, a change is found with a chance of
/// 1 - `level` at most.
///
/// # Errors
/// [`StatsError`] for a value that is not finite, or an invalid level.
pub fn find(points: &[Point], level: f64) -> Result<Found, StatsError> {
    let scaled = Scaled::of(points, level)?;
    let mut splits = search::splits(&scaled.points, 1.0 - level);
    place::settle(&scaled.points, &mut splits);
    let levels = Levels::of(&scaled.points, splits.iter().map(|split| split.first).collect());
    let needed = permutation::fewest(1.0 - level);
    let newest = newest::newest(&scaled, &splits, level);
    Ok(Found { newest, needed, ..levels.found(&splits, level, scaled.unit) })
}
