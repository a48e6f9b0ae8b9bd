//! What one study says.

use report::{Context, Switches};
use serde::Serialize;
use store::StoredStudy;
use study::Dropped;

use crate::checks::{Checked, Checks};
use crate::goal::Goal;
use crate::recommendation::Recommendation;
use crate::request::Request;
use crate::workload_advice::WorkloadAdvice;

/// Advice drawn from one study.
#[derive(Debug, Clone, Serialize)]
pub struct StudyAdvice {
    /// The study's number.
    pub study: i64,
    /// Its name.
    pub name: String,
    /// Its question.
    pub question: String,
    /// The confidence of everything that is called proven in this study together, as a probability.
    pub confidence: f64,
    /// The level of each interval by itself.
    pub level: f64,
    /// How many changes were judged together.
    pub judged: usize,
    /// How what serves a goal was checked against the other switches; `None` where there was
    /// nothing to check.
    pub checked: Option<Checked>,
    /// Whether instructions were counted: then the resolution of counts judges, and there are no
    /// intervals.
    pub exact: bool,
    /// What kind of figures they are, if not time on a machine.
    pub truth: Option<&'static str>,
    /// What was to be switched and could not be, with the reason.
    pub absent: Vec<Dropped>,
    /// Factors that vary and are no switches of a host.
    pub others: Vec<String>,
    /// What is said under each kind of traffic and the levels of all other factors.
    pub under: Vec<WorkloadAdvice>,
}

impl StudyAdvice {
    pub(crate) fn of(stored: &StoredStudy, switches: Switches, goals: &[Goal], request: &Request) -> Self {
        let tried = |(_, context): &(usize, &Context)| !context.effects.is_empty();
        let under = |context: &Context| WorkloadAdvice {
            scenario: context.scenario,
            workload: context.workload.clone(),
            kind: context.kind,
            at: context.at.clone(),
            held: context.held.clone(),
            boots: context.boots,
            flags: context.flags.clone(),
            recommendations: goals
                .iter()
                .map(|goal| (*goal, Recommendation::all(context, *goal, &switches, request)))
                .collect(),
        };
        let contexts: Vec<(usize, &Context)> = switches.contexts.iter().enumerate().filter(tried).collect();
        let mut found: Vec<WorkloadAdvice> = contexts.iter().map(|(_, context)| under(context)).collect();
        let places: Vec<usize> = contexts.iter().map(|(place, _)| *place).collect();
        let checks = Checks::of(stored, switches.level, switches.confidence, &places, &found);
        checks.settle(&places, &mut found);
        Self {
            checked: checks.made(),
            under: found,
            study: switches.study,
            name: switches.name,
            question: switches.question,
            confidence: switches.confidence,
            level: switches.level,
            judged: switches.judged,
            exact: switches.exact,
            truth: switches.truth,
            absent: switches.absent,
            others: switches.others,
        }
    }
}
