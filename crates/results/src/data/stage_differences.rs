//! The explanation of the difference between two conditions on a traced path, stage by stage.

use serde::Serialize;
use store::StoredStudy;

use crate::data::error::Error;
use crate::data::origin::TraceOrigin;
use crate::data::path_comparison::{PathPair, pairs};
use crate::data::profiled::{ProfilePair, Stacks, profile_pairs, stacks};
use crate::data::truth;

// The meaning of counts.
const EXACT: &str = "exact mode: instructions counted in an emulated guest with one CPU, not time";

/// The stages of a study's traced paths, under each two conditions that it compares.
#[derive(Debug, Serialize)]
pub struct StageDifferences {
    /// The study's number.
    pub study: i64,
    /// Its name.
    pub name: String,
    /// Its question.
    pub question: String,
    /// `ns`, or `instructions`; for a packet.
    pub unit: &'static str,
    /// The confidence of all stages of a path together.
    pub confidence: f64,
    /// The kernels that were traced, and the version that did it.
    #[serde(flatten)]
    pub origin: TraceOrigin,
    /// By stage.
    pub pairs: Vec<PathPair>,
    /// By function, where runs were sampled.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub profiles: Vec<ProfilePair>,
    /// The stacks that were sampled under each two conditions.
    #[serde(skip)]
    pub stacks: Vec<Stacks>,
    /// The kind of the figures, if it is not time on a machine.
    pub truth: Option<&'static str>,
}

impl StageDifferences {
    /// Reads a study whose runs were traced.
    ///
    /// # Errors
    /// [`Error::NothingTraced`]; [`Error::Stats`] for data that the statistics refuse.
    pub fn new(stored: &StoredStudy, confidence: f64) -> Result<Self, Error> {
        Ok(Self {
            study: stored.row.id.0,
            name: stored.row.name.clone(),
            question: stored.plan.asked.question.clone(),
            unit: unit(stored.plan.exact),
            confidence,
            origin: TraceOrigin::from_stored(stored),
            pairs: pairs(stored, confidence)?,
            profiles: profile_pairs(stored, confidence)?,
            stacks: stacks(stored),
            truth: if stored.plan.exact { Some(EXACT) } else { truth::truth(stored) },
        })
    }

    /// Whether instructions were counted.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.unit == unit(true)
    }
}

/// The unit of the figures of a trace.
pub(crate) fn unit(exact: bool) -> &'static str {
    if exact { "instructions" } else { "ns" }
}
