//! The points of a history.

use serde::Serialize;

use crate::error::{StatsError, require_finite};

/// One study: a mean, in the metric's unit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Point {
    /// The mean.
    pub value: f64,
    /// The error of the mean as the study itself knows it; `None` if it had one boot.
    pub error: Option<Error>,
}

/// The error of a mean.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Error {
    /// The standard error, in the metric's unit.
    pub standard: f64,
    /// Its degrees of freedom.
    pub df: f64,
}

/// The fewest points of a level. A single point that lies apart is no new level: the next study
/// tells.
pub const FEWEST: usize = 2;

/// The degrees of freedom with which the common error is added to a study's own. Few boots tell an
/// error badly, and a study that knows its error too small must not outweigh the others.
const COMMON_DF: f64 = 4.0;

/// A point in a unit in which nothing overflows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Own {
    pub(super) value: f64,
    /// The variance that its own boots tell.
    pub(super) variance: f64,
}

/// A history in that unit.
pub(super) struct Scaled {
    pub(super) points: Vec<Own>,
    /// The unit: values are multiples of it.
    pub(super) unit: f64,
}

impl Scaled {
    pub(super) fn from_points(points: &[Point], level: f64) -> Result<Self, StatsError> {
        if !(level > 0.0 && level < 1.0) {
            return Err(StatsError::Level(level));
        }
        require_finite(points.iter().map(|point| point.value))?;
        let largest = points.iter().map(|point| point.value.abs()).fold(0.0, f64::max);
        let unit = if largest > 0.0 { largest } else { 1.0 };
        let known: Vec<Option<(f64, f64)>> = points.iter().map(|point| known(point, unit)).collect();
        let weights: f64 = known.iter().flatten().map(|(_, df)| df).sum();
        let common = known.iter().flatten().map(|(variance, df)| variance * (df / weights)).sum();
        let variance = |of: &Option<(f64, f64)>| {
            of.map_or(common, |(own, df)| (own * df + common * COMMON_DF) / (df + COMMON_DF))
        };
        let own = |(point, known): (&Point, &Option<(f64, f64)>)| Own {
            value: point.value / unit,
            variance: variance(known),
        };
        Ok(Self { points: points.iter().zip(&known).map(own).collect(), unit })
    }
}

/// The variance that a study knows, in squares of the unit, with its degrees of freedom.
fn known(point: &Point, unit: f64) -> Option<(f64, f64)> {
    let Error { standard, df } = point.error?;
    // An error beyond that says nothing, and its square would not be finite.
    let share = (standard / unit).abs().min(1e9);
    (share.is_finite() && df > 0.0).then(|| (share * share, df.min(1e6)))
}

/// The weights of points: one over the variance, which is that of a point's boots and, in addition,
/// the variance between studies of one level.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    /// The variance between studies.
    between: f64,
    /// The largest variance of a point: its weight is 1.
    largest: f64,
}

impl Scale {
    /// `spread` is the variance of the values around their levels.
    pub(super) fn from_points(points: &[Own], spread: f64) -> Self {
        let of_boots = crate::mean(&points.iter().map(|point| point.variance).collect::<Vec<_>>());
        let between = (spread - of_boots).max(0.0);
        let largest = points.iter().map(|point| between + point.variance).fold(0.0, f64::max);
        Self { between, largest }
    }

    /// The weight of a point. None has more than a million times the weight of another.
    pub(super) fn weight(&self, point: &Own) -> f64 {
        if self.largest > 0.0 {
            1.0 / ((self.between + point.variance) / self.largest).max(1e-6)
        } else {
            1.0
        }
    }
}
