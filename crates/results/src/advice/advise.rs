//! All advice of one or several studies.

use serde::Serialize;
use store::StoredStudy;
use study::{Percent, Scenario};

use crate::advice::checks::{DependenceChecks, DependenceTests};
use crate::advice::goal::AdviceGoal;
use crate::advice::recommendation::Recommendation;
use crate::advice::row::AdviceRow;
use crate::{Error, SwitchContext, SwitchEffects, grouped};

/// The request for advice: goals and thresholds.
#[derive(Debug, Clone)]
pub struct AdviceRequest {
    /// The goals, in order; empty: all that the studies measured.
    pub goals: Vec<AdviceGoal>,
    /// The confidence of all that is proven in one study together, as a probability.
    pub confidence: f64,
    /// The smallest difference that matters, in % of its base.
    pub matters: Percent,
}

impl Default for AdviceRequest {
    fn default() -> Self {
        let matters = Percent::parse("2%").unwrap_or(Percent::LEAST);
        Self { goals: Vec::new(), confidence: 0.95, matters }
    }
}

/// Advice drawn from studies.
#[derive(Debug, Clone, Serialize)]
pub struct Advice {
    /// The goals that switches are judged by.
    pub goals: Vec<AdviceGoal>,
    /// The smallest difference that matters, in % of its base.
    pub matters: Percent,
    /// The recommendations in short: by scenario, and over all where there are several.
    pub summaries: Vec<AdviceSummary>,
    /// The studies, in the order given.
    pub studies: Vec<StudyAdvice>,
}

/// Advice drawn from one study.
#[derive(Debug, Clone, Serialize)]
pub struct StudyAdvice {
    /// The study and its switches, whose contexts are in `cases`.
    #[serde(flatten)]
    pub switches: SwitchEffects,
    /// The extent of the checks against the other switches; `None` if there was nothing to check.
    pub checked: Option<DependenceTests>,
    /// The advice for each kind of traffic at each combination of the other factors' levels.
    pub cases: Vec<WorkloadAdvice>,
}

/// The advice for one kind of traffic and one combination of the other factors' levels.
#[derive(Debug, Clone, Serialize)]
pub struct WorkloadAdvice {
    /// The traffic, the levels, and the effect of each switch.
    #[serde(flatten)]
    pub context: SwitchContext,
    #[serde(skip)]
    pub(crate) place: usize,
    /// In the order of [`Advice::goals`].
    pub goals: Vec<GoalAdvice>,
}

/// The recommendations for one goal.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct GoalAdvice {
    pub goal: AdviceGoal,
    /// Proven ones come first.
    pub recommendations: Vec<Recommendation>,
}

/// The recommendations of one scenario, or of all, in short.
#[derive(Debug, Clone, Serialize)]
pub struct AdviceSummary {
    /// One scenario, or all.
    pub scope: SummaryScope,
    /// By traffic and goal, the largest gain first.
    pub rows: Vec<AdviceRow>,
}

/// The scope of a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SummaryScope {
    /// One scenario.
    Scenario(Scenario),
    /// All scenarios that were measured.
    All,
}

impl Advice {
    /// Draws advice from stored studies.
    ///
    /// # Errors
    /// [`Error::Stats`] for data that no statistics can take.
    pub fn from_studies<'s>(
        studies: impl IntoIterator<Item = &'s StoredStudy>,
        request: &AdviceRequest,
    ) -> Result<Self, Error> {
        let read = |stored| Ok((stored, SwitchEffects::from_stored(stored, request.confidence)?));
        let studies = studies.into_iter().map(read).collect::<Result<Vec<_>, Error>>()?;
        let goals = if request.goals.is_empty() { measured(&studies) } else { request.goals.clone() };
        let of_study = |(stored, switches)| StudyAdvice::from_stored(stored, switches, &goals, request);
        let studies: Vec<StudyAdvice> = studies.into_iter().map(of_study).collect();
        Ok(Self { summaries: summaries(&studies, &goals), goals, matters: request.matters, studies })
    }

    /// Whether any switch was tried.
    pub fn has_switches(&self) -> bool {
        self.studies.iter().any(|study| !study.cases.is_empty())
    }
}

impl StudyAdvice {
    fn from_stored(
        stored: &StoredStudy,
        mut switches: SwitchEffects,
        goals: &[AdviceGoal],
        request: &AdviceRequest,
    ) -> Self {
        let contexts = std::mem::take(&mut switches.contexts).into_iter().enumerate();
        // The checks find the combination of a context by its place among all, also empty ones.
        let case = |(place, context): (usize, SwitchContext)| {
            let for_goal = |goal: &AdviceGoal| GoalAdvice {
                goal: *goal,
                recommendations: Recommendation::for_context(&context, *goal, &switches, request),
            };
            WorkloadAdvice { goals: goals.iter().map(for_goal).collect(), context, place }
        };
        let tried = contexts.filter(|(_, context)| !context.effects.is_empty());
        let mut cases: Vec<WorkloadAdvice> = tried.map(case).collect();
        let checks = DependenceChecks::from_stored(stored, &switches, &cases);
        checks.settle(&mut cases);
        Self { checked: checks.made, cases, switches }
    }
}

fn summaries(studies: &[StudyAdvice], goals: &[AdviceGoal]) -> Vec<AdviceSummary> {
    let cases: Vec<&WorkloadAdvice> = studies.iter().flat_map(|study| &study.cases).collect();
    let summary = |scope, own: &[&WorkloadAdvice]| AdviceSummary {
        scope,
        rows: AdviceRow::by_traffic_and_goal(own, goals),
    };
    let scenarios = grouped(cases.iter().map(|one| (one.context.scenario, *one)));
    let mut summaries: Vec<AdviceSummary> =
        scenarios.iter().map(|(scenario, own)| summary(SummaryScope::Scenario(*scenario), own)).collect();
    if scenarios.len() > 1 {
        summaries.push(summary(SummaryScope::All, &cases));
    }
    summaries
}

fn measured(studies: &[(&StoredStudy, SwitchEffects)]) -> Vec<AdviceGoal> {
    let contexts = || {
        studies.iter().flat_map(|(_, one)| one.contexts.iter().map(move |context| (context.kind, one.exact)))
    };
    let can = |goal: &AdviceGoal| contexts().any(|(kind, exact)| goal.missing(kind, exact).is_none());
    AdviceGoal::ALL.into_iter().filter(can).collect()
}
