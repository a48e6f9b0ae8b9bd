//! The answer to a study's question, in a sentence from the comparisons.

use stats::{Margin, Ratio, Verdict};

use crate::data::comparison_group::ComparisonGroup;
use crate::data::comparison_row::ComparisonRow;
use crate::words::lists::grouped;
use crate::words::number::{counted, figure, percent, plain, range, times, with_unit};
use crate::words::phrases::{in_brackets, is, listed, metric_words};

// The most conditions without a proven difference that are named; of more, the number.
const NAMED: usize = 3;

impl ComparisonGroup {
    /// One sentence for one comparison: the proven differences with their size, then the others.
    pub fn answer(&self) -> String {
        answer_for(self, &self.rows.iter().collect::<Vec<_>>())
    }

    /// Sentences below the answer: remarks with their conditions, and explanations of differences.
    pub fn answer_remarks(&self) -> Vec<String> {
        // A run of the baseline affects all its comparisons.
        let remarks =
            self.rows.iter().flat_map(|row| row.remarks.iter().map(move |one| (one, row.label.as_str())));
        let remarks = grouped(remarks);
        let conditions = |labels: &[&str]| match labels {
            [one, others @ ..] if others.len() > 1 => format!("{one} and {} others", others.len()),
            labels => listed(labels),
        };
        let remarks = remarks.iter().map(|(remark, labels)| format!("{}: {remark}.", conditions(labels)));
        let whys: Vec<(&str, String)> =
            self.rows.iter().filter_map(|row| Some((&*row.label, row.why()?))).collect();
        // Conditions often have one reason.
        let whys = whys.chunk_by(|(_, one), (_, other)| one == other).map(|same| {
            let labels: Vec<&str> = same.iter().map(|(label, _)| *label).collect();
            format!("Why {}: {}.", listed(&labels), same[0].1)
        });
        remarks.chain(whys).collect()
    }
}

/// The answer for some conditions of a comparison.
pub fn answer_for(group: &ComparisonGroup, rows: &[&ComparisonRow]) -> String {
    let baseline = group.baseline.as_deref().unwrap_or("one condition");
    let Some(first) = rows.first() else {
        return format!("only {baseline} was measured: there is nothing to compare it with.");
    };
    let (metric, is) = (metric_words(&group.metric), is(&group.metric));
    let mut proven: Vec<String> = Vec::new();
    let mut equivalent: Vec<String> = Vec::new();
    let mut equal: Vec<&str> = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    let mut unknown: Vec<(&str, &str)> = Vec::new();
    let unit = plain(group.metric.unit());
    for row in rows {
        let comparison = &row.comparison;
        if let (Verdict::Equivalent, Some(margin)) = (comparison.verdict, comparison.margin) {
            let margin = match margin {
                Margin::Percent(share) => format!("{share} %"),
                Margin::Absolute(size) => format!("{size} {unit}"),
            };
            equivalent.push(format!("{} (within {margin})", row.label));
        } else if let Some(gap) = comparison.gap {
            unknown.push((gap.as_str(), row.label.as_str()));
        } else if comparison.is_equal() {
            equal.push(&row.label);
        } else if row.is_proven() {
            proven.push(size(row, unit));
        } else {
            open.push(&row.label);
        }
    }
    // The mean that the table shows.
    let own = group.conditions.iter().find(|one| one.estimate.condition == first.comparison.baseline);
    let mean = own.map_or(first.comparison.baseline_mean, |own| own.estimate.mean);
    // Between two studies each condition has a baseline of its own.
    let is_one = rows.iter().all(|row| row.comparison.baseline == first.comparison.baseline);
    let base = if is_one {
        format!("against {baseline} ({})", with_unit(figure(mean), unit))
    } else {
        format!("against {baseline}")
    };
    let mut parts = Vec::new();
    if !proven.is_empty() {
        parts.push(format!("{metric} {is} {}", listed(&proven)));
    }
    if !equivalent.is_empty() {
        parts.push(format!("{metric} {is} equivalent for {}", listed(&equivalent)));
    }
    if !equal.is_empty() {
        let conditions = named_or_counted(&equal, rows.len());
        parts.push(format!("{metric} {is} equal for {conditions}, as far as the numbers tell"));
    }
    if !open.is_empty() {
        // With a margin, neither difference nor equivalence was proven.
        let has_margin = rows.iter().any(|row| row.comparison.margin.is_some());
        let what = if has_margin { "neither a difference nor equivalence" } else { "no difference" };
        let subject = if parts.is_empty() { format!("{what} in {metric}") } else { what.to_owned() };
        parts.push(proven_for(&subject, &open, rows.len()));
    }
    if !unknown.is_empty() {
        let of = if parts.is_empty() { format!(" in {metric}") } else { String::new() };
        let unknown = grouped(unknown).into_iter().map(|(gap, labels)| {
            let each = if labels.len() > 1 { "each: " } else { "" };
            format!("{} ({each}{gap})", named_or_counted(&labels, rows.len()))
        });
        let unknown = listed(&unknown.collect::<Vec<_>>());
        parts.push(format!("no difference{of} can be judged for {unknown}"));
    }
    let judged =
        |row: &&&ComparisonRow| row.comparison.interval.is_some() || row.comparison.resolution.is_some();
    let boots: Vec<usize> = rows.iter().filter(judged).map(|row| row.comparison.boots).collect();
    let parts = parts.join("; ");
    let (Some(least), Some(most)) = (boots.iter().min(), boots.iter().max()) else {
        return format!("{base}, {parts}.");
    };
    let boots = if least == most { counted(*most, "boot") } else { format!("{least} to {most} boots") };
    match group.resolution {
        Some(resolution) => format!("{base}, {parts}; counted, to {resolution} %, in {boots}."),
        None => format!("{base}, {parts}; {} % intervals from {boots}.", stats::confidence(group.level)),
    }
}

