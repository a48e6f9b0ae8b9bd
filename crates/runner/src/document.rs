//! A study's plan as it is stored beside its runs: what `--resume`, `compare` and every report read it from.

use serde::{Deserialize, Serialize};
use study::Plan;
use testbed::Effective;

/// The plan after the switches were tried out.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PlanDocument {
    /// What is measured, what is not and why, and what is compared.
    #[serde(flatten)]
    pub plan: Plan,
    /// What both ends read back, condition by condition.
    pub effective: Vec<Effective>,
}

impl PlanDocument {
    /// Does each condition have its state? A stored plan that somebody edited may not.
    pub(crate) fn is_whole(&self) -> bool {
        self.plan.conditions.len() == self.effective.len()
    }
}
