//! A figure that turns are compared by.

use crate::report::Bound;
use crate::traffic::turn::Turn;

/// A figure that turns are compared by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measure {
    pub(crate) name: &'static str,
    /// What one unit of the figure as shown is worth.
    pub(crate) scale: f64,
    pub(crate) of: fn(&Turn) -> Option<f64>,
    /// Where the ratio of netassay's to the best peer's must lie; none if it is only shown.
    pub(crate) goal: Option<(Bound, f64)>,
}
