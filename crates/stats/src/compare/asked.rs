//! A question to some of the conditions of a study, at one look of several.

use std::collections::BTreeSet;

use super::comparison::Comparison;
use super::judgement::judge;
use super::spending::Spending;
use crate::model::Fit;
use crate::observed::Cells;
use crate::question::{Look, Question};

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
    /// `question`, with what the looks before its own decided from the boots that there were.
    pub(crate) fn of(
        question: Question,
        cells: &Cells,
        takes_part: &'a dyn Fn(usize) -> bool,
        spending: &'a Spending,
    ) -> Asked<'a> {
        let mut asked = Asked { question, takes_part, spending, decided: BTreeSet::new() };
        let Some(look) = question.look else { return asked };
        for (number, boots) in (1..look.number).zip(look.schedule.after()) {
            let before = cells.up_to(boots);
            if before.iter().next().is_some() {
                asked.question.look = Some(Look { number, ..look });
                let comparisons = asked.judge(&before);
                let decided = comparisons.iter().filter(|one| one.verdict.is_decided());
                asked.decided.extend(decided.map(Comparison::pair));
            }
        }
        asked.question.look = Some(look);
        asked
    }

    /// Another question at the same place.
    pub(crate) fn instead(&self, question: Question) -> Asked<'a> {
        Asked { question, ..self.clone() }
    }

    /// The comparisons that `cells` make.
    pub(crate) fn judge(&self, cells: &Cells) -> Vec<Comparison> {
        judge(&Fit::of(cells, &self.question), self)
    }
}