/// `no difference in throughput is proven for gso=off and tso=off`; of more conditions than are
/// named their number. `all`: the number of compared conditions.
pub fn proven_for(subject: &str, conditions: &[&str], all: usize) -> String {
    format!("{subject} is proven for {}", named_or_counted(conditions, all))
}

fn named_or_counted(labels: &[&str], all: usize) -> String {
    match labels.len() {
        count if count <= NAMED => listed(labels),
        count if count == all => format!("any of the {}", counted(count, "condition")),
        count => format!("{count} others"),
    }
}

/// A proven difference in % of the baseline, as a ratio to it, or in the metric's unit.
fn size(row: &ComparisonRow, unit: &str) -> String {
    let comparison = &row.comparison;
    let positive = |(low, high): (f64, f64)| (low.abs().min(high.abs()), low.abs().max(high.abs()));
    let in_percent = |share: f64| format!("{} %", percent(share));
    match (comparison.relative, comparison.relative_interval) {
        (Some(relative), Some(ends)) => {
            let measured = as_measured(relative, comparison.unadjusted_relative, in_percent);
            let interval = range(Some(positive(ends)), percent);
            let size = percent(relative.abs());
            return format!("{size} % {} {} ({interval} %{measured})", row.verdict(), with(row));
        }
        (Some(relative), None) if comparison.resolution.is_some() => {
            return format!("{} % {} {}", percent(relative.abs()), row.verdict(), with(row));
        }
        _ => {}
    }
    if let Some(Ratio { value, interval }) = comparison.ratio {
        let interval = range(Some(interval), times);
        let quality = in_brackets(row.quality);
        return format!("{} times as high{quality} {} ({interval}, log scale)", times(value), with(row));
    }
    let in_unit = |value: f64| with_unit(figure(value), unit);
    let (size, verdict) = (in_unit(comparison.difference.abs()), row.verdict());
    let interval = comparison.interval.map_or_else(String::new, |ends| {
        let measured = as_measured(comparison.difference, comparison.unadjusted, in_unit);
        format!(" ({}{measured})", with_unit(range(Some(positive(ends)), figure), unit))
    });
    format!("{size} {verdict} {}{interval}", with(row))
}

fn as_measured(stated: f64, measured: Option<f64>, show: impl Fn(f64) -> String) -> String {
    let unsigned = |value: f64| show(value.abs());
    // A correction that rounding hides is not worth a word.
    match measured.map(&unsigned) {
        // The difference is median-unbiased then.
        Some(measured) if measured != unsigned(stated) => {
            format!("; corrected for the looks, {measured} as measured")
        }
        _ => String::new(),
    }
}

fn with(row: &ComparisonRow) -> String {
    // The name "without tso" needs no "with".
    if row.label.starts_with("without ") { row.label.clone() } else { format!("with {}", row.label) }
}
