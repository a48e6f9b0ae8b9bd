//! All advice of one or several studies.

use crate::{Error, SwitchEffects};
use serde::Serialize;
use store::StoredStudy;
use study::Percent;

use crate::advice::goal::AdviceGoal;
use crate::advice::study_advice::StudyAdvice;
use crate::advice::summary::AdviceSummary;

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

impl AdviceRequest {
    /// The smallest difference that matters, unless a request says otherwise: 2 %.
    pub(crate) fn default_matters() -> Percent {
        Percent::parse("2%").unwrap_or(Percent::LEAST)
    }
}

impl Default for AdviceRequest {
    fn default() -> Self {
        Self { goals: Vec::new(), confidence: 0.95, matters: Self::default_matters() }
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
        Ok(Self {
            summaries: AdviceSummary::by_scenario(&studies, &goals),
            goals,
            matters: request.matters,
            studies,
        })
    }

    /// Whether any switch was tried.
    #[must_use]
    pub fn has_switches(&self) -> bool {
        self.studies.iter().any(|study| !study.under.is_empty())
    }
}

fn measured(studies: &[(&StoredStudy, SwitchEffects)]) -> Vec<AdviceGoal> {
    let can = |goal: &AdviceGoal| {
        studies.iter().any(|(_, one)| {
            let mut kinds = one.contexts.iter().map(|context| context.kind);
            kinds.any(|kind| goal.missing(kind, one.exact).is_none())
        })
    };
    AdviceGoal::ALL.into_iter().filter(can).collect()
}
