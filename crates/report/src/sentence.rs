//! The answer to a study's question, in a sentence drawn from the comparisons.

use crate::group::Group;
use crate::number::{counted, figure, percent};

/// One sentence for one comparison: what is proven with its size, then what is not.
pub(crate) fn answer(group: &Group) -> String {
    let Some(first) = group.rows.first() else {
        return format!("only {} was measured: there is nothing to compare it with.", group.baseline);
    };
    let metric = words(group.metric);
    let mut proven: Vec<String> = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    for row in &group.rows {
        let comparison = &row.comparison;
        if !row.is_proven() {
            open.push(&row.label);
            continue;
        }
        proven.push(match (comparison.relative, comparison.relative_interval) {
            (Some(relative), Some((low, high))) => {
                let (low, high) = (low.abs().min(high.abs()), low.abs().max(high.abs()));
                format!(
                    "{} % {} with {} ({} to {} %)",
                    percent(relative.abs()),
                    comparison.verdict,
                    row.label,
                    percent(low),
                    percent(high)
                )
            }
            _ => format!("{} with {}", comparison.verdict, row.label),
        });
    }
    let base =
        format!("against {} ({} {})", group.baseline, figure(first.comparison.baseline_mean), group.unit);
    let boots = counted(first.comparison.boots, "boot");
    match (proven.is_empty(), open.is_empty()) {
        (false, true) => format!("{base}, {metric} is {}; 95 % intervals from {boots}.", list(&proven)),
        (false, false) => format!(
            "{base}, {metric} is {}; no difference is proven for {}; 95 % intervals from {boots}.",
            list(&proven),
            list(&open)
        ),
        _ => format!("{base}, no difference in {metric} is proven for {} with {boots}.", list(&open)),
    }
}

fn words(metric: &str) -> String {
    match metric.split_once('.') {
        Some((side, rest)) => format!("the {side}'s {}", rest.replace('_', " ")),
        None => metric.replace('_', " "),
    }
}

fn list<S: AsRef<str>>(items: &[S]) -> String {
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
