//! What is said under one kind of traffic.

use report::Held;
use serde::Serialize;
use study::{Kind, Scenario};

use crate::goal::Goal;
use crate::recommendation::Recommendation;

/// What is said under one kind of traffic and the levels of all other factors.
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
    /// What was the same in all runs: what is said may hold only with it.
    pub held: Vec<Held>,
    /// How many boots have a measurement.
    pub boots: u32,
    /// Where counters contradict what a switch reads back.
    pub flags: Vec<String>,
    /// By goal, in the order of [`crate::Advice::goals`]; those that are proven first.
    pub recommendations: Vec<(Goal, Vec<Recommendation>)>,
}
