//! The advice for one kind of traffic.

use crate::ConstantSetting;
use serde::Serialize;
use study::{Kind, Scenario};

use crate::advice::goal::AdviceGoal;
use crate::advice::recommendation::Recommendation;

/// The advice for one kind of traffic and one combination of the other factors' levels.
#[derive(Debug, Clone, Serialize)]
pub struct WorkloadAdvice {
    /// The kind of testbed.
    pub scenario: Scenario,
    /// The workload's name in the study.
    pub workload: String,
    /// Its kind.
    pub kind: Kind,
    /// The levels of the other factors: `mtu` and `1500`.
    pub at: Vec<(String, String)>,
    /// The settings that all runs share: the advice may hold only with them.
    pub held: Vec<ConstantSetting>,
    /// The number of boots with a measurement.
    pub boots: u32,
    /// The contradictions between counters and the switches that read back.
    pub flags: Vec<String>,
    /// By goal, in the order of [`crate::advice::Advice::goals`]; those that are proven first.
    pub recommendations: Vec<(AdviceGoal, Vec<Recommendation>)>,
}
