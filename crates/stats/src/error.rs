//! Invalid numbers.

use thiserror::Error;

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Error)]
#[expect(missing_docs, reason = "the messages name the fields")]
pub enum StatsError {
    /// A summary of nothing.
    #[error("no values to summarise: give at least one")]
    Empty,
    /// A value is NaN or infinite.
    #[error("value {place} is {value}: only finite numbers can be compared; leave the run out or correct it")]
    NotFinite { place: usize, value: f64 },
    /// The confidence level is not a probability.
    #[error("confidence level {0} is not between 0 and 1: give 0.95 for 95 %")]
    Level(f64),
    /// The margin of equivalence is not a valid size.
    #[error("margin {0} is not a finite number above 0: give the largest difference that would not matter")]
    Margin(f64),
    /// The look does not exist in the sequential design.
    #[error(
        "there is no look {number} of {looks} at {boots} boots: number looks from 1, and plan more boots than looks"
    )]
    Look { number: u32, looks: u32, boots: u32 },
    /// The baseline was not measured.
    #[error("the baseline, condition {0}, has no runs: choose a baseline that was measured")]
    NoBaseline(usize),
}

pub(crate) fn require_finite(values: impl IntoIterator<Item = f64>) -> Result<(), StatsError> {
    match values.into_iter().enumerate().find(|(_, value)| !value.is_finite()) {
        Some((index, value)) => Err(StatsError::NotFinite { place: index + 1, value }),
        None => Ok(()),
    }
}
