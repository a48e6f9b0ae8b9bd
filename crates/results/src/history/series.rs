//! One condition in one metric over the studies of a history.

use serde::Serialize;
use stats::change::{self, DetectedChange, Level, LevelHistory, NewestPoint};
use stats::{Verdict, signed};
use study::Quality;
use study::metric::{Better, Metric};

use super::StudyMean;
use crate::data::comparison_row::quality_word;
use crate::data::error::Error;
use crate::data::exact;
use crate::words::number::{counted, figure, percent, plain, range, with_unit};
use crate::words::phrases::{in_brackets, metric_name};

/// One condition in one metric over the studies that measured it.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct HistorySeries {
    pub condition: String,
    pub metric: Metric,
    pub unit: &'static str,
    pub better: Better,
    /// The confidence of the changes and of the newest study's verdict, as a probability.
    pub level: f64,
    /// The confidence of each point's interval by itself.
    pub confidence: f64,
    pub points: Vec<StudyMean>,
    pub levels: Vec<Level>,
    pub changes: Vec<LevelChange>,
    /// The reason why no change can be proven; `None` if one could.
    pub too_few: Option<String>,
    pub newest: Option<NewestStudy>,
}

/// A change of level, in words.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct LevelChange {
    #[serde(flatten)]
    pub change: DetectedChange,
    /// The first study of the new level.
    pub study: i64,
    /// 1 - p; `None` for counts.
    pub confidence: Option<f64>,
    pub verdict: Verdict,
    /// The meaning of the direction: faster, more CPU; `None` if neither is better.
    pub quality: Option<&'static str>,
    /// `-12.3 %`, or the difference in the metric's unit.
    #[serde(skip)]
    pub size: String,
    pub sentence: String,
}

/// The newest study against the recent level, in words.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct NewestStudy {
    #[serde(flatten)]
    pub expected: NewestPoint,
    pub study: i64,
    /// The meaning of the direction: faster, more CPU; `None` if neither is better.
    pub quality: Option<&'static str>,
    pub sentence: String,
}

impl HistorySeries {
    pub(super) fn from_means(
        condition: String,
        metric: Metric,
        points: Vec<StudyMean>,
        (level, confidence): (f64, f64),
        is_count: bool,
    ) -> Result<Self, Error> {
        let found = if is_count {
            let counts: Vec<f64> = points.iter().map(|point| point.mean).collect();
            change::of_counts(&counts, exact::RESOLUTION)?
        } else {
            change::find(&points.iter().map(|point| point.point).collect::<Vec<_>>(), level)?
        };
        // No metric is below zero.
        let possible = |(low, high): (f64, f64)| (low.max(0.0), high);
        let expected = found.newest.map(|one| NewestPoint { interval: one.interval.map(possible), ..one });
        let quality = Quality::from_metric(metric);
        let too_few = (points.len() < found.needed).then(|| {
            format!(
                "no change can be proven with {}: {} are needed at a confidence of {} %",
                counted(points.len(), "study"),
                found.needed,
                stats::confidence(level)
            )
        });
        let LevelHistory { levels, changes, .. } = found;
        let changed = |change| LevelChange::in_words(change, &points, metric.unit, quality);
        Ok(Self {
            condition,
            metric,
            unit: metric.unit,
            better: metric.better,
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
    pub fn title(&self) -> String {
        format!("{}: {}", self.condition, metric_name(&self.metric.into()))
    }

    /// The metric's name, and its unit, which may be empty.
    pub fn quantity(&self) -> (String, &'static str) {
        (metric_name(&self.metric.into()), plain(self.unit))
    }

    /// Whether something was found in it.
    pub fn is_changed(&self) -> bool {
        let is_apart = |verdict| matches!(verdict, Verdict::Higher | Verdict::Lower);
        let newest = self.newest.as_ref();
        !self.changes.is_empty() || newest.is_some_and(|newest| is_apart(newest.expected.verdict))
    }

    /// The changes of this series, as sentences without full stops, from the newest to the oldest.
    pub fn sentences(&self) -> Vec<String> {
        let newest = self.newest.iter().map(|newest| newest.sentence.clone());
        let changes = self.changes.iter().rev().map(|change| change.sentence.clone());
        let unproven = || format!("no change of level is proven in {}", counted(self.points.len(), "study"));
        let nothing = self.too_few.clone().or_else(|| self.changes.is_empty().then(unproven));
        newest.chain(changes).chain(nothing).collect()
    }
}

impl LevelChange {
    fn in_words(change: DetectedChange, points: &[StudyMean], unit: &str, quality: Quality) -> Self {
        let label = |point: usize| &points[point].label;
        let verdict = if change.difference > 0.0 { Verdict::Higher } else { Verdict::Lower };
        let (low, high) = change.place;
        let place = if low == high {
            String::new()
        } else {
            format!("; it came after {} and by {}", label(low - 1), label(high))
        };
        let size = signed_size(change.relative, change.difference, unit);
        let interval = match change.relative {
            Some(_) => change.relative_interval.map(|ends| range(Some(ends), |one| signed(percent(one)))),
            None => change.interval.map(|ends| with_unit(range(Some(ends), |one| signed(figure(one))), unit)),
        };
        let interval = in_brackets(interval.as_deref());
        let confidence = change.p.map(|p| 1.0 - p);
        let sure =
            confidence.map_or_else(String::new, |one| format!(", confidence {} %", stats::confidence(one)));
        let quality = quality_word(quality, verdict);
        let (meaning, first) = (in_brackets(quality), label(change.first));
        Self {
            study: points[change.first].study,
            confidence,
            verdict,
            quality,
            sentence: format!("from {first} on: {verdict}{meaning}, {size}{interval}{sure}{place}"),
            size,
            change,
        }
    }
}

impl NewestStudy {
    fn in_words(expected: NewestPoint, points: &[StudyMean], unit: &str, quality: Quality) -> Self {
        let label = |point: usize| &points[point].label;
        let last = points.len() - 1;
        let StudyMean { label: newest, study, mean, .. } = &points[last];
        // The newest is no part of the level that it is judged by.
        let level = if expected.first + 1 == last {
            format!("{} alone", label(expected.first))
        } else {
            format!("{} to {}", label(expected.first), label(last - 1))
        };
        let by = signed_size(expected.relative, expected.difference, unit);
        let verdict = expected.verdict;
        let quality = quality_word(quality, verdict);
        let meaning = in_brackets(quality);
        let sentence = match expected.interval {
            Some(ends) => format!(
                "the newest, {newest}: {verdict}{meaning} against the level of {level}: {by}; {}, where {} are expected",
                with_unit(figure(*mean), unit),
                with_unit(range(Some(ends), figure), unit)
            ),
            None => format!(
                "the newest, {newest}: {by} against {level}; how much studies differ is not known before there are three"
            ),
        };
        Self { expected, study: *study, quality, sentence }
    }
}

fn signed_size(relative: Option<f64>, difference: f64, unit: &str) -> String {
    match relative {
        Some(relative) => format!("{} %", signed(percent(relative))),
        None => with_unit(signed(figure(difference)), unit),
    }
}
