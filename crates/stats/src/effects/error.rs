//! Reasons why effects cannot be estimated.

use thiserror::Error;

use crate::error::StatsError;

/// Why there are no effects.
#[derive(Clone, Debug, PartialEq, Error)]
#[expect(missing_docs, reason = "the messages name the fields")]
pub enum EffectsError {
    /// Invalid numbers or an invalid confidence level.
    #[error(transparent)]
    Numbers(#[from] StatsError),
    /// A condition has too few levels or too many.
    #[error(
        "condition {condition} has {given} levels, and there are {factors} factors: give one level for each"
    )]
    Levels { condition: usize, given: usize, factors: usize },
    /// Runs of a condition with unknown levels.
    #[error("condition {0} has runs but no levels: give the levels of every condition that was measured")]
    Unknown(usize),
    /// Two conditions have the same levels of all factors.
    #[error(
        "conditions {one} and {other} have the same levels of all factors: merge them, or add the factor that tells them apart"
    )]
    Same { one: usize, other: usize },
    /// No factor was varied.
    #[error("no factor was measured at more than one level, so there is no effect to estimate")]
    NothingVaried,
    /// A factor's effect cannot be separated from others.
    #[error(
        "the effect of {0} cannot be told from those of the factors before it: measure more combinations of levels"
    )]
    Confounded(String),
    /// A factor that is neither off nor on.
    #[error("{factor} has level {level}: shares are for factors that are off (0) or on (1)")]
    NotASwitch { factor: String, level: usize },
    /// Too many factors for shares.
    #[error("{given} factors are too many to share a total between: {most} at most")]
    TooMany { given: usize, most: usize },
    /// A combination that the shares need was not measured.
    #[error("{0} was not measured: measure it, or average over the orders that can be reached")]
    Unreachable(String),
    /// No order of switching on uses only measured combinations.
    #[error(
        "no order of switching on leads from nothing to everything through measured combinations: measure more of those between"
    )]
    NoOrder,
    /// A condition without runs.
    #[error("condition {0} has no runs: leave it out, or measure it")]
    Unmeasured(usize),
    /// Fewer than two rungs.
    #[error("a ladder of {0} conditions has no step: give two or more")]
    ShortLadder(usize),
    /// The compared conditions have no boot in common, directly or through others.
    #[error("{0} cannot be estimated: no boot measured together the conditions that it combines")]
    Unconnected(String),
}
