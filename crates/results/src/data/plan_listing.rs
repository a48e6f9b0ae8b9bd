//! The plan of a study.

use serde::Serialize;
use study::{BootKind, Costs, Expected, Plan, Study};

/// A study's plan, for `--dry-run`.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct PlanListing {
    pub study: String,
    pub question: String,
    pub scenario: String,
    /// Whether the switches were tried, or the plan is only from the file.
    pub tried: bool,
    #[serde(flatten)]
    pub plan: Plan,
    pub boots: u32,
    /// The parts that a boot starts afresh, between machines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boots_how: Option<BootKind>,
    /// Warm-up runs of a condition in a boot.
    pub warmups: u32,
    /// Recorded runs of a condition in a boot.
    pub runs: u32,
    pub stop: Option<study::Stop>,
    pub order: String,
    pub seed: u64,
    pub total_runs: usize,
    /// The expected time, in seconds.
    pub expected_s: f64,
    pub expected: Expected,
    pub schedule: Vec<Vec<study::PlannedRun>>,
    pub notes: Vec<String>,
}

impl PlanListing {
    /// Lists the runner's plan, or that of `study` if nothing was tried, with measured `costs`.
    pub fn new(study: &Study, plan: Plan, mut notes: Vec<String>, costs: Option<&Costs>) -> Self {
        let protocol = &study.protocol;
        let no_turns = study.turns_dropped.as_deref();
        notes.extend(
            no_turns.map(|why| format!("each condition has runs of its own, and takes no turns: {why}")),
        );
        let schedule = study::schedule(&plan.states_of_conditions(), protocol);
        let stated = Costs::stated(&plan);
        let expected = costs.unwrap_or(&stated).expect(&plan, protocol);
        Self {
            study: study.name.clone(),
            question: study.question.clone(),
            scenario: study.scenario_names(),
            tried: !plan.effective.is_empty(),
            expected_s: expected.total().as_secs_f64(),
            expected,
            plan,
            boots: protocol.boots,
            boots_how: study.plan().how_of_boots(),
            warmups: protocol.warmup,
            runs: protocol.runs,
            stop: protocol.stop,
            order: protocol.order.to_string(),
            seed: protocol.seed,
            total_runs: schedule.iter().map(Vec::len).sum(),
            schedule,
            notes,
        }
    }
}
