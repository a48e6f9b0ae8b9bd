//! The answer to a study's question, in a sentence drawn from the comparisons.

use stats::{Margin, Verdict};

use crate::group::{Group, level};
use crate::number::{counted, figure, percent};

/// One sentence for one comparison: what is proven with its size, then what is not.
pub(crate) fn answer(group: &Group) -> String {
    let baseline = group.baseline.as_deref().unwrap_or("one condition");
    let Some(first) = group.rows.first() else {
        return format!("only {baseline} was measured: there is nothing to compare it with.");
    };
    let metric = words(&group.metric);
    let mut proven: Vec<String> = Vec::new();
    let mut equivalent: Vec<String> = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    for row in &group.rows {
        let comparison = &row.comparison;
        if let (Verdict::Equivalent, Some(margin)) = (comparison.verdict, comparison.margin) {
            equivalent.push(format!("{} ({})", row.label, margin_words(margin, &group.unit)));
            continue;
        }
        if !row.is_proven() {
            open.push(&row.label);
            continue;
        }
        proven.push(match (comparison.relative, comparison.relative_interval) {
            (Some(relative), Some((low, high))) => {
                let (low, high) = (low.abs().min(high.abs()), low.abs().max(high.abs()));
                format!(
                    "{} % {} {} ({} to {} %)",
                    percent(relative.abs()),
                    comparison.verdict,
                    with(&row.label),
                    percent(low),
                    percent(high)
                )
            }
            (Some(relative), None) if comparison.resolution.is_some() => {
                format!("{} % {} {}", percent(relative.abs()), comparison.verdict, with(&row.label))
            }
            _ => format!("{} {}", comparison.verdict, with(&row.label)),
        });
    }
    // A plain number has the unit 1, which nobody says.
    let unit = if group.unit == "1" { "" } else { group.unit.as_str() };
    let mean = format!("{} {unit}", figure(first.comparison.baseline_mean));
    let base = format!("against {baseline} ({})", mean.trim_end());
    let boots = counted(first.comparison.boots, "boot");
    let mut parts = Vec::new();
    if !proven.is_empty() {
        parts.push(format!("{metric} is {}", list(&proven)));
    }
    if !equivalent.is_empty() {
        parts.push(format!("{metric} is equivalent for {}", list(&equivalent)));
    }
    if !open.is_empty() {
        // Where a margin was stated, neither of the two things that could have been shown was.
        let has_margin = group.rows.iter().any(|row| row.comparison.margin.is_some());
        let what = if has_margin { "neither a difference nor equivalence" } else { "no difference" };
        let subject = if parts.is_empty() { format!("{what} in {metric}") } else { what.to_owned() };
        parts.push(format!("{subject} is proven for {}", list(&open)));
    }
    if let Some(resolution) = group.resolution {
        return format!("{base}, {}; counted, to {resolution} %, in {boots}.", parts.join("; "));
    }
    format!("{base}, {}; {} % intervals from {boots}.", parts.join("; "), level(group.level))
}

/// A condition as what a value is seen with; one whose name says what it is without is its own word.
fn with(label: &str) -> String {
    if label.starts_with("without ") { label.to_owned() } else { format!("with {label}") }
}

fn margin_words(margin: Margin, unit: &str) -> String {
    match margin {
        Margin::Percent(percent) => format!("within {percent} %"),
        Margin::Absolute(size) => format!("within {size} {unit}"),
    }
}

/// A metric's key as it is spoken.
pub(crate) fn words(metric: &str) -> String {
    // What is per a unit of work ends with that unit.
    let per = |key: &str, of: &str| key.replace(&format!("{of}_"), &format!("{of}_per_"));
    let plain = |key: &str| per(&per(key, "instructions"), "service_demand").replace('_', " ");
    match metric.split_once('.') {
        Some((side, rest)) => format!("the {side}'s {}", plain(rest)),
        None => plain(metric),
    }
}

pub(crate) fn list<S: AsRef<str>>(items: &[S]) -> String {
    match items {
        [] => String::new(),
        [one] => one.as_ref().to_owned(),
        [init @ .., last] => {
            let init: Vec<&str> = init.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", init.join(", "), last.as_ref())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_read_as_people_write_them() {
        assert_eq!(list::<&str>(&[]), "");
        assert_eq!(list(&["a"]), "a");
        assert_eq!(list(&["a", "b", "c"]), "a, b and c");
    }

    #[test]
    fn metrics_read_as_words() {
        assert_eq!(words("receiver.cpu_softirq"), "the receiver's cpu softirq");
        assert_eq!(words("latency_p99"), "latency p99");
    }
}
