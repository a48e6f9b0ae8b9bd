//! The advice of one study.

use crate::{SwitchContext, SwitchEffects};
use serde::Serialize;
use store::StoredStudy;
use study::Dropped;

use crate::advice::advise::AdviceRequest;
use crate::advice::checks::{DependenceChecks, DependenceTests};
use crate::advice::goal::AdviceGoal;
use crate::advice::recommendation::Recommendation;
use crate::advice::workload_advice::WorkloadAdvice;

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
    /// The number of changes that were judged together.
    pub judged: usize,
    /// The extent of the checks against the other switches; `None` if there was nothing to check.
    pub checked: Option<DependenceTests>,
    /// Whether instructions were counted: then the resolution of counts judges, and there are no
    /// intervals.
    pub exact: bool,
    /// The kind of the figures, if it is not time on a machine.
    pub truth: Option<&'static str>,
    /// The switches that could not be set, with the reason.
    pub absent: Vec<Dropped>,
    /// Factors that vary and are no switches of a host.
    pub others: Vec<String>,
    /// The advice for each kind of traffic at each combination of the other factors' levels.
    pub under: Vec<WorkloadAdvice>,
}

impl StudyAdvice {
    pub(crate) fn from_stored(
        stored: &StoredStudy,
        switches: SwitchEffects,
        goals: &[AdviceGoal],
        request: &AdviceRequest,
    ) -> Self {
        let tried = |(_, context): &(usize, &SwitchContext)| !context.effects.is_empty();
        let under = |context: &SwitchContext| WorkloadAdvice {
            scenario: context.scenario,
            workload: context.workload.clone(),
            kind: context.kind,
            at: context.at.clone(),
            held: context.held.clone(),
            boots: context.boots,
            flags: context.flags.clone(),
            recommendations: goals
                .iter()
                .map(|goal| (*goal, Recommendation::for_context(context, *goal, &switches, request)))
                .collect(),
        };
        let contexts: Vec<(usize, &SwitchContext)> =
            switches.contexts.iter().enumerate().filter(tried).collect();
        let mut found: Vec<WorkloadAdvice> = contexts.iter().map(|(_, context)| under(context)).collect();
        let places: Vec<usize> = contexts.iter().map(|(place, _)| *place).collect();
        let checks =
            DependenceChecks::from_stored(stored, switches.level, switches.confidence, &places, &found);
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
