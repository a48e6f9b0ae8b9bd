//! One condition against another: a row of a table, and a sentence.

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
    pub(crate) is_without: bool,
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

    /// The explanations of the difference, in words without a full stop; `None` if no counter
    /// explains it.
    pub(crate) fn why(&self) -> Option<String> {
        let sentences: Vec<&str> = self.why.iter().map(|why| why.sentence.as_str()).collect();
        (!sentences.is_empty()).then(|| sentences.join("; "))
    }
}

/// A comparison's cells of the table, from the difference on.
pub(super) fn cells(row: &ComparisonRow) -> [String; 6] {
    let comparison = &row.comparison;
    let [relative, relative_interval] = match proportion(comparison, percent) {
        Some(size) => [size.difference.clone(), size.interval()],
        None => ["-", "-"].map(str::to_owned),
    };
    [
        figure(comparison.difference),
        range(comparison.interval, figure),
        relative,
        relative_interval,
        comparison.boots.to_string(),
        row.verdict(),
    ]
}

/// The size of a difference and its interval.
pub(crate) struct DifferenceWords {
    pub(crate) difference: String,
    /// Its ends alone, for where a column has the unit.
    pub(crate) ends: String,
    /// Their unit, with a blank before; empty for % and without an interval.
    of_ends: String,
}

impl DifferenceWords {
    pub(crate) fn interval(&self) -> String {
        format!("{}{}", self.ends, self.of_ends)
    }
}

/// The size in % of the baseline by `show`, else as a ratio to the baseline; `None` if neither
/// exists.
fn proportion(comparison: &Comparison, show: impl Fn(f64) -> String) -> Option<DifferenceWords> {
    if let Some(relative) = comparison.relative {
        let ends = range(comparison.relative_interval, &show);
        return Some(DifferenceWords { difference: show(relative), ends, of_ends: String::new() });
    }
    let Ratio { value, interval } = comparison.ratio?;
    let of_ends = " (log scale)".to_owned();
    Some(DifferenceWords {
        difference: format!("{} times", times(value)),
        ends: range(Some(interval), times),
        of_ends,
    })
}

/// The size where no column has the difference: in the metric's unit if there is no ratio, so that
/// a size is always shown.
pub(crate) fn size(comparison: &Comparison, unit: &str) -> DifferenceWords {
    let signed_figure = |value| signed(figure(value));
    proportion(comparison, |value| signed(percent(value))).unwrap_or_else(|| {
        let in_unit = match plain(unit) {
            "" => String::new(),
            unit => format!(" {unit}"),
        };
        DifferenceWords {
            difference: signed_figure(comparison.difference) + &in_unit,
            ends: range(comparison.interval, signed_figure),
            of_ends: comparison.interval.map_or_else(String::new, |_| in_unit),
        }
    })
}
