//! One condition against another: a row of a table, and a sentence.

use serde::Serialize;
use stats::{Comparison, Ratio, Verdict, signed};

use crate::render::why::Why;
use crate::words::number::{figure, percent, plain, range, times};

/// One condition against another.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) label: String,
    /// The label of the condition that it is compared with.
    pub(crate) against: String,
    #[serde(flatten)]
    pub(crate) comparison: Comparison,
    /// What a proven difference means: faster, more CPU, worse; none where neither direction is
    /// better, or nobody says.
    pub(crate) quality: Option<&'static str>,
    /// The verdict, as a sentence.
    pub(crate) sentence: String,
    /// What must be said beside it: which run takes its percentage, which robust check disagrees.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) remarks: Vec<String>,
    /// Counters that differ as the two do, where the difference is large.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) why: Vec<Why>,
}

impl Row {
    /// Is there a difference, and is its direction sure?
    pub(crate) fn is_proven(&self) -> bool {
        matches!(self.comparison.verdict, Verdict::Higher | Verdict::Lower)
    }

    /// The verdict, with what it means: `lower (slower)`.
    pub(crate) fn verdict(&self) -> String {
        let quality = self.quality.map_or_else(String::new, |word| format!(" ({word})"));
        format!("{}{quality}", self.comparison.verdict)
    }

    /// What explains it, in words without a full stop; none where no counter does.
    pub(crate) fn why(&self) -> Option<String> {
        let sentences: Vec<&str> = self.why.iter().map(|why| why.sentence.as_str()).collect();
        (!sentences.is_empty()).then(|| sentences.join("; "))
    }
}

/// A comparison's cells of the table, from the difference on.
pub(super) fn cells(row: &Row) -> [String; 6] {
    let comparison = &row.comparison;
    let [relative, relative_interval] =
        proportion(comparison, percent).unwrap_or(["-", "-"].map(str::to_owned));
    [
        figure(comparison.difference),
        range(comparison.interval, figure),
        relative,
        relative_interval,
        comparison.boots.to_string(),
        row.verdict(),
    ]
}

/// The size of a difference and its interval, in % of the baseline by `show`, else as so many times
/// the baseline; none where neither can be stated.
fn proportion(comparison: &Comparison, show: impl Fn(f64) -> String) -> Option<[String; 2]> {
    if let Some(relative) = comparison.relative {
        return Some([show(relative), range(comparison.relative_interval, show)]);
    }
    let Ratio { value, interval } = comparison.ratio?;
    Some([format!("{} times", times(value)), format!("{} (log scale)", range(Some(interval), times))])
}

/// The same where no column has the difference itself: in the metric's unit where there is no
/// proportion, so that a size is always shown.
pub(crate) fn size(comparison: &Comparison, unit: &str) -> [String; 2] {
    let signed_figure = |value| signed(figure(value));
    proportion(comparison, |value| signed(percent(value))).unwrap_or_else(|| {
        let in_unit = |shown: String| format!("{shown} {}", plain(unit)).trim_end().to_owned();
        let interval = range(comparison.interval, signed_figure);
        let interval = if comparison.interval.is_some() { in_unit(interval) } else { interval };
        [in_unit(signed_figure(comparison.difference)), interval]
    })
}
