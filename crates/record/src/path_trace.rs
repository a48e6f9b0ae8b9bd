//! The trace of a path, as it is stored with its run.

use host::perf::Profile;
use serde::{Deserialize, Serialize};
use words::{Closure, KernelPath, Waiting};

/// The cost of packets along a path, for the way that most of them took. Times are in ns for a
/// packet, or in instructions where a guest counts them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathTrace {
    /// The path.
    pub path: KernelPath,
    /// The readers' wait for a packet: asleep or polling.
    pub reader: Waiting,
    /// The places that they passed, in order; none if no packet was followed.
    pub places: Vec<PassedPlace>,
    /// The steps from each place to the next: one less than there are places.
    pub steps: Vec<PathStep>,
    /// The cost from the first place to the last with the fewest probes, less the probes' own cost,
    /// without the wait for a reader; `None` if no packet was followed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole: Option<f64>,
    /// The packets that were followed with all probes.
    pub packets: u64,
    /// The functions that took the CPU without probes, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
}

/// A place in the kernel that packets passed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PassedPlace {
    /// The stage that begins there, as its path calls it.
    pub label: String,
    /// Whether the function is left there, not entered.
    pub returns: bool,
    /// The function or tracepoint by which it was seen.
    pub seen_at: String,
}

/// The way from one place to the next.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathStep {
    /// The mean of a packet, less the probes' own cost.
    pub cost: f64,
    /// Interruptions in it, which are not in its cost.
    pub outside: f64,
    /// The packet waits for its reader: no work, so it is in no sum.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub waits: bool,
}

impl PathTrace {
    /// The sum of its stages as a share of the whole; `None` if no packet was followed.
    #[must_use]
    pub fn closure(&self) -> Option<Closure> {
        Closure::from_sum(
            self.steps.iter().filter(|step| !step.waits).map(|step| step.cost).sum(),
            self.whole,
        )
    }

    /// Whether its parts fit each other: each step lies between two places, and each figure is a
    /// number.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let figures = self.steps.iter().flat_map(|step| [step.cost, step.outside]).chain(self.whole);
        self.profile.as_ref().is_none_or(Profile::is_sound)
            && self.steps.len() == self.places.len().saturating_sub(1)
            && { figures }.all(f64::is_finite)
    }
}
