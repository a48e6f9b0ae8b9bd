//! What all recommendations of a study share.

/// A study, as its recommendations see it.
pub(crate) struct Study {
    /// Whether its figures are counts that repeat.
    pub(crate) exact: bool,
    /// The level of its intervals.
    pub(crate) level: f64,
    /// How long one boot of all its conditions takes, in seconds.
    pub(crate) seconds_per_boot: f64,
}
