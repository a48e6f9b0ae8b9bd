//! One condition over the studies of a history.

use std::collections::BTreeSet;

use serde::Serialize;
use stats::change::HistoryPoint;
use stats::{Correction, Observation, Question};
use store::Outline;
use study::Plan;
use study::metric::Metric;

use crate::data::error::Error;
use crate::data::matched_conditions::MatchedConditions;
use crate::data::metric::range_of;
use crate::data::subject::observation;
use crate::data::truth::kind;

/// A study that is not part of a history.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct ExcludedStudy {
    pub study: i64,
    pub label: String,
    pub why: String,
}

/// The mean of one condition in one study.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct StudyMean {
    /// The study's place in the history, from 0.
    #[serde(skip)]
    pub place: usize,
    pub study: i64,
    pub label: String,
    /// The mean over boots, in the metric's unit.
    pub mean: f64,
    pub interval: Option<(f64, f64)>,
    pub boots: usize,
    pub runs: usize,
    #[serde(skip)]
    pub(crate) point: HistoryPoint,
}

/// By its name in the history, with pairs of conditions: its own, the newest study's.
pub(crate) type ComparableStudy<'e> = (&'e str, &'e Outline, Vec<(usize, usize)>);

/// The studies that may stand beside the last of them, the oldest first, and the others.
pub(crate) fn comparable(all: &[(String, Outline)]) -> (Vec<ComparableStudy<'_>>, Vec<ExcludedStudy>) {
    let (mut entries, mut left_out) = (Vec::new(), Vec::new());
    let Some((_, newest)) = all.last() else { return (entries, left_out) };
    for (label, outline) in all {
        let why = match MatchedConditions::between(outline, newest) {
            _ if kind(outline) != kind(newest) => {
                format!("it {}, study {} {}", kind(outline), newest.row.id, kind(newest))
            }
            Ok(matched) => {
                entries.push((label.as_str(), outline, matched.pairs));
                continue;
            }
            Err(Error::NotComparable { why, .. }) => why,
            Err(other) => other.to_string(),
        };
        left_out.push(ExcludedStudy { study: outline.row.id.0, label: label.clone(), why });
    }
    (entries, left_out)
}

/// The means of a condition in the studies that have a value.
///
/// # Errors
/// [`Error::Stats`] for data that the statistics refuse.
pub(crate) fn means(
    entries: &[ComparableStudy<'_>],
    condition: usize,
    metric: Metric,
    level: f64,
) -> Result<Vec<StudyMean>, Error> {
    let mut means = Vec::new();
    for (place, (label, outline, pairs)) in entries.iter().enumerate() {
        let Some((own, _)) = pairs.iter().find(|(_, newest)| *newest == condition) else { continue };
        let values = outline.values.get(&metric).map_or(&[][..], Vec::as_slice);
        if values.iter().all(|(of, ..)| of != own) {
            continue;
        }
        // The other conditions of the study tell the effects of the boots that they share.
        let observations: Vec<Observation> = values.iter().copied().map(observation).collect();
        let (correction, range) = (Correction::None, range_of(metric));
        let question = Question { level, correction, range, ..Question::against(*own) };
        let spending = stats::Spending::default();
        let analysis = stats::analyse_with(&observations, &question, |one| one == *own, &spending)?;
        let mean = analysis.conditions.first().filter(|estimate| estimate.mean.is_finite());
        means.extend(mean.map(|estimate| StudyMean {
            place,
            study: outline.row.id.0,
            label: (*label).to_owned(),
            mean: estimate.mean,
            interval: estimate.interval,
            boots: estimate.boots,
            runs: estimate.runs,
            point: HistoryPoint { value: estimate.mean, error: estimate.error },
        }));
    }
    Ok(means)
}

/// The conditions that these words mean, in the plan's order; all without a word.
///
/// # Errors
/// [`Error::UnknownCondition`].
pub(crate) fn conditions(study: i64, plan: &Plan, words: &[String]) -> Result<Vec<usize>, Error> {
    if words.is_empty() {
        return Ok((0..plan.conditions.len()).collect());
    }
    let found = words.iter().map(|word| crate::data::target::condition(study, plan, word));
    Ok(found.collect::<Result<BTreeSet<usize>, Error>>()?.into_iter().collect())
}
