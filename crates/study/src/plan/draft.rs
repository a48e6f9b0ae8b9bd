//! From a study to its plan: each combination of levels becomes a condition, or is left out with
//! the reason.

use crate::model::dropped::Dropped;
use crate::model::grid::Cell;
use crate::model::selection::Request;
use crate::model::study::Study;
use crate::plan::condition::Condition;
use crate::plan::{Asked, Plan, comparison, name, rule};

impl Study {
    /// The conditions, what is left out and why, and what is compared.
    pub fn plan(&self) -> Plan {
        Draft::of(self).finish(self)
    }
}

/// A plan whose conditions still know the levels they come from.
pub(crate) struct Draft {
    pub(crate) conditions: Vec<Condition>,
    pub(crate) cells: Vec<Cell>,
    pub(crate) excluded: Vec<Dropped>,
}

impl Draft {
    /// Resolves every combination of the study, and leaves out what the file or a rule excludes.
    pub(crate) fn of(study: &Study) -> Self {
        let mut draft = Self { conditions: Vec::new(), cells: Vec::new(), excluded: Vec::new() };
        for cell in study.cells() {
            let mut condition = Condition::resolve(study, &cell);
            condition.label = name::label(study, &cell, &condition);
            let exclusion = study.exclusions.iter().find(|exclusion| exclusion.selection.chooses(&cell));
            // The file's own reason comes before that of a rule.
            match exclusion
                .map(|exclusion| exclusion.why())
                .or_else(|| rule::forbids(&condition, study.exact()))
            {
                Some(why) => draft.excluded.push(Dropped { label: condition.label, why }),
                None => {
                    condition.index = draft.conditions.len();
                    condition.slug = name::slug(study, &cell, &condition);
                    draft.conditions.push(condition);
                    draft.cells.push(cell);
                }
            }
        }
        draft.excluded = whole(draft.excluded, study);
        name::make_unique(&mut draft.conditions);
        draft
    }

    /// The conditions with the levels they come from.
    pub(crate) fn planned(&self) -> Vec<(Cell, &Condition)> {
        self.cells.iter().cloned().zip(&self.conditions).collect()
    }

    /// The plan, with the study's comparisons.
    pub(crate) fn finish(self, study: &Study) -> Plan {
        let planned = self.planned();
        // What cannot be resolved was reported when the file was read; only the default comparison
        // of a study with a single condition comes here without one.
        let resolve = |request: &Request| comparison::resolve(request, &planned, study.exact()).ok();
        let comparisons = study.requests.iter().filter_map(resolve).flatten().collect();
        Plan {
            conditions: self.conditions,
            excluded: self.excluded,
            merged: Vec::new(),
            comparisons,
            design: study.design().cloned(),
            exact: study.exact(),
            asked: Asked { question: study.question().to_owned(), protocol: study.protocol().clone() },
            looks_dropped: study.looks_dropped(),
            effective: Vec::new(),
        }
    }
}

/// Where everything of a design is left out for one reason, says so once.
fn whole(excluded: Vec<Dropped>, study: &Study) -> Vec<Dropped> {
    let Some(design) = study.design() else { return excluded };
    let words: Vec<String> = study.rows.iter().map(|row| design.words(row)).collect();
    // Combinations of a design follow each other, all on or all off first.
    let without = |dropped: &Dropped, words: &str| Some(dropped.label.strip_suffix(words)?.to_owned());
    let mut said = Vec::new();
    let mut rest = excluded.as_slice();
    while let Some(first) = rest.first() {
        let one = rest.get(..words.len()).zip(without(first, &words[0])).filter(|(block, label)| {
            let same = |(one, words): (&Dropped, &String)| {
                one.why == first.why && without(one, words).as_ref() == Some(label)
            };
            block.iter().zip(&words).all(same)
        });
        match one {
            Some((block, label)) => {
                let label = format!("{label}whatever is on");
                said.push(Dropped { label, why: first.why.clone() });
                rest = &rest[block.len()..];
            }
            None => {
                said.push(first.clone());
                rest = &rest[1..];
            }
        }
    }
    said
}
