//! The plan of a study: the conditions to measure, those left out with the reason, and the
//! comparisons.

pub(crate) mod comparison;
pub(crate) mod condition;
pub(crate) mod costs;
pub(crate) mod draft;
pub(crate) mod effective;
pub(crate) mod schedule;
mod settled;
pub(crate) mod turns;

use std::collections::HashMap;
use std::hash::Hash;

use serde::de::Error as _;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use words::{CongestionControl, Family};

use crate::model::{BootKind, BootState, Dropped, OffloadDesign, Protocol, Tracing, limit};
use crate::plan::comparison::PlannedComparison;
use crate::plan::effective::Effective;

pub(crate) use comparison::Unresolved;
pub(crate) use condition::{Condition, SideSettings};
pub(crate) use draft::Draft;
pub(crate) use schedule::PlannedRun;
pub(crate) use turns::Flows;

/// The conditions of a study in order: factors in file order, the last varies fastest. It is stored
/// with the runs: `--resume`, `compare` and every report use it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The conditions to measure. `conditions[i].index` is `i`.
    pub conditions: Vec<Condition>,
    /// Conditions that the file or a rule leaves out.
    pub excluded: Vec<Dropped>,
    /// Conditions that a try showed to be impossible here.
    pub lacking: Vec<Dropped>,
    /// Conditions that read back the same state as one that stays; see [`Plan::merge`].
    pub merged: Vec<Dropped>,
    /// The pairs of conditions to compare.
    pub comparisons: Vec<PlannedComparison>,
    /// The study's design, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub design: Option<OffloadDesign>,
    /// Whether instructions are counted instead of time.
    pub exact: bool,
    /// The traces behind each recorded run; `None`: no traces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracing: Option<Tracing>,
    /// The question and the protocol.
    pub asked: PlannedQuestion,
    /// The state that both ends read back, for each condition; empty before a try.
    pub effective: Vec<Effective>,
}

/// A study's question and protocol: kept with its plan, so that results are judged as planned, even
/// after the grammar of study files changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedQuestion {
    /// The question, in its author's words.
    pub question: String,
    /// The number and the order of measurements, and when the study may stop.
    pub protocol: Protocol,
}

impl Plan {
    /// The families of its traffic.
    pub fn families(&self) -> Vec<Family> {
        let has = |family: &Family| self.conditions.iter().any(|condition| condition.family == *family);
        Family::ALL.into_iter().filter(has).collect()
    }

    /// The kind of boot between machines; `None` where each boot is a fresh testbed.
    pub fn how_of_boots(&self) -> Option<BootKind> {
        let between_machines = self.conditions.iter().any(|condition| condition.boot.scenario.has_machines());
        between_machines.then_some(self.asked.protocol.how)
    }

    /// Reads a stored plan.
    ///
    /// # Errors
    /// A field that is missing, unknown or of another type, with its place in the text; parts that
    /// do not fit each other.
    pub fn read(json: &str) -> serde_json::Result<Self> {
        let plan: Self =
            serde_json::from_str(json).or_else(|error| without_what_is_gone(json).ok_or(error))?;
        let conditions = plan.conditions.len();
        let in_range = |index: &usize| *index < conditions;
        let is_sound = (plan.effective.is_empty() || plan.effective.len() == conditions)
            && plan.conditions.iter().enumerate().all(|(at, one)| one.index == at)
            && plan.comparisons.iter().all(|c| in_range(&c.baseline) && c.conditions.iter().all(in_range));
        if !is_sound {
            return Err(serde_json::Error::custom("its parts do not fit each other"));
        }
        // Pages loop over all planned runs.
        if plan.asked.protocol.total_runs(conditions) > limit::RUNS {
            return Err(serde_json::Error::custom("it has more runs than a study can have"));
        }
        Ok(plan)
    }

    /// The states that testbeds are built for, each once, in the order of the conditions.
    pub fn states(&self) -> Vec<BootState> {
        let states = words::distinct(self.conditions.iter().map(|condition| &condition.boot));
        states.into_iter().cloned().collect()
    }

    /// The plan with a congestion control for TCP traffic that left it open.
    pub fn with_congestion_control(mut self, chosen: &str) -> Self {
        for traffic in self.conditions.iter_mut().map(|condition| &mut condition.workload.traffic) {
            if traffic.leaves_congestion_control_open() {
                traffic.congestion_control = CongestionControl::Named(chosen.to_owned());
            }
        }
        self
    }

    /// Whether some of its TCP traffic leaves the congestion control open.
    pub fn leaves_congestion_control_open(&self) -> bool {
        self.conditions.iter().any(|condition| condition.workload.traffic.leaves_congestion_control_open())
    }

    /// The state of each condition, as an index into [`Plan::states`].
    pub fn states_of_conditions(&self) -> Vec<usize> {
        let states = self.states();
        let place = |condition: &Condition| states.iter().position(|state| *state == condition.boot);
        self.conditions.iter().filter_map(place).collect()
    }

