//! Values of one metric under several conditions, and what is asked of them: what a stored study
//! and a person's own files have in common.

use stats::{Analysis, Observation, Question, Spending};
use study::{Copies, Quality};

use crate::data::error::Error;
use crate::data::exact::{self, Unlike};

/// What the boots of values are called.
#[derive(Debug, Clone)]
pub enum BootNames {
    /// Those of a stored study, by their numbers. Its runs are in the order in which they were
    /// measured.
    Numbered,
    /// Those of files, by number. Their order is that of the files, whatever that is.
    Named(Vec<String>),
    /// Files do not say: each value counts as a boot.
    Unknown,
}

/// Values of one metric under several conditions, and what is asked of them.
#[derive(Debug, Clone)]
pub struct Subject {
    /// What was measured: the workload's name, a benchmark's.
    pub name: String,
    /// The metric's word.
    pub metric: String,
    /// The metric's unit; empty if nobody said.
    pub unit: String,
    /// A name for each condition that `observations` speak of, by its index.
    pub labels: Vec<String>,
    /// The conditions whose labels say what they are without.
    pub(crate) without: Vec<usize>,
    /// The runs, in the order in which they were measured.
    pub observations: Vec<Observation>,
    /// The conditions that are compared; the others only help to tell the error. None: all.
    pub compared: Option<Vec<usize>>,
    /// What is compared with what, and how sure the answer must be.
    pub question: Question,
    /// The confidence that all metrics together were asked for; `question.level` grows beyond it
    /// where they share it.
    pub(crate) asked: f64,
    /// What a reader must know of where the values come from.
    pub notes: Vec<String>,
    /// What its boots are called.
    pub boots: BootNames,
    /// What it means that a value is higher; none where nobody says.
    pub quality: Option<Quality>,
    /// Which kind of truth the values are, if not time on a machine.
    pub(crate) truth: Option<&'static str>,
    /// Counts without noise are judged by this share, in %, instead of intervals.
    pub(crate) resolution: Option<f64>,
    /// How copies are among such counts.
    pub(crate) copies: Option<Copies>,
}

impl Subject {
    /// A subject without notes.
    #[must_use]
    pub fn new(
        name: &str,
        (metric, unit): (&str, &str),
        labels: Vec<String>,
        observations: Vec<Observation>,
        question: Question,
    ) -> Subject {
        Subject {
            name: name.to_owned(),
            metric: metric.to_owned(),
            unit: unit.to_owned(),
            labels,
            without: Vec::new(),
            observations,
            question,
            compared: None,
            asked: question.level,
            notes: Vec::new(),
            boots: BootNames::Numbered,
            quality: None,
            truth: None,
            resolution: None,
            copies: None,
        }
    }

    /// What the data answer.
    fn analyse(&self, spending: &Spending) -> Result<Analysis, Error> {
        let takes_part = |condition| self.takes_part(condition);
        let analysis = stats::analyse_with(&self.observations, &self.question, takes_part, spending)?;
        Ok(match self.resolution {
            Some(resolution) => {
                let unlike: Vec<usize> = self.unlike().into_iter().map(|unlike| unlike.condition).collect();
                analysis.by_resolution(resolution, &unlike)
            }
            None => analysis,
        })
    }

    /// Conditions whose counts are not the same each time; none where time was measured.
    pub(crate) fn unlike(&self) -> Vec<Unlike> {
        let runs = if self.resolution.is_some() { self.compared_observations() } else { Vec::new() };
        exact::unlike(&runs, &self.metric, |condition| self.label(condition))
    }

    /// The runs of the conditions that are compared.
    pub(crate) fn compared_observations(&self) -> Vec<Observation> {
        self.observations.iter().filter(|run| self.takes_part(run.condition)).copied().collect()
    }

    fn takes_part(&self, condition: usize) -> bool {
        self.compared.as_ref().is_none_or(|compared| compared.contains(&condition))
    }

    /// A boot as it is said: `boot 3`, and where none are known `value 3`, which is its place in
    /// its condition.
    pub(crate) fn boot(&self, number: u32) -> String {
        let place = number as usize;
        match &self.boots {
            BootNames::Named(names) if place < names.len() => format!("boot {}", names[place]),
            BootNames::Numbered | BootNames::Named(_) => format!("boot {number}"),
            BootNames::Unknown => {
                let own = self.observations.get(place).map(|run| run.condition);
                let first = self.observations.iter().position(|run| Some(run.condition) == own);
                format!("value {}", place + 1 - first.unwrap_or(0))
            }
        }
    }

    /// A condition's label.
    pub(crate) fn label(&self, condition: usize) -> String {
        self.labels.get(condition).cloned().unwrap_or_else(|| format!("condition {condition}"))
    }
}

/// Answers every question, so that the answers hold together: where several metrics are judged,
/// each is a family of comparisons and Holm's steps share the error rate among them.
///
/// # Errors
/// What the statistics refuse.
pub(crate) fn answer(subjects: &mut [Subject]) -> Result<Vec<Analysis>, Error> {
    let spending = Spending::default();
    let first = subjects.iter().map(|subject| subject.analyse(&spending)).collect::<Result<Vec<_>, _>>()?;
    let mut metrics: Vec<&str> = subjects.iter().map(|subject| subject.metric.as_str()).collect();
    metrics.sort_unstable();
    metrics.dedup();
    let p_values = |metric: &&str| {
        let of_metric = subjects.iter().zip(&first).filter(|(subject, _)| subject.metric == *metric);
        of_metric.flat_map(|(_, analysis)| analysis.comparisons.iter().filter_map(|one| one.p)).collect()
    };
    let families: Vec<Vec<f64>> = metrics.iter().map(p_values).collect();
    // All questions of one request have the same level, so any of them tells the error rate.
    let alpha = subjects.first().map_or(0.05, |subject| 1.0 - subject.question.level);
    let shares: Vec<(String, f64)> = metrics
        .iter()
        .map(|metric| (*metric).to_owned())
        .zip(stats::families::levels(&families, alpha).into_iter().map(|level| level / alpha))
        .collect();
    subjects
        .iter_mut()
        .zip(first)
        .map(|(subject, analysis)| {
            let share =
                shares.iter().find(|(metric, _)| *metric == subject.metric).map_or(1.0, |(_, share)| *share);
            if share >= 1.0 {
                return Ok(analysis);
            }
            subject.question = shared(subject.question, share);
            subject.analyse(&spending)
        })
        .collect()
}

/// The question with only a share of its error rate.
fn shared(question: Question, share: f64) -> Question {
    Question { level: 1.0 - (1.0 - question.level) * share, ..question }
}
