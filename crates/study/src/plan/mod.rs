//! What a study comes down to: the conditions to measure, those left out and why, and what is
//! compared.

pub(crate) mod comparison;
pub(crate) mod condition;
pub(crate) mod costs;
pub(crate) mod document;
pub(crate) mod draft;
pub(crate) mod effective;
pub(crate) mod merge;
pub(crate) mod name;
pub(crate) mod rule;
pub(crate) mod schedule;
pub(crate) mod settings;
mod settled;

use serde::{Deserialize, Serialize};
use words::CongestionControl;

use crate::model::boot_state::BootState;
use crate::model::design::Design;
use crate::model::dropped::Dropped;
use crate::model::protocol::Protocol;
use crate::model::stop::LooksDropped;
use crate::plan::comparison::Comparison;
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

/// What a study asks: kept with its plan, so that results are judged as they were planned, however
/// the grammar of study files changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// The question, in its author's words.
    pub question: String,
    /// How often and in which order conditions are measured, and when the study may stop.
    pub protocol: Protocol,
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
