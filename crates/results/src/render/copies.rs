//! Whether an answer in exact mode depends on how copies are counted: the same comparisons both
//! ways.

use study::{Condition, Copies, Plan};

use crate::render::comparison_row::{ComparisonRow, size};
use crate::render::group::ComparisonGroup;
use crate::words::phrases::levels_without;

/// A sentence for each comparison that was counted both ways, without a full stop: first whether
/// they disagree, then both figures.
pub(crate) fn both_ways(groups: &[ComparisonGroup], plan: &Plan) -> Vec<String> {
    let of = |copies: Copies| {
        groups.iter().flat_map(move |group| {
            let rows = group.rows.iter().map(move |row| (group, row));
            rows.filter(move |(_, row)| condition(plan, row).copies() == copies)
        })
    };
    let sentence = |(group, row): (&ComparisonGroup, &ComparisonRow)| {
        let is_same = |(other_group, other): &(&ComparisonGroup, &ComparisonRow)| {
            other_group.metric == group.metric
                && levels(plan, other) == levels(plan, row)
                && condition(plan, other).workload.name == group.workload
        };
        let (_, other) = of(Copies::Bytes).find(is_same)?;
        let [words, bytes] = [row, other].map(|row| {
            let difference = size(&row.comparison, &group.unit).difference;
            let unit = if row.comparison.relative.is_some() { " %" } else { "" };
            format!("{difference}{unit} ({})", row.comparison.verdict)
        });
        let depends = row.comparison.verdict != other.comparison.verdict;
        let word =
            if depends { "the answer DEPENDS on how copies are counted" } else { "the answer is the same" };
        Some(format!("{}: {word}: {words} with copies by the word, {bytes} by the byte", levels(plan, row)))
    };
    of(Copies::Words).filter_map(sentence).collect()
}

fn condition<'p>(plan: &'p Plan, row: &ComparisonRow) -> &'p Condition {
    &plan.conditions[row.comparison.condition]
}

/// A condition without its way of copying.
fn levels(plan: &Plan, row: &ComparisonRow) -> String {
    levels_without("copies", &condition(plan, row).levels)
}
