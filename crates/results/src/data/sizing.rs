//! The boots and runs that a study needs to show a difference, and how long they take.

use serde::Serialize;
use stats::Design;
use stats::planning::{Cost, PlannedFamily, PowerGoal, SampleSize, SampleSizePlan, expected_boots};
use study::metric::Metric;
use study::{Percent, Protocol, Study};

use crate::data::early_stop::schedule;
use crate::data::error::Error;
use crate::data::pilot::{PilotSpread, states_of, target};

/// The aim of a study.
#[derive(Debug, Clone)]
pub struct SizingRequest {
    /// The difference, in % of the baseline.
    pub detect: Percent,
    /// The chance that it is then proven, between 0 and 1.
    pub power: f64,
    /// The confidence of the intervals, between 0 and 1.
    pub confidence: f64,
    /// The metric; `None`: the study's first.
    pub metric: Option<Metric>,
}

/// The size of a study.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct Sizing {
    pub study: String,
    pub metric: Metric,
    pub baseline: String,
    /// The number of compared conditions, the baseline among them.
    pub conditions: usize,
    /// The number of states of the testbed that they need; each has its own boots.
    pub states: usize,
    /// The difference to prove, in % of the baseline.
    pub detect: Percent,
    pub power: f64,
    /// The confidence of the intervals, as a probability.
    pub confidence: f64,
    pub in_turns: bool,
    /// The reason why they take no turns although they could.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns_dropped: Option<String>,
    pub spread: PilotSpread,
    /// The cheapest size; `None` if [`Self::MOST`] boots of as many runs are not enough.
    pub cheapest: Option<SampleSize>,
    /// The cheapest size for the upper limit of the spread: has the power with 80 % confidence.
    pub assured: Option<SampleSize>,
    pub alternatives: Vec<SampleSize>,
    /// The study of the file.
    pub as_written: SampleSize,
    /// The difference in % that it detects.
    pub as_written_detects: Option<f64>,
    /// For a study that may stop: the expected boots without a difference, and with it.
    pub expected_boots: Option<(f64, f64)>,
}

impl Sizing {
    /// The most boots, and the most runs of a condition in a boot, that are tried.
    pub const MOST: u32 = 1_000;

    /// Sizes a study.
    ///
    /// # Errors
    /// [`Error::NothingToSize`] for a study that compares nothing, or not in that metric.
    pub fn new(study: &Study, spread: PilotSpread, request: &SizingRequest) -> Result<Sizing, Error> {
        let target = target(study, request.metric)?;
        let conditions = target.conditions.len() + 1;
        let protocol = &study.protocol;
        let early = protocol.stop.map(|stop| schedule(stop, protocol.boots));
        let alpha = 1.0 - request.confidence;
        // Conditions of several states have their own boots; those of one state share them.
        let states = states_of(&study.plan(), &target);
        let plan = |interaction: f64| SampleSizePlan {
            design: if states > 1 { Design::Nested } else { Design::Crossed },
            conditions: if states > 1 { states } else { conditions },
            cell: interaction,
            run: spread.runs.unwrap_or(0.0),
            family: PlannedFamily::Baseline,
            alpha,
            looks: early.map(|early| (early.bounds, early.looks)),
        };
        let goal = PowerGoal {
            delta: request.detect.value(),
            power: request.power,
            boots_at_most: Self::MOST,
            runs_at_most: Self::MOST,
        };
        let cost = cost(study, conditions, states);
        let likely = plan(spread.interaction);
        let cheapest = likely.cheapest(goal, cost);
        let as_written = SampleSize {
            boots: protocol.boots,
            runs: protocol.runs,
            seconds: likely.cost(cost, protocol.boots, protocol.runs),
            power: likely.power(goal.delta, protocol.boots, protocol.runs).unwrap_or(0.0),
        };
        let expected = early.and_then(|early| {
            let error = likely.standard_error(protocol.boots, protocol.runs);
            Some((expected_boots(early, alpha, 0.0)?, expected_boots(early, alpha, goal.delta / error)?))
        });
        Ok(Sizing {
            study: study.name.clone(),
            metric: target.metric,
            baseline: study.plan().conditions[target.baseline].label.to_string(),
            conditions,
            states,
            detect: request.detect,
            power: request.power,
            confidence: request.confidence,
            in_turns: protocol.alternate.is_some(),
            turns_dropped: study.turns_dropped.clone(),
            cheapest,
            assured: spread.interaction_at_most.and_then(|most| plan(most).cheapest(goal, cost)),
            alternatives: cheapest.map(|choice| likely.around(choice, goal, cost)).unwrap_or_default(),
            as_written,
            as_written_detects: likely.detectable(request.power, protocol.boots, protocol.runs),
            expected_boots: expected,
            spread,
        })
    }
}

/// In seconds: with several states, of a boot of each and its runs.
fn cost(study: &Study, conditions: usize, states: usize) -> Cost {
    let plan = study.plan();
    let time = |boots: u32, runs: u32| {
        let protocol = Protocol { boots, runs, ..study.protocol.clone() };
        study::expected_duration(&plan, &protocol).as_secs_f64()
    };
    // All conditions of the study run in each boot, not only the compared ones.
    let block = time(1, 2) - time(1, 1);
    // The plan then counts each state as a condition with boots of its own.
    if states > 1 {
        let all = plan.states().len() as f64;
        return Cost { boot: (time(1, 1) - block) / all, run: block / all };
    }
    Cost { boot: time(1, 1) - block, run: block / conditions as f64 }
}
