//! The turns that conditions take in one flow.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::key::Key;
use crate::keys::KEYS;
use crate::sysctls::{self, acts_at_once};
use crate::traffic::{Traffic, Workload};
use crate::tuning::{Tuning, TuningKey};
use crate::value::Value;

/// The most conditions of one flow: a block of turns grows with the square.
pub const MOST_IN_TURNS: usize = 8;

/// The most turns of one flow.
pub const MOST_TURNS: usize = 4096;

/// A stretch of time of a flow in which one condition's switches are set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// The condition, as an index into those of the flow.
    pub state: usize,
    /// Whether it is counted. A turn that only leads to the next one is not.
    pub counts: bool,
}

impl Workload {
    /// Settings that cannot change while a connection is open, and the names of the keys that can,
    /// as far as these are written ([`Key::in_turns`](crate::Key::in_turns)).
    pub fn fixed_in_flow(&self) -> (Self, Vec<&'static str>) {
        let (mut kept, plain) = (self.clone(), Self::new(self.traffic.kind));
        let is_switched =
            |key: &&Key| key.in_turns.contains(&self.traffic.kind) && key.get(self) != Value::Default;
        let switched: Vec<&Key> = KEYS.iter().filter(is_switched).collect();
        switched.iter().for_each(|key| key.set(&mut kept, &key.get(&plain)));
        (kept, switched.iter().map(|key| key.name).collect())
    }

    /// The key in which both differ whose turns are not known to find what runs find.
    pub fn doubted_key(&self, other: &Self) -> Option<&'static str> {
        let mut differ = KEYS.iter().filter(|key| key.get(self) != key.get(other));
        let is_doubted = |key: &&Key| (key.is_doubted)(&self.traffic) || (key.is_doubted)(&other.traffic);
        differ.find(is_doubted).map(|key| key.name)
    }
}

impl Traffic {
    /// Whether both can take turns in one flow.
    pub fn shares_flow_with(&self, other: &Self) -> bool {
        self.in_a_workload().fixed_in_flow() == other.in_a_workload().fixed_in_flow()
    }
}

impl Tuning {
    /// Machine settings that cannot change while a flow lasts.
    pub fn fixed_in_flow(&self) -> (&BTreeSet<TuningKey>, Option<u32>, BTreeMap<&str, &str>) {
        // Every setting but some sysctls acts at once; a flow's threads stay on their CPU.
        let lasting = self.sysctl.iter().filter(|(name, _)| !acts_at_once(name));
        (
            &self.varied,
            self.placement.map(|both| both.traffic),
            lasting.map(|(name, value)| (name.as_str(), value.as_str())).collect(),
        )
    }

    /// The setting of these two machines whose turns are not known to find what runs find.
    pub fn doubted_key(&self, other: &Self) -> Option<TuningKey> {
        let differs = |name: &&String| self.sysctl.get(*name) != other.sysctl.get(*name);
        let mut changed = self.sysctl.keys().chain(other.sysctl.keys()).filter(differs);
        let differ = [
            (TuningKey::Sysctl, changed.any(|name| sysctls::is_doubted(name))),
            (TuningKey::Governor, self.governor != other.governor),
            (TuningKey::CpuLatency, self.cpu_latency != other.cpu_latency),
            (TuningKey::Placement, self.placement != other.placement),
            (TuningKey::IrqAffinity, self.irq_affinity != other.irq_affinity),
        ];
        differ.into_iter().find(|(_, is_doubted)| *is_doubted).map(|(key, _)| key)
    }
}

#[cfg(test)]
mod tests;
