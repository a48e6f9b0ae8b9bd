//! A study's plan as it is stored beside its runs: what `--resume`, `compare` and every report read
//! it from.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::plan::Plan;
use crate::plan::effective::Effective;

/// The plan of a study, with what its switches read back as where they were tried.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PlanDocument {
    /// What is measured, what is not and why, and what is compared.
    #[serde(flatten)]
    pub plan: Plan,
    /// What both ends read back, condition by condition; empty where nothing was tried.
    #[serde(default)]
    pub effective: Vec<Effective>,
}

impl PlanDocument {
    /// Reads a plan as the runner stores it.
    ///
    /// # Errors
    /// What is wrong with it, in the decoder's words.
    pub fn read(plan: &Value) -> Result<Self, String> {
        let document = Self::deserialize(plan).map_err(|error| error.to_string())?;
        let conditions = document.plan.conditions.len();
        let in_range = |index: &usize| *index < conditions;
        let sound = (document.effective.is_empty() || document.effective.len() == conditions)
            && document
                .plan
                .comparisons
                .iter()
                .all(|c| in_range(&c.baseline) && c.conditions.iter().all(in_range));
        if sound { Ok(document) } else { Err("its parts do not fit each other".to_owned()) }
    }
}
