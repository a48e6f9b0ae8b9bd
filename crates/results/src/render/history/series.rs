//! One condition in one metric over the studies of a history.

use serde::Serialize;
use stats::Verdict;
use stats::change::{self, Level, LevelHistory, NewestPoint};
use study::Quality;
use study::metric::{Better, Metric};

use super::changed::{LevelChange, NewestStudy, size};
use super::member::studies;
use crate::data::error::Error;
use crate::data::exact;
use crate::data::series::StudyMean;
use crate::words::number::plain;
use crate::words::phrases::title;

/// One condition in one metric over the studies that measured it.
#[derive(Debug, Serialize)]
pub struct HistorySeries {
    /// The condition's label in the newest study.
    pub(crate) condition: String,
    pub(crate) metric: String,
    pub(crate) unit: String,
    pub(crate) better: Option<Better>,
    /// The confidence of the changes and of the newest study's verdict, as a probability.
    pub(crate) level: f64,
    /// The confidence of each point's interval by itself.
    pub(crate) confidence: f64,
    /// The oldest first.
    pub(crate) points: Vec<StudyMean>,
    pub(crate) levels: Vec<Level>,
    pub(crate) changes: Vec<LevelChange>,
    /// The reason why no change can be proven; `None` if one could.
    pub(crate) too_few: Option<String>,
    /// The newest study against the recent level; `None` if it is alone.
    pub(crate) newest: Option<NewestStudy>,
}

impl HistorySeries {
    pub(super) fn from_means(
        condition: String,
        metric: &'static Metric,
        points: Vec<StudyMean>,
        (level, confidence): (f64, f64),
        is_count: bool,
    ) -> Result<Self, Error> {
        let own: Vec<_> = points.iter().map(StudyMean::point).collect();
        let counts: Vec<f64> = points.iter().map(|point| point.mean).collect();
        let found = if is_count {
            change::of_counts(&counts, exact::RESOLUTION)?
        } else {
            change::find(&own, level)?
        };
        // No metric is below zero.
        let possible = |(low, high): (f64, f64)| (low.max(0.0), high);
        let expected = found.newest.map(|one| NewestPoint { interval: one.interval.map(possible), ..one });
        let quality = Quality::from_metric(metric);
        let too_few = (points.len() < found.needed).then(|| {
            format!(
                "no change can be proven with {}: {} are needed at a confidence of {} %",
                studies(points.len()),
                found.needed,
                stats::confidence(level)
            )
        });
        let LevelHistory { levels, changes, .. } = found;
        let changed = |change| LevelChange::in_words(change, &points, metric.unit, quality);
        Ok(Self {
            condition,
            metric: metric.key.to_owned(),
            unit: metric.unit.to_owned(),
            better: Some(metric.better),
            level,
            confidence,
            levels,
            changes: changes.into_iter().map(changed).collect(),
            too_few,
            newest: expected.map(|expected| NewestStudy::in_words(expected, &points, metric.unit, quality)),
            points,
        })
    }

    /// `ipv4 offloads=none: throughput`.
    #[must_use]
    pub fn title(&self) -> String {
        format!("{}: {}", self.condition, title(&self.metric))
    }

    /// The metric's name, and its unit, which may be empty.
    #[must_use]
    pub fn quantity(&self) -> (String, &str) {
        (title(&self.metric), plain(&self.unit))
    }

    /// The points, each with the name of its study, its mean and the interval of the mean.
    pub fn points(&self) -> impl ExactSizeIterator<Item = (&str, f64, Option<(f64, f64)>)> {
        self.points.iter().map(|point| (point.label.as_str(), point.mean, point.interval))
    }

    /// The levels, each with the number of its first point and its mean, and what changed at its
    /// beginning in a few words; empty for the first.
    pub fn levels(&self) -> impl Iterator<Item = (usize, f64, String)> {
        let changes = [None].into_iter().chain(self.changes.iter().map(Some));
        self.levels.iter().zip(changes).map(|(level, change)| {
            let words = change.map_or_else(String::new, |change| {
                let confidence = change.confidence.map_or_else(String::new, |confidence| {
                    format!(", confidence {} %", stats::confidence(confidence))
                });
                format!("{}{confidence}", size(&change.change, &self.unit))
            });
            (level.first, level.mean, words)
        })
    }

    /// Whether something was found in it.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        let is_apart = |verdict| matches!(verdict, Verdict::Higher | Verdict::Lower);
        let newest = self.newest.as_ref();
        !self.changes.is_empty() || newest.is_some_and(|newest| is_apart(newest.expected.verdict))
    }

    /// The confidence of the intervals of its points, as a probability.
    #[must_use]
    pub fn confidence(&self) -> f64 {
        self.confidence
    }

    /// The changes of this series, as sentences without full stops: the newest study first, then
    /// the changes from the newest to the oldest.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let newest = self.newest.iter().map(|newest| newest.sentence.clone());
        let changes = self.changes.iter().rev().map(|change| change.sentence.clone());
        let nothing = match (&self.too_few, self.changes.is_empty()) {
            (Some(why), _) => Some(why.clone()),
            (None, true) => Some(format!("no change of level is proven in {}", studies(self.points.len()))),
            (None, false) => None,
        };
        newest.chain(changes).chain(nothing).collect()
    }
}
