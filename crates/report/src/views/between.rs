//! Two stored studies beside each other.

use results::{
    BetweenStudies, ComparisonGroup, StudyRef, first_of, metric_name, no_verdicts, plain, short_verdict,
};
use study::Name;

use super::answer::lead;
use crate::cells;
use crate::document::{Block, Cell, Table};

// The largest number of differences and labels, unless all are asked for.
const TOLD: usize = 8;

/// The answer, the differences of environments, and each metric's table; all if `is_whole`.
pub fn between(found: &BetweenStudies, is_whole: bool) -> Vec<Block<'static>> {
    let most = if is_whole { usize::MAX } else { TOLD };
    let head = format!("{} against {}", found.study.description(), found.baseline.description());
    let unequal = no_verdicts(found.comparisons.iter().flat_map(|group| &group.unlike));
    let mut blocks: Vec<Block<'static>> = [head].into_iter().chain(unequal).map(Block::Text).collect();
    for group in &found.comparisons {
        blocks.extend(lead(group.answer(), group));
    }
    blocks.push(differences(found, most));
    for group in &found.comparisons {
        blocks.push(Block::Table(conditions(found, group)));
    }
    for (head, labels) in [
        (format!("Only in {}", named(&found.baseline)), &found.only_in_baseline),
        (format!("Only in {}", named(&found.study)), &found.only_in_study),
        ("Not measured in both".to_owned(), &found.not_measured),
    ] {
        if !labels.is_empty() {
            blocks.push(Block::Text(format!("{head}: {}.", first_of(labels, most))));
        }
    }
    let method = found.method.iter().filter(|_| is_whole);
    blocks.extend(method.map(|sentence| Block::Text(format!("Method: {sentence}."))));
    blocks.extend(found.notes.iter().map(|note| Block::Text(format!("Note: {note}."))));
    blocks
}

fn named(study: &StudyRef) -> String {
    format!("study {}", study.study)
}

fn differences(found: &BetweenStudies, most: usize) -> Block<'static> {
    if found.differences.is_empty() {
        return Block::Text("Environments: nothing that is recorded of them differs.".to_owned());
    }
    let mut table = Table::new(["differs", &named(&found.baseline), &named(&found.study)])
        .titled("The environments differ too, which may be the cause:");
    for one in found.differences.iter().take(most) {
        let [before, after] = one.values();
        table.row(cells![&Name::from(one.what.as_str()), before, after]);
    }
    let hidden = found.differences.len().saturating_sub(most);
    Block::Table(table.noted((hidden > 0).then(|| format!("--wide shows {hidden} more"))))
}

fn conditions(found: &BetweenStudies, group: &ComparisonGroup) -> Table {
    let unit = plain(group.metric.unit());
    let is_percent = group.rows.iter().all(|row| row.comparison.relative.is_some());
    let difference = if is_percent { "diff. %" } else { "difference" };
    let [one, other] = [&found.baseline, &found.study].map(named);
    let rows = group.rows.iter().map(|row| {
        let comparison = &row.comparison;
        let [difference, interval] = Cell::difference(comparison, unit, !is_percent);
        cells![
            &Name::from(row.label.as_str()),
            comparison.baseline_mean,
            comparison.mean,
            difference,
            interval,
            Cell::verdict(short_verdict(comparison, row.quality), comparison.verdict, group.better),
        ]
    });
    let in_unit = if unit.is_empty() { String::new() } else { format!(", {unit}") };
    let is_interval = group.rows.iter().any(|row| row.comparison.interval.is_some());
    let together = if group.rows.len() > 1 { " together" } else { "" };
    let confidence = stats::confidence(found.confidence);
    let intervals = if is_interval { format!("; {confidence} % intervals{together}") } else { String::new() };
    Table::with_rows(["condition", &one, &other, difference, "interval", "verdict"], rows)
        .optional(&[1, 4, 2])
        .titled(format!("{}{in_unit}{intervals}", metric_name(&group.metric)))
        .noted(group.truth.map(str::to_owned))
}
