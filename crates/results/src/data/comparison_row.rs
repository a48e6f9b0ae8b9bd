//! One condition against another.

use serde::Serialize;
use stats::{Comparison, Verdict};
use study::Quality;

use crate::why::Explanation;
use crate::words::phrases::in_brackets;

/// One condition against another.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct ComparisonRow {
    pub label: String,
    pub against: String,
    #[serde(flatten)]
    pub comparison: Comparison,
    /// The meaning of a proven difference: faster, more CPU, worse; `None` if it has none.
    pub quality: Option<&'static str>,
    /// The remarks: a robust check that disagrees.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// Counters that differ in the same way, where the difference is large.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub why: Vec<Explanation>,
}

/// The word for a proven difference: faster, more CPU; `None` for other verdicts.
pub fn quality_word(quality: Quality, verdict: Verdict) -> Option<&'static str> {
    match verdict {
        Verdict::Higher => quality.word(true),
        Verdict::Lower => quality.word(false),
        _ => None,
    }
}

/// The verdict in a word or two, a proven difference by its meaning: `slower`, `not proven`.
pub fn short_verdict(comparison: &Comparison, quality: Option<&'static str>) -> &'static str {
    match comparison.verdict {
        Verdict::NoDifferenceProven if comparison.is_equal() => "equal",
        Verdict::NoDifferenceProven => "not proven",
        verdict => quality.unwrap_or(verdict.as_str()),
    }
}

impl ComparisonRow {
    /// Is there a difference, and is its direction sure?
    pub fn is_proven(&self) -> bool {
        matches!(self.comparison.verdict, Verdict::Higher | Verdict::Lower)
    }

    /// Both conditions: `tso=off against tso=on`.
    pub fn pair(&self) -> String {
        format!("{} against {}", self.label, self.against)
    }

    /// The verdict with its meaning: `lower (slower)`.
    pub fn verdict(&self) -> String {
        format!("{}{}", self.comparison.verdict, in_brackets(self.quality))
    }

    /// The explanations of the difference, without a full stop; `None` if no counter explains it.
    pub fn why(&self) -> Option<String> {
        let sentences: Vec<&str> = self.why.iter().map(|why| why.sentence.as_str()).collect();
        (!sentences.is_empty()).then(|| sentences.join("; "))
    }
}
