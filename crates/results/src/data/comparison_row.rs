//! One condition against another.

use serde::Serialize;
use stats::{Comparison, Ratio, Verdict, signed};

use crate::why::Explanation;
use crate::words::number::{figure, percent, plain, range, times};

/// One condition against another.
#[derive(Debug, Serialize)]
pub struct ComparisonRow {
    /// Its label.
    pub label: String,
    /// The name says which switches the condition is without.
    #[serde(skip)]
    pub is_without: bool,
    /// The label of the condition that it is compared with.
    pub against: String,
    /// The difference with its verdict.
    #[serde(flatten)]
    pub comparison: Comparison,
    /// The meaning of a proven difference: faster, more CPU, worse; `None` if neither direction is
    /// better, or it is unknown.
    pub quality: Option<&'static str>,
    /// The verdict, as a sentence.
    pub sentence: String,
    /// The remarks: a run that decides the percentage, a robust check that disagrees.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// Counters that differ in the same way, where the difference is large.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub why: Vec<Explanation>,
}

impl ComparisonRow {
    /// Is there a difference, and is its direction sure?
    #[must_use]
    pub fn is_proven(&self) -> bool {
        matches!(self.comparison.verdict, Verdict::Higher | Verdict::Lower)
    }

    /// The verdict with its meaning: `lower (slower)`.
    #[must_use]
    pub fn verdict(&self) -> String {
        let quality = self.quality.map_or_else(String::new, |word| format!(" ({word})"));
        format!("{}{quality}", self.comparison.verdict)
    }

    /// The verdict in a word or two: `slower`, `not proven`.
    #[must_use]
    pub fn short_verdict(&self) -> &'static str {
        match self.comparison.verdict {
            Verdict::NoDifferenceProven if self.comparison.is_equal() => "equal",
            Verdict::NoDifferenceProven => "not proven",
            verdict => self.quality.unwrap_or(verdict.as_str()),
        }
    }

    /// The explanations of the difference, in words without a full stop; `None` if no counter
    /// explains it.
    #[must_use]
    pub fn why(&self) -> Option<String> {
        let sentences: Vec<&str> = self.why.iter().map(|why| why.sentence.as_str()).collect();
        (!sentences.is_empty()).then(|| sentences.join("; "))
    }

    /// The difference and its interval, in words: in % of the baseline, else as a ratio to it, else
    /// in the metric's unit, so that a size is always shown. `names_percent`: no heading has the
    /// percent sign.
    #[must_use]
    pub fn size(&self, unit: &str, names_percent: bool) -> [String; 2] {
        let comparison = &self.comparison;
        if let Some(relative) = comparison.relative {
            let shown = |value| signed(percent(value));
            let sign = if names_percent { " %" } else { "" };
            return [shown(relative) + sign, range(comparison.relative_interval, shown)];
        }
        if let Some(Ratio { value, interval }) = comparison.ratio {
            return [format!("{} times", times(value)), range(Some(interval), times)];
        }
        let shown = |value| signed(figure(value));
        let size = format!("{} {}", shown(comparison.difference), plain(unit)).trim_end().to_owned();
        [size, range(comparison.interval, shown)]
    }
}