    /// Merges conditions with the same effective state: the first stays, the others move to
    /// `merged`, the conditions are numbered again and the comparisons follow.
    ///
    /// `states[i]` is the state that the testbed reads back under `conditions[i]`. Only conditions
    /// with the same traffic (workload, family, checksums of the sockets), testbed and `twin` are
    /// merged, so `states` need not contain these. A condition without a state stays.
    pub fn merge<S: Eq + Hash>(mut self, states: &[S]) -> Plan {
        let first = representatives(&self.conditions, states);
        for (condition, &first) in self.conditions.iter().zip(&first) {
            if condition.index != first {
                let why = format!("reads back as the same state as `{}`", self.conditions[first].label);
                self.merged.push(Dropped { label: condition.label.to_string(), why });
            }
        }
        self.keep(&first.into_iter().map(Some).collect::<Vec<_>>()).0
    }

    /// Moves the conditions that cannot be measured here to `lacking`; the others are numbered
    /// anew and the comparisons follow. A comparison whose baseline is gone goes there too.
    ///
    /// `reasons[i]` is why `conditions[i]` cannot be measured; without one it stays.
    pub fn without(mut self, reasons: &[Option<String>]) -> Plan {
        let reason = |index: usize| reasons.get(index).and_then(Option::as_ref);
        for condition in &self.conditions {
            let label = condition.label.to_string();
            self.lacking.extend(reason(condition.index).map(|why| Dropped { label, why: why.clone() }));
        }
        for PlannedComparison { metric, baseline, .. } in &self.comparisons {
            if let (Some(_), Some(condition)) = (reason(*baseline), self.conditions.get(*baseline)) {
                let label = format!("the comparison of {metric} with {}", condition.label);
                self.lacking.push(Dropped { label, why: "its baseline is not measured".to_owned() });
            }
        }
        let stays = |index: usize| reason(index).is_none().then_some(index);
        let stays: Vec<_> = (0..self.conditions.len()).map(stays).collect();
        self.keep(&stays).0
    }

    /// `stands_for[i]` is the condition that is measured for `conditions[i]`, if one is. Also
    /// returns the former number of each condition of the plan.
    pub(crate) fn keep(mut self, stands_for: &[Option<usize>]) -> (Plan, Vec<usize>) {
        let numbers: Vec<usize> =
            (0..stands_for.len()).filter(|&index| stands_for[index] == Some(index)).collect();
        let renumber = |old: usize| numbers.binary_search(&(*stands_for.get(old)?)?).ok();
        self.comparisons =
            self.comparisons.into_iter().filter_map(|comparison| follow(comparison, renumber)).collect();
        self.conditions.retain(|condition| numbers.binary_search(&condition.index).is_ok());
        self.conditions.iter_mut().enumerate().for_each(|(index, condition)| condition.index = index);
        (self, numbers)
    }
}

/// Reads a plan of an earlier version without what is gone.
fn without_what_is_gone(json: &str) -> Option<Plan> {
    let mut plan: Value = serde_json::from_str(json).ok()?;
    // Two kinds of design.
    if matches!(plan["design"]["kind"].as_str(), Some("one-out" | "one-in")) {
        plan["design"] = Value::Null;
    }
    // The reloading of drivers between boots.
    if plan["asked"]["protocol"]["how"] == "reload" {
        plan["asked"]["protocol"]["how"] = BootKind::Reset.word().into();
    }
    // Looks that had too few boots.
    plan.as_object_mut()?.remove("looks_dropped");
    serde_json::from_value(plan).ok()
}

fn representatives<S: Eq + Hash>(conditions: &[Condition], states: &[S]) -> Vec<usize> {
    let traffic = |index: usize| {
        let Condition { workload, family, boot, .. } = &conditions[index];
        (workload, family, conditions[index].twin(), boot)
    };
    let mut by_state: HashMap<&S, Vec<usize>> = HashMap::new();
    let mut first = |index: usize| {
        let Some(state) = states.get(index) else { return index };
        let known = by_state.entry(state).or_default();
        known.iter().copied().find(|first| traffic(*first) == traffic(index)).unwrap_or_else(|| {
            known.push(index);
            index
        })
    };
    (0..conditions.len()).map(&mut first).collect()
}

fn follow(one: PlannedComparison, renumber: impl Fn(usize) -> Option<usize>) -> Option<PlannedComparison> {
    let baseline = renumber(one.baseline)?;
    let mut conditions: Vec<usize> = one.conditions.into_iter().filter_map(renumber).collect();
    conditions.sort_unstable();
    conditions.dedup();
    conditions.retain(|index| *index != baseline);
    (!conditions.is_empty()).then_some(PlannedComparison { baseline, conditions, ..one })
}
