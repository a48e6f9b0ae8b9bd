//! A question about some conditions of a study, at one of several looks.

use std::collections::BTreeSet;

use super::spending::Spending;
use crate::question::Question;

/// A question, its conditions, and the results of earlier looks.
#[derive(Clone)]
pub(crate) struct QuestionAtLook<'a> {
    pub(crate) question: Question,
    /// The other conditions only contribute to the error.
    pub(crate) takes_part: &'a dyn Fn(usize) -> bool,
    pub(crate) spending: &'a Spending,
    /// (condition, baseline) of the comparisons that an earlier look decided: the study did not
    /// continue for them.
    pub(crate) decided: BTreeSet<(usize, usize)>,
}

impl<'a> QuestionAtLook<'a> {
    /// Another question for the same conditions and look.
    pub(crate) fn instead(&self, question: Question) -> QuestionAtLook<'a> {
        QuestionAtLook { question, ..self.clone() }
    }
}
