//! All advice of one or several studies.

use report::{Error, Switches};
use serde::Serialize;
use store::StoredStudy;
use study::Percent;

use crate::found::StudyAdvice;
use crate::goal::Goal;
use crate::summary::Summary;

/// The request for advice: goals and thresholds.
#[derive(Debug, Clone)]
pub struct Request {
    /// The goals, in order; empty: all that the studies measured.
    pub goals: Vec<Goal>,
    /// The confidence of all that is proven in one study together, as a probability.
    pub confidence: f64,
    /// The smallest difference that matters, in % of its base.
    pub matters: Percent,
}

impl Request {
    /// The smallest difference that matters, unless a request says otherwise: 2 %.
    pub(crate) fn default_matters() -> Percent {
        Percent::parse("2%").unwrap_or(Percent::LEAST)
    }
}

impl Default for Request {
    fn default() -> Self {
        Self { goals: Vec::new(), confidence: 0.95, matters: Self::default_matters() }
    }
}

/// Advice drawn from studies.
#[derive(Debug, Clone, Serialize)]
pub struct Advice {
    /// The goals that switches are judged by.
    pub goals: Vec<Goal>,
    /// The smallest difference that matters, in % of its base.
    pub matters: Percent,
    /// The recommendations in short: by scenario, and over all where there are several.
    pub summaries: Vec<Summary>,
    /// The studies, in the order given.
    pub studies: Vec<StudyAdvice>,
}

impl Advice {
    /// Draws advice from stored studies.
    ///
    /// # Errors
    /// [`Error::Stats`] for data that no statistics can take.
    pub fn of<'s>(
        studies: impl IntoIterator<Item = &'s StoredStudy>,
        request: &Request,
    ) -> Result<Self, Error> {
        let read = |stored| Ok((stored, Switches::of(stored, request.confidence)?));
        let studies = studies.into_iter().map(read).collect::<Result<Vec<_>, Error>>()?;
        let goals = if request.goals.is_empty() { measured(&studies) } else { request.goals.clone() };
        let of_study = |(stored, switches)| StudyAdvice::of(stored, switches, &goals, request);
        let studies: Vec<StudyAdvice> = studies.into_iter().map(of_study).collect();
        Ok(Self { summaries: Summary::all(&studies, &goals), goals, matters: request.matters, studies })
    }

    /// Whether any switch was tried.
    #[must_use]
    pub fn has_switches(&self) -> bool {
        self.studies.iter().any(|study| !study.under.is_empty())
    }
}

fn measured(studies: &[(&StoredStudy, Switches)]) -> Vec<Goal> {
    let can = |goal: &Goal| {
        studies.iter().any(|(_, one)| {
            let mut kinds = one.contexts.iter().map(|context| context.kind);
            kinds.any(|kind| goal.missing(kind, one.exact).is_none())
        })
    };
    Goal::ALL.into_iter().filter(can).collect()
}
