//! What a study comes down to: the conditions to measure, those left out and why, and what is compared.

pub(crate) mod asked;
pub(crate) mod comparison;
pub(crate) mod condition;
pub(crate) mod costs;
pub(crate) mod document;
pub(crate) mod effective;
pub(crate) mod merge;
pub(crate) mod name;
pub(crate) mod rule;
pub(crate) mod schedule;
pub(crate) mod settled;
pub(crate) mod underlay;

use serde::{Deserialize, Serialize};
use words::CongestionControl;

use crate::model::boot_state::BootState;
use crate::model::design::Design;
use crate::model::grid::Cell;
use crate::model::stop::LooksDropped;
use crate::model::study::Study;
use crate::plan::asked::Asked;
use crate::plan::comparison::{Comparison, Request};
use crate::plan::condition::Condition;

/// The conditions of a study in their order: factors in file order, the last varies fastest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// What is measured. `conditions[i].index` is `i`.
    pub conditions: Vec<Condition>,
    /// What the file or a rule leaves out.
    pub excluded: Vec<Dropped>,
    /// What turned out to be the same as a condition that stays; see [`Plan::merge`].
    pub merged: Vec<Dropped>,
    /// What is compared with what.
    pub comparisons: Vec<Comparison>,
    /// Whose combinations the conditions are, where the study has a design.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub design: Option<Design>,
    /// Whether instructions are counted instead of time.
    pub exact: bool,
    /// What the study asks.
    pub asked: Asked,
    /// The looks that a change of the study left no boots for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub looks_dropped: Option<LooksDropped>,
}

impl Plan {
    /// What testbeds have to be built for, each state once, in the order of the conditions.
    pub fn states(&self) -> Vec<BootState> {
        let mut states: Vec<BootState> = Vec::new();
        for condition in &self.conditions {
            if !states.contains(&condition.boot) {
                states.push(condition.boot.clone());
            }
        }
        states
    }

    /// The same, with the congestion control named that its TCP traffic left open.
    #[must_use]
    pub fn with_congestion_control(mut self, chosen: &str) -> Self {
        for workload in self.conditions.iter_mut().map(|condition| &mut condition.workload) {
            if workload.traffic.kind.is_tcp() {
                workload.traffic.congestion_control = workload.traffic.congestion_control.or_chosen(chosen);
            }
        }
        self
    }

    /// Whether TCP traffic of it leaves the congestion control open.
    pub fn leaves_congestion_control_open(&self) -> bool {
        self.conditions.iter().map(|condition| &condition.workload).any(|workload| {
            workload.traffic.kind.is_tcp()
                && workload.traffic.congestion_control == CongestionControl::Unpaced
        })
    }

    /// For each condition its state, as an index into [`Plan::states`].
    pub fn states_of_conditions(&self) -> Vec<usize> {
        let states = self.states();
        let place = |condition: &Condition| states.iter().position(|state| *state == condition.boot);
        self.conditions.iter().filter_map(place).collect()
    }
}

/// A combination of levels that is not measured, or a comparison that is not made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dropped {
    /// Its label.
    pub label: String,
    /// The reason, as a fragment of a sentence.
    pub why: String,
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
            let exclusion = study.exclusions.iter().find(|exclusion| exclusion.selection.chooses(&cell));
            // The file's own reason comes before that of a rule.
            match exclusion
                .map(|exclusion| exclusion.why())
                .or_else(|| rule::forbids(&condition, study.scenario(), study.exact()))
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
        // What cannot be resolved was reported when the file was read; only the default comparison of a study with
        // a single condition comes here without one.
        let resolve = |request: &Request| request.resolve(&planned, study.exact()).ok();
        let comparisons = study.requests.iter().filter_map(resolve).flatten().collect();
        Plan {
            conditions: self.conditions,
            excluded: self.excluded,
            merged: Vec::new(),
            comparisons,
            design: study.design().cloned(),
            exact: study.exact(),
            asked: Asked::of(study),
            looks_dropped: study.looks_dropped(),
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
