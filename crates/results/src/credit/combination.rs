//! The conditions of a design under the same levels of all other factors: their credit is divided.

use std::collections::BTreeSet;

use serde::Serialize;
use stats::Observation;
use stats::effects::Layout;
use store::StoredStudy;
use study::metric::Metric;
use study::{Condition, Design, Kind, Plan};

use crate::data::missing::why_without;
use crate::words::phrases::listed;

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

/// One combination of the levels of the factors outside the design.
pub(super) struct Combination<'a> {
    /// The design, with the factors that can be switched here.
    pub(super) design: Design,
    /// All factors of the study's design.
    factors: &'a [String],
    pub(super) workload: &'a str,
    pub(super) kind: Kind,
    /// The levels of the other factors, `family=ipv4 mtu=1500`; empty if there are none.
    pub(super) at: String,
    /// Its conditions, by their numbers in the plan. Effects and shares use positions in this list.
    pub(super) conditions: Vec<usize>,
    /// For each of them whether each of the design's factors is on.
    levels: Vec<Vec<bool>>,
}

impl<'a> Combination<'a> {
    /// All combinations of the plan, in its order; empty without a design.
    pub(super) fn from_plan(plan: &'a Plan) -> Vec<Self> {
        let Some(design) = &plan.design else { return Vec::new() };
        let mut combinations: Vec<Self> = Vec::new();
        for condition in &plan.conditions {
            let own = condition.own_design(design);
            let Some(levels) = levels(&own, condition) else { continue };
            let at = others(design, condition);
            let workload = condition.workload.name.as_str();
            let place = combinations.iter().position(|one| {
                (one.workload, &one.at, &one.design.factors) == (workload, &at, &own.factors)
            });
            let place = place.unwrap_or_else(|| {
                let kind = condition.workload.traffic.kind;
                combinations.push(Self {
                    design: own,
                    factors: &design.factors,
                    workload,
                    kind,
                    at,
                    conditions: Vec::new(),
                    levels: Vec::new(),
                });
                combinations.len() - 1
            });
            combinations[place].conditions.push(condition.index);
            combinations[place].levels.push(levels);
        }
        combinations
    }

    pub(super) fn layout(&self) -> Layout<'_> {
        Layout { factors: &self.design.factors, levels: &self.levels }
    }

    /// The runs of its conditions, by position.
    pub(super) fn observations(&self, stored: &StoredStudy, metric: Metric) -> Vec<Observation> {
        let place = |condition| self.conditions.iter().position(|one| *one == condition);
        let values = stored.values(metric);
        values
            .filter_map(|(condition, boot, value)| {
                Some(Observation { condition: place(condition)?, boot, value })
            })
            .collect()
    }

    /// The positions whose state no run measured in a metric, with the names of the factors that
    /// are on, and why.
    pub(super) fn missing(&self, stored: &StoredStudy, metric: Metric) -> Vec<MissingState> {
        let measured: BTreeSet<usize> = stored.values(metric).map(|(condition, ..)| condition).collect();
        let missing = self.places().filter(|place| !measured.contains(&self.conditions[*place]));
        missing
            .map(|place| {
                let on = &self.levels[place];
                MissingState {
                    state: self.design.words(on),
                    is_end: on.windows(2).all(|pair| pair[0] == pair[1]),
                    on: self.names(place, true).into_iter().map(str::to_owned).collect(),
                    why: why_without(stored, self.conditions[place], metric),
                }
            })
            .collect()
    }

    /// The position of the condition with exactly these factors on.
    pub(super) fn place(&self, is_on: impl Fn(usize) -> bool) -> Option<usize> {
        let wanted: Vec<bool> = (0..self.design.factors.len()).map(is_on).collect();
        self.levels.iter().position(|levels| *levels == wanted)
    }

    /// Whether the plan has all on and all off here.
    pub(super) fn plans_the_whole(&self) -> bool {
        self.place(|_| true).is_some() && self.place(|_| false).is_some()
    }

    /// The names of the factors that are on, or off, at a position.
    pub(super) fn names(&self, place: usize, are_on: bool) -> Vec<&str> {
        let factors = self.design.factors.iter().zip(&self.levels[place]);
        factors.filter(|(_, own)| **own == are_on).map(|(name, _)| name.as_str()).collect()
    }

    /// Whether the design switches this factor, here or in another scenario.
    pub(super) fn has_factor(&self, name: &str) -> bool {
        self.factors.iter().any(|factor| factor == name)
    }

    /// The state at a position in words: `all off`, `without tso`.
    pub(super) fn words(&self, place: usize) -> String {
        self.design.words(&self.levels[place])
    }

    /// The state at a position as the base of a percentage: `all on but transmitter.tso`.
    pub(super) fn base(&self, place: usize) -> String {
        match self.names(place, false) {
            off if !off.is_empty() && off.len() < self.design.factors.len() => {
                format!("all on but {}", listed(&off))
            }
            _ => self.words(place),
        }
    }

    /// The state of a condition of the plan in words; empty if it is not of this combination.
    pub(super) fn words_of(&self, condition: usize) -> String {
        let place = self.conditions.iter().position(|own| *own == condition);
        place.map_or_else(String::new, |place| self.words(place))
    }

    pub(super) fn places(&self) -> std::ops::Range<usize> {
        0..self.conditions.len()
    }
}

/// Whether each of the design's factors is on; `None` for a condition outside every combination.
fn levels(design: &Design, condition: &Condition) -> Option<Vec<bool>> {
    if design.factors.is_empty() {
        return None;
    }
    let level = |factor: &String| {
        let (_, level) = condition.levels.iter().find(|(name, _)| name == factor)?;
        match level.as_str() {
            "on" => Some(true),
            "off" => Some(false),
            _ => None,
        }
    };
    design.factors.iter().map(level).collect()
}

/// The levels of the factors, except the design's and the workload.
fn others(design: &Design, condition: &Condition) -> String {
    let is_other = |name: &String| name != "workload" && !design.factors.contains(name);
    let others = condition.levels.iter().filter(|(name, _)| is_other(name));
    others.map(|(name, level)| format!("{name}={level}")).collect::<Vec<_>>().join(" ")
}
