//! A question to some of the conditions of a study, at one look of several.

use std::collections::BTreeSet;

use super::spending::Spending;
use crate::question::Question;

/// What is asked, of which conditions, and what earlier looks leave for this one.
#[derive(Clone)]
pub(crate) struct Asked<'a> {
    pub(crate) question: Question,
    /// The other conditions only help to tell the error.
    pub(crate) takes_part: &'a dyn Fn(usize) -> bool,
    pub(crate) spending: &'a Spending,
    /// (condition, baseline) of the comparisons that an earlier look decided: it was not they that
    /// kept the study going.
    pub(crate) decided: BTreeSet<(usize, usize)>,
}

impl<'a> Asked<'a> {
    /// Another question at the same place.
    pub(crate) fn instead(&self, question: Question) -> Asked<'a> {
        Asked { question, ..self.clone() }
    }
}
