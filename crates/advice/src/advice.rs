//! All advice of one or several studies.

use report::{Context, Error, Held, Switches};
use serde::Serialize;
use store::StoredStudy;
use study::{Dropped, Kind, Percent, Scenario};

use crate::goal::Goal;
use crate::recommendation::{Recommendation, Study};
use crate::summary::Summary;

/// What advice is wanted for.
#[derive(Debug, Clone)]
pub struct Request {
    /// The goals, in order; empty: all that the studies measured.
    pub goals: Vec<Goal>,
    /// The confidence of all that is proven in one study together, as a probability.
    pub confidence: f64,
    /// The smallest difference that matters, in % of its base.
    pub matters: Percent,
}

/// Advice drawn from studies.
#[derive(Debug, Clone, Serialize)]
pub struct Advice {
    /// What is to be improved.
    pub goals: Vec<Goal>,
    /// The smallest difference that matters, in % of its base.
    pub matters: Percent,
    /// The recommendations in short: by scenario, and over all where there are several.
    pub summaries: Vec<Summary>,
    /// The studies, in the order given.
    pub studies: Vec<StudyAdvice>,
}

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
    pub under: Vec<Under>,
}

/// What is said under one kind of traffic and the levels of all other factors.
#[derive(Debug, Clone, Serialize)]
pub struct Under {
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
    /// By goal, in the order of [`Advice::goals`]; those that are proven first.
    pub recommendations: Vec<(Goal, Vec<Recommendation>)>,
}

impl Request {
    /// The smallest difference that matters, unless a request says otherwise: 2 %.
    #[must_use]
    pub fn default_matters() -> Percent {
        Percent::parse("2%").unwrap_or(Percent::LEAST)
    }
}

impl Default for Request {
    fn default() -> Self {
        Self { goals: Vec::new(), confidence: 0.95, matters: Self::default_matters() }
    }
}

impl Advice {
    /// Draws advice from stored studies.
    ///
    /// # Errors
    /// [`Error::Stats`] for data that no statistics can take.
    pub fn of(studies: &[StoredStudy], request: &Request) -> Result<Self, Error> {
        let switches = studies
            .iter()
            .map(|stored| Switches::of(stored, request.confidence))
            .collect::<Result<Vec<_>, _>>()?;
        let goals = if request.goals.is_empty() { measured(&switches) } else { request.goals.clone() };
        let studies: Vec<StudyAdvice> =
            switches.into_iter().map(|switches| StudyAdvice::of(switches, &goals, request)).collect();
        Ok(Self { summaries: Summary::all(&studies, &goals), goals, matters: request.matters, studies })
    }

    /// Whether any switch was tried.
    #[must_use]
    pub fn has_switches(&self) -> bool {
        self.studies.iter().any(|study| !study.under.is_empty())
    }
}

/// The goals that at least one kind of traffic has a metric for.
fn measured(switches: &[Switches]) -> Vec<Goal> {
    let can = |goal: &Goal| {
        switches.iter().any(|one| {
            let mut kinds = one.contexts.iter().map(|context| context.kind);
            kinds.any(|kind| goal.missing(kind, one.exact).is_none())
        })
    };
    Goal::ALL.into_iter().filter(can).collect()
}

impl StudyAdvice {
    fn of(switches: Switches, goals: &[Goal], request: &Request) -> Self {
        let study = Study {
            exact: switches.exact,
            level: switches.level,
            seconds_per_boot: switches.seconds_per_boot,
        };
        let tried = |context: &&Context| !context.effects.is_empty();
        let under = |context: &Context| Under {
            scenario: context.scenario,
            workload: context.workload.clone(),
            kind: context.kind,
            at: context.at.clone(),
            held: context.held.clone(),
            boots: context.boots,
            flags: context.flags.clone(),
            recommendations: goals
                .iter()
                .map(|goal| (*goal, Recommendation::all(context, *goal, &study, request)))
                .collect(),
        };
        Self {
            under: switches.contexts.iter().filter(tried).map(under).collect(),
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
