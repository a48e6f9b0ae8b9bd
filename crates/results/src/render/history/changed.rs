//! The changes of level of a series, and the place of its newest study, in words.

use serde::Serialize;
use stats::change::{Change, NewestPoint};
use stats::{Verdict, signed};
use study::Quality;

use crate::data::series::StudyMean;
use crate::words::number::{figure, percent, plain, range};

/// A change of level, in words.
#[derive(Debug, Serialize)]
pub(crate) struct LevelChange {
    #[serde(flatten)]
    pub(crate) change: Change,
    /// The first study of the new level.
    pub(crate) study: i64,
    /// 1 - p; `None` for counts.
    pub(crate) confidence: Option<f64>,
    pub(crate) verdict: Verdict,
    pub(crate) quality: Option<&'static str>,
    /// Without a full stop.
    pub(crate) sentence: String,
}

/// The newest study against the recent level, in words.
#[derive(Debug, Serialize)]
pub(crate) struct NewestStudy {
    #[serde(flatten)]
    pub(crate) expected: NewestPoint,
    pub(crate) study: i64,
    pub(crate) quality: Option<&'static str>,
    /// Without a full stop.
    pub(crate) sentence: String,
}

impl LevelChange {
    /// A change of the level of these points, in this unit.
    pub(super) fn in_words(change: Change, points: &[StudyMean], unit: &str, quality: Quality) -> Self {
        let label = |point: usize| &points[point].label;
        let is_up = change.difference > 0.0;
        let word = quality.word(is_up);
        let meaning = word.map_or_else(String::new, |word| format!(" ({word})"));
        let (low, high) = change.place;
        let place = if low == high {
            String::new()
        } else {
            format!("; it came after {} and by {}", label(low - 1), label(high))
        };
        let confidence = change.p.map(|p| 1.0 - p);
        let sure =
            confidence.map_or_else(String::new, |one| format!(", confidence {} %", stats::confidence(one)));
        Self {
            study: points[change.first].study,
            confidence,
            verdict: if is_up { Verdict::Higher } else { Verdict::Lower },
            quality: word,
            sentence: format!(
                "from {} on: {}{meaning}, {}{}{sure}{place}",
                label(change.first),
                if is_up { Verdict::Higher } else { Verdict::Lower },
                size(&change, unit),
                interval(&change, unit),
            ),
            change,
        }
    }
}

impl NewestStudy {
    /// The last of these points, of which there is at least one, against what was expected.
    pub(super) fn in_words(
        expected: NewestPoint,
        points: &[StudyMean],
        unit: &str,
        quality: Quality,
    ) -> Self {
        let label = |point: usize| &points[point].label;
        let last = points.len() - 1;
        let point = &points[last];
        let word = match expected.verdict {
            Verdict::Higher => quality.word(true),
            Verdict::Lower => quality.word(false),
            _ => None,
        };
        let unit = match plain(unit) {
            "" => String::new(),
            unit => format!(" {unit}"),
        };
        let level = if expected.first + 1 == last {
            format!("{} alone", label(expected.first))
        } else {
            format!("{} to {}", label(expected.first), label(last - 1))
        };
        let by = expected.relative.map_or_else(
            || format!("{}{unit}", signed(figure(expected.difference))),
            |relative| format!("{} %", signed(percent(relative))),
        );
        let meaning = word.map_or_else(String::new, |word| format!(" ({word})"));
        let sentence = match expected.interval {
            Some(interval) => format!(
                "the newest, {}: {}{meaning} against the level of {level}: {by}; {}{unit}, where {}{unit} are expected",
                point.label,
                expected.verdict,
                figure(point.mean),
                ends(interval)
            ),
            None => format!(
                "the newest, {}: {by} against {level}; how much studies differ is not known before there are three",
                point.label
            ),
        };
        Self { expected, study: point.study, quality: word, sentence }
    }
}

/// `-12.3 %`, or the difference in the metric's unit.
pub(super) fn size(change: &Change, unit: &str) -> String {
    match (change.relative, plain(unit)) {
        (Some(relative), _) => format!("{} %", signed(percent(relative))),
        (None, "") => signed(figure(change.difference)),
        (None, unit) => format!("{} {unit}", signed(figure(change.difference))),
    }
}

/// ` (-14.1 to -10.5)`; empty if it is unknown.
fn interval(change: &Change, unit: &str) -> String {
    let ends = match change.relative {
        Some(_) => change.relative_interval.map(|ends| range(Some(ends), |one| signed(percent(one)))),
        None => change.interval.map(|ends| {
            format!("{} {}", range(Some(ends), |one| signed(figure(one))), plain(unit)).trim_end().to_owned()
        }),
    };
    ends.map_or_else(String::new, |ends| format!(" ({ends})"))
}

/// Both ends of an interval, as far as a column of values can be compared.
pub(crate) fn ends((low, high): (f64, f64)) -> String {
    format!("{} to {}", figure(low), figure(high))
}
