//! Turns a study into its plan: each combination of levels becomes a condition, or is left out with
//! the reason.

use crate::model::dropped::Dropped;
use crate::model::grid::Cell;
use crate::model::name::{Name, NameWord};
use crate::model::selection::ComparisonRequest;
use crate::model::study::Study;
use crate::plan::condition::Condition;
use crate::plan::{Plan, PlannedQuestion, comparison, name, rule};

impl Study {
    /// The plan: conditions, exclusions with their reasons, and comparisons.
    pub fn plan(&self) -> Plan {
        Draft::from_study(self).finish(self)
    }
}

/// A plan whose conditions still have their combination of levels.
pub(crate) struct Draft {
    pub(crate) conditions: Vec<Condition>,
    pub(crate) cells: Vec<Cell>,
    pub(crate) excluded: Vec<Dropped>,
}

impl Draft {
    /// Resolves every combination of the study, without those that the file or a rule excludes.
    pub(crate) fn from_study(study: &Study) -> Self {
        let mut draft = Self { conditions: Vec::new(), cells: Vec::new(), excluded: Vec::new() };
        let mut excluded = Vec::new();
        for cell in study.cells() {
            let mut condition = Condition::resolve(study, &cell);
            condition.label = name::label(study, &cell, &condition);
            let exclusion = study.exclusions.iter().find(|exclusion| exclusion.selection.chooses(&cell));
            // The file's reason comes before that of a rule.
            match exclusion
                .map(|exclusion| exclusion.why())
                .or_else(|| rule::forbids(&condition, study.exact(), study.tracing().is_some()))
            {
                Some(why) => excluded.push((condition.label, why)),
                None => {
                    condition.index = draft.conditions.len();
                    condition.slug = name::slug(study, &cell, &condition);
                    draft.conditions.push(condition);
                    draft.cells.push(cell);
                }
            }
        }
        draft.excluded = grouped_exclusions(&excluded, study);
        name::make_unique(&mut draft.conditions);
        draft
    }

    pub(crate) fn planned(&self) -> Vec<(Cell, &Condition)> {
        self.cells.iter().cloned().zip(&self.conditions).collect()
    }

    pub(crate) fn finish(self, study: &Study) -> Plan {
        let planned = self.planned();
        // Reading the file reported comparisons that cannot be made. Only the default comparison of
        // a study with a single condition fails here.
        let resolve =
            |request: &ComparisonRequest| comparison::resolve(request, &planned, study.exact()).ok();
        let comparisons = study.requests.iter().filter_map(resolve).flatten().collect();
        Plan {
            conditions: self.conditions,
            excluded: self.excluded,
            lacking: Vec::new(),
            merged: Vec::new(),
            comparisons,
            design: study.design().cloned(),
            exact: study.exact(),
            tracing: study.tracing().cloned(),
            asked: PlannedQuestion {
                question: study.question().to_owned(),
                protocol: study.protocol().clone(),
            },
            looks_dropped: study.looks_dropped(),
            effective: Vec::new(),
        }
    }
}

/// The excluded conditions. A reason that excludes every combination of a design is stated once.
fn grouped_exclusions(excluded: &[(Name, String)], study: &Study) -> Vec<Dropped> {
    let word = |row: &Vec<bool>| study.design().map(|design| design.word(row));
    let words: Vec<NameWord> = study.rows.iter().filter_map(word).collect();
    let mut said = Vec::new();
    let mut rest = excluded;
    while let Some((name, why)) = rest.first() {
        let before = name.words().split_last().map_or(&[][..], |(_, before)| before);
        // Combinations of a design follow each other, all on or all off first.
        let is_block = |block: &&[(Name, String)]| {
            let same = |((name, reason), word): (&(Name, String), &NameWord)| {
                reason == why && name.words().split_last() == Some((word, before))
            };
            !block.is_empty() && block.iter().zip(&words).all(same)
        };
        let (label, count) = match rest.get(..words.len()).filter(is_block) {
            Some(block) => {
                let all = NameWord::alone("with any offloads".to_owned());
                (Name::from([before, &[all]].concat()), block.len())
            }
            None => (name.clone(), 1),
        };
        said.push(Dropped { label: label.to_string(), why: why.clone() });
        rest = &rest[count..];
    }
    said
}
