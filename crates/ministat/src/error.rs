//! Errors of ministat.

use thiserror::Error;

/// Why there is no table or no plot.
#[derive(Clone, Debug, PartialEq, Error)]
#[expect(missing_docs, reason = "the messages name the fields")]
pub enum MinistatError {
    /// A set is too small.
    #[error("Dataset {0} must contain at least 3 data points")]
    TooFewPoints(String),
    /// There are not enough symbols.
    #[error("cannot plot {count} sets: there are symbols for {limit}; -A leaves the plot out")]
    TooManySets { count: usize, limit: usize },
    /// A plot cannot show infinities and NaNs.
    #[error("cannot plot {0}: a value, or the mean, is infinite or not a number; -A leaves the plot out")]
    NotFinite(String),
    /// The values are too far apart, or too close together, for a scale.
    #[error("cannot plot values that are {0:e} apart; -A leaves the plot out")]
    NoScale(f64),
    /// A plot has at least two columns.
    #[error("cannot plot in {0} columns: give -w 2 or more, or -A to leave the plot out")]
    NoWidth(usize),
    /// A plot has a bounded number of columns.
    #[error("cannot plot in {width} columns: give -w {limit} or less")]
    TooWide { width: usize, limit: usize },
}
