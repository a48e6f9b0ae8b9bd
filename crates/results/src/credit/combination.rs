//! The conditions of a design under the same levels of all other factors: their credit is divided.

use std::collections::BTreeSet;

use serde::Serialize;
use stats::effects::DesignMatrix;
use store::StoredStudy;
use study::metric::Metric;
use study::{Condition, Kind, OffloadDesign, Plan};

use crate::data::missing::why_without;
use crate::words::lists::grouped;
use crate::words::phrases::{levels_without, listed};

/// A state of the plan that no run measured. Unreachable states are not in the plan.
#[derive(Debug, PartialEq, Serialize)]
pub struct MissingState {
    /// In words: `all off`, `without tso`.
    pub state: String,
    /// Its offloads that are on.
    pub on: Vec<String>,
    /// Whether all are on or all off.
    #[serde(skip)]
    pub is_end: bool,
    /// The reason why none of its runs counts.
    pub why: String,
}

pub(crate) struct Combination<'a> {
    // Not the plan's: here only some of its factors may be switchable.
    pub(super) design: OffloadDesign,
    pub(super) workload: &'a str,
    pub(super) kind: Kind,
    /// The levels of the other factors, `family=ipv4 mtu=1500`; empty if there are none.
    pub(super) at: String,
    // Effects and shares name a condition by its position here, not by the plan's index.
    pub(super) conditions: Vec<usize>,
    levels: Vec<Vec<bool>>,
}

impl<'a> Combination<'a> {
    pub(crate) fn from_plan(plan: &'a Plan) -> Vec<Self> {
        let Some(design) = &plan.design else { return Vec::new() };
        let designed = plan.conditions.iter().filter_map(|condition| {
            let own = condition.own_design(design);
            let others = condition.levels.iter().filter(|(name, _)| !own.factors.contains(name)).cloned();
            let at = levels_without("workload", &others.collect::<Vec<_>>());
            (!own.factors.is_empty()).then_some(((condition.workload.name.as_str(), at, own), condition))
        });
        let combination =
            |((workload, at, design), conditions): ((&'a str, String, OffloadDesign), Vec<&Condition>)| {
                Self {
                    workload,
                    kind: conditions[0].workload.traffic.kind,
                    at,
                    conditions: conditions.iter().map(|one| one.index).collect(),
                    levels: conditions.iter().map(|one| one.designed(&design)).collect(),
                    design,
                }
            };
        grouped(designed).into_iter().map(combination).collect()
    }

    pub(super) fn layout(&self) -> DesignMatrix<'_> {
        DesignMatrix { factors: &self.design.factors, levels: &self.levels }
    }

    pub(super) fn missing(&self, stored: &StoredStudy, metric: Metric) -> Vec<MissingState> {
        let measured: BTreeSet<usize> = stored.values(metric).map(|(condition, ..)| condition).collect();
        let missing = (0..self.conditions.len()).filter(|place| !measured.contains(&self.conditions[*place]));
        let state = |place: usize| {
            let levels = &self.levels[place];
            MissingState {
                state: self.design.state_name(levels),
                is_end: levels.windows(2).all(|pair| pair[0] == pair[1]),
                on: self.names(place, true).into_iter().map(str::to_owned).collect(),
                why: why_without(stored, self.conditions[place], metric),
            }
        };
        missing.map(state).collect()
    }

    pub(super) fn place(&self, is_on: impl Fn(usize) -> bool) -> Option<usize> {
        let wanted: Vec<bool> = (0..self.design.factors.len()).map(is_on).collect();
        self.levels.iter().position(|levels| *levels == wanted)
    }

    pub(super) fn plans_the_whole(&self) -> bool {
        self.place(|_| true).is_some() && self.place(|_| false).is_some()
    }

    pub(super) fn names(&self, place: usize, are_on: bool) -> Vec<&str> {
        let factors = self.design.factors.iter().zip(&self.levels[place]);
        factors.filter(|(_, own)| **own == are_on).map(|(name, _)| name.as_str()).collect()
    }

    pub(super) fn state_name(&self, place: usize) -> String {
        self.design.state_name(&self.levels[place])
    }

    pub(super) fn base(&self, place: usize) -> String {
        match self.names(place, false) {
            off if !off.is_empty() && off.len() < self.design.factors.len() => {
                format!("all on but {}", listed(&off))
            }
            _ => self.state_name(place),
        }
    }
}
