//! Values of one metric under several conditions, and the question about them, from a stored study
//! or from a user's files.

use stats::{Analysis, Observation, Question, Spending};
use study::{BootKind, Copies, Name, Quality};

use crate::data::error::Error;
use crate::data::exact::{self, UnequalCounts};
use crate::data::metric::ComparedMetric;

/// The name of boots in messages.
#[derive(Debug, Clone)]
pub enum BootNames {
    /// Boots of a stored study, by number; its runs are in the order of measurement.
    Numbered,
    /// Boots of files, by number; the runs are in the order of the files.
    Named(Vec<String>),
    /// Files do not say: each value counts as a boot.
    Unknown,
}

/// Values of one metric under several conditions, and the question about them.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct Subject {
    pub name: String,
    pub metric: ComparedMetric,
    /// A name for each condition that `observations` speak of, by its index.
    pub labels: Vec<Name>,
    pub observations: Vec<Observation>,
    /// The conditions that are compared; the others only help to estimate the error. Empty: all.
    pub compared: Option<Vec<usize>>,
    pub question: Question,
    /// The confidence of all metrics together; `question.level` is higher where they share it.
    pub(crate) asked: f64,
    pub notes: Vec<String>,
    pub boots: BootNames,
    pub quality: Option<Quality>,
    /// The kind of the values, if not time on a machine.
    pub(crate) truth: Option<&'static str>,
    /// Counts without noise are judged by this share, in %, not by intervals.
    pub(crate) resolution: Option<f64>,
    pub(crate) copies: Option<Copies>,
    /// The parts that a boot starts afresh, between machines.
    pub(crate) how: Option<BootKind>,
    /// Conditions of which nothing is concluded: turns of others last into theirs.
    pub(crate) carried: Vec<usize>,
}

impl Subject {
    /// A subject without notes.
    pub fn new(
        name: &str,
        metric: ComparedMetric,
        labels: Vec<Name>,
        observations: Vec<Observation>,
        question: Question,
    ) -> Subject {
        Subject {
            name: name.to_owned(),
            metric,
            labels,
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
            how: None,
            carried: Vec::new(),
        }
    }

    pub(crate) fn analyse(&self, spending: &Spending) -> Result<Analysis, Error> {
        let takes_part = |condition| self.takes_part(condition);
        let analysis = stats::analyse_with(&self.observations, &self.question, takes_part, spending)?;
        let analysis = analysis.without_answers(&self.carried);
        Ok(match self.resolution {
            Some(resolution) => {
                let unlike: Vec<usize> = self.unequal_counts().into_iter().map(|one| one.condition).collect();
                analysis.by_resolution(resolution, &unlike)
            }
            None => analysis,
        })
    }

    pub(crate) fn unequal_counts(&self) -> Vec<UnequalCounts> {
        let Some(metric) = self.metric.known().filter(|_| self.resolution.is_some()) else {
            return Vec::new();
        };
        exact::unequal_counts(&self.compared_observations(), metric, |condition| self.label(condition))
    }

    pub(crate) fn compared_observations(&self) -> Vec<Observation> {
        self.observations.iter().filter(|run| self.takes_part(run.condition)).copied().collect()
    }

    fn takes_part(&self, condition: usize) -> bool {
        self.compared.as_ref().is_none_or(|compared| compared.contains(&condition))
    }

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

    pub(crate) fn label(&self, condition: usize) -> String {
        self.name(condition).to_string()
    }

    pub(crate) fn name(&self, condition: usize) -> Name {
        self.labels[condition].clone()
    }
}

/// A value of a store: its condition, its boot, and the value.
pub(crate) fn observation((condition, boot, value): (usize, u32, f64)) -> Observation {
    Observation { condition, boot, value }
}

/// Answers all questions of a request together.
///
/// # Errors
/// [`Error::Stats`] for data that the statistics refuse.
pub(crate) fn answer(subjects: &mut [Subject]) -> Result<Vec<Analysis>, Error> {
    // Each metric is a family, and Holm's steps divide the error rate among the families.
    let families: Vec<ComparedMetric> = subjects.iter().map(|subject| subject.metric.clone()).collect();
    answer_families(subjects, &families)
}

/// Answers each question by itself.
///
/// # Errors
/// [`Error::Stats`] for data that the statistics refuse.
pub(crate) fn answer_alone(subjects: &[Subject]) -> Result<Vec<Analysis>, Error> {
    let spending = Spending::default();
    subjects.iter().map(|subject| subject.analyse(&spending)).collect()
}

pub(crate) fn answer_families<F: Ord>(subjects: &mut [Subject], of: &[F]) -> Result<Vec<Analysis>, Error> {
    let spending = Spending::default();
    // Holm's steps need the p-values, and only then is the share of each family known.
    let first = answer_alone(subjects)?;
    let mut names: Vec<&F> = of.iter().collect();
    names.sort_unstable();
    names.dedup();
    let p_values = |name: &&F| {
        let own = of.iter().zip(&first).filter(|(family, _)| family == name);
        own.flat_map(|(_, analysis)| analysis.comparisons.iter().filter_map(|one| one.p)).collect()
    };
    let families: Vec<Vec<f64>> = names.iter().map(p_values).collect();
    // All questions of one request have the same level, so any of them tells the error rate.
    let alpha = subjects.first().map_or(0.05, |subject| 1.0 - subject.question.level);
    let shares: Vec<f64> =
        stats::families::levels(&families, alpha).into_iter().map(|level| level / alpha).collect();
    subjects
        .iter_mut()
        .zip(of)
        .zip(first)
        .map(|((subject, family), analysis)| {
            let share = names.binary_search(&family).map_or(1.0, |place| shares[place]);
            // With the whole error rate nothing would change.
            if share >= 1.0 {
                return Ok(analysis);
            }
            subject.question.level = 1.0 - (1.0 - subject.question.level) * share;
            subject.analyse(&spending)
        })
        .collect()
}
