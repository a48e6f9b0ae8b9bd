//! The explanation of the difference between two conditions on a traced path, stage by stage.

use serde::Serialize;
use store::StoredStudy;

use crate::data::error::Error;
use crate::data::origin::TraceOrigin;
use crate::data::path_comparison::{PathPair, pairs, unfollowed};
use crate::data::profiled::{ProfilePair, Stacks, profile_pairs, stacks};
use crate::data::truth;

// The meaning of counts.
const EXACT: &str = "exact mode: instructions counted in an emulated guest with one CPU, not time";

/// The stages of a study's traced paths, under each two conditions that it compares.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct StageDifferences {
    pub study: i64,
    pub name: String,
    pub question: String,
    /// `ns`, or `instructions`; for a packet.
    pub unit: &'static str,
    /// The confidence of all stages of a path together.
    pub confidence: f64,
    #[serde(flatten)]
    pub origin: TraceOrigin,
    pub pairs: Vec<PathPair>,
    /// The conditions in whose runs no packet was followed, with the cause: they are in no pair.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unfollowed: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub profiles: Vec<ProfilePair>,
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
            origin: TraceOrigin::new(stored, None),
            pairs: pairs(stored, confidence)?,
            unfollowed: unfollowed(stored),
            profiles: profile_pairs(stored, confidence)?,
            stacks: stacks(stored),
            truth: if stored.plan.exact { Some(EXACT) } else { truth::truth(stored) },
        })
    }

    /// Whether instructions were counted.
    pub fn is_exact(&self) -> bool {
        self.unit == unit(true)
    }
}

pub(crate) fn unit(exact: bool) -> &'static str {
    if exact { "instructions" } else { "ns" }
}
