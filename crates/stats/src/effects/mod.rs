//! Effects of several factors: who is to be credited with what.
//!
//! [`factorial`] gives main effects and interactions, [`shapley`] shares a total fairly between
//! what was switched on, and [`ladder`] credits each step of a sequence. All of them are linear
//! combinations of condition means with the error term that the data call for, as in a comparison,
//! so their intervals hold what those of comparisons hold. Each interval has its level by itself:
//! with many effects the chance that one of them misses is larger.

mod code;
mod error;
mod estimated;
mod factorial;
mod ladder;
mod shapley;

pub use error::EffectsError;
pub use estimated::Estimated;
pub use factorial::{Effect, Factorial, factorial};
pub use ladder::{Ladder, REMARK, Step, ladder};
pub use shapley::{MOST_FACTORS, Orders, Share, Shares, shapley};

/// Which condition has which levels.
#[derive(Clone, Copy, Debug)]
pub struct Layout<'a> {
    /// The factors' names, for messages.
    pub factors: &'a [String],
    /// For each condition of the plan the level of each factor, from 0. Where every combination was
    /// meant to be measured and some could not be, those are missing here or have no runs.
    pub levels: &'a [Vec<usize>],
}

impl Layout<'_> {
    /// Refuses conditions that have not one level for each factor.
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
