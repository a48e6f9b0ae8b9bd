//! Effects of several factors, and their credits.
//!
//! [`factorial`] gives main effects and interactions, [`effects_given`] the effect of one factor at
//! each level of another, [`shapley`] divides a total fairly between factors, and [`ladder`]
//! credits each step of a sequence. All are linear combinations of condition means with the error
//! term of the data, as in a comparison, so their intervals are as valid. Each interval has its
//! level by itself: with many effects the chance that one of them misses is larger.

mod code;
mod conditional;
mod error;
mod estimated;
mod factorial;
mod ladder;
mod shapley;

pub use conditional::{ConditionalEffect, effects_given};
pub use error::EffectsError;
pub use estimated::Estimated;
pub use factorial::{Effect, Factorial, factorial};
pub use ladder::{Ladder, REMARK, Step, ladder};
pub use shapley::{FactorShare, MOST_FACTORS, Orders, Shares, shapley};

/// The levels of conditions.
#[derive(Clone, Copy, Debug)]
pub struct Layout<'a> {
    /// The factors' names, for messages.
    pub factors: &'a [String],
    /// The level of each factor, from 0, for each condition of the plan. Combinations that could
    /// not be measured are missing or have no runs.
    pub levels: &'a [Vec<usize>],
}

impl Layout<'_> {
    /// Rejects conditions without one level for each factor.
    fn check(&self) -> Result<(), EffectsError> {
        let wrong = self.levels.iter().position(|levels| levels.len() != self.factors.len());
        wrong.map_or(Ok(()), |condition| {
            let (given, factors) = (self.levels[condition].len(), self.factors.len());
            Err(EffectsError::Levels { condition, given, factors })
        })
    }

    fn name(&self, factor: usize) -> String {
        self.factors[factor].clone()
    }
}
