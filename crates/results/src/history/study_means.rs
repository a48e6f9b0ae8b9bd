//! One condition over the studies of a history.

use std::collections::BTreeSet;

use serde::Serialize;
use stats::change::{Error as PointError, Point};
use stats::{Correction, Observation, Question};
use store::Outline;
use study::Plan;
use study::metric::Metric;

use super::ChosenStudy;
use crate::data::error::Error;
use crate::data::matched_conditions::MatchedConditions;
use crate::data::metric::range_of;
use crate::data::truth;

/// A study of a history.
#[derive(Debug, Clone)]
pub struct HistoryEntry {
    /// Its name in the history.
    pub chosen: ChosenStudy,
    /// The study with the values of the metrics in question.
    pub outline: Outline,
}

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
    pub(crate) point: Point,
}

/// The studies that compare with the newest one, and the reasons that keep the others out.
pub(crate) struct ComparableStudies<'e> {
    /// The studies that share conditions with the newest, the oldest first, each with the pairs of
    /// conditions (its own, the newest study's).
    pub(crate) entries: Vec<(&'e HistoryEntry, Vec<(usize, usize)>)>,
    pub(crate) left_out: Vec<ExcludedStudy>,
}

impl<'e> ComparableStudies<'e> {
    pub(crate) fn from_entries(all: &'e [HistoryEntry]) -> Self {
        let (mut entries, mut left_out) = (Vec::new(), Vec::new());
        let Some(newest) = all.last() else { return Self { entries, left_out } };
        let kind = |entry: &HistoryEntry| truth::kind(&entry.outline.plan, &entry.outline.environments);
        for entry in all {
            let why = match MatchedConditions::between(&entry.outline, &newest.outline) {
                _ if kind(entry) != kind(newest) => {
                    let newest_kind = kind(newest).as_str();
                    format!("it {}, study {} {newest_kind}", kind(entry).as_str(), newest.outline.row.id)
                }
                Ok(matched) => {
                    entries.push((entry, matched.pairs));
                    continue;
                }
                Err(Error::NotComparable { why, .. }) => why,
                Err(other) => other.to_string(),
            };
            let (study, label) = (entry.outline.row.id.0, entry.chosen.label.clone());
            left_out.push(ExcludedStudy { study, label, why });
        }
        Self { entries, left_out }
    }

    /// The mean of a condition of the newest study in each study, in this metric. Studies without a
    /// value are left out.
    ///
    /// # Errors
    /// [`Error::Stats`] for data that the statistics refuse.
    pub(crate) fn means(
        &self,
        condition: usize,
        metric: Metric,
        level: f64,
    ) -> Result<Vec<StudyMean>, Error> {
        let entries = self.entries.iter().enumerate();
        let means = entries.filter_map(|(place, (entry, pairs))| {
            let (own, _) = pairs.iter().find(|(_, newest)| *newest == condition)?;
            mean(place, entry, *own, metric, level).transpose()
        });
        means.collect()
    }
}

fn mean(
    place: usize,
    entry: &HistoryEntry,
    condition: usize,
    metric: Metric,
    level: f64,
) -> Result<Option<StudyMean>, Error> {
    let values = entry.outline.values.get(&metric).map_or(&[][..], Vec::as_slice);
    if values.iter().all(|(of, ..)| *of != condition) {
        return Ok(None);
    }
    // The other conditions of the study tell the effects of the boots that they share.
    let observations: Vec<Observation> = values
        .iter()
        .map(|(condition, boot, value)| Observation { condition: *condition, boot: *boot, value: *value })
        .collect();
    let correction = Correction::None;
    let question = Question { level, correction, range: range_of(metric), ..Question::against(condition) };
    let analysis =
        stats::analyse_with(&observations, &question, |one| one == condition, &stats::Spending::default())?;
    let mean = analysis.conditions.first().map(|estimate| StudyMean {
        place,
        study: entry.outline.row.id.0,
        label: entry.chosen.label.clone(),
        mean: estimate.mean,
        interval: estimate.interval,
        boots: estimate.boots,
        runs: estimate.runs,
        point: Point {
            value: estimate.mean,
            error: estimate.error.map(|(standard, df)| PointError { standard, df }),
        },
    });
    Ok(mean.filter(|mean| mean.mean.is_finite()))
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
