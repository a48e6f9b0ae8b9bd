//! The explanation of a difference by its parts, as the rows of a table and a sentence.

use results::{beyond_rounding, counted, figure, listed, short_verdict};
use stats::parts::Explained;
use stats::{Comparison, Verdict, signed};

use crate::cells;
use crate::document::{Cell, Table};

/// The table of a whole and its named parts, those first that explain most, and the answer in a
/// sentence. `words`: the whole, a part, and their unit. `rest`: the row of the unexplained.
pub(super) fn explained(
    explained: &Explained,
    names: &[String],
    words: [&str; 3],
    rest: Option<&str>,
    most: usize,
    runs: usize,
) -> (Table, String) {
    let mut ranked: Vec<(&str, &Comparison)> =
        names.iter().map(String::as_str).zip(&explained.parts).collect();
    ranked.sort_by(|(_, one), (_, other)| other.difference.abs().total_cmp(&one.difference.abs()));
    let rest = rest.map(|rest| (rest, &explained.unexplained));
    let others = rest.into_iter().chain([("whole", &explained.whole)]);
    let rows = ranked.iter().copied().take(most).chain(others);
    (table(words[1], explained, rows), answer(explained, &ranked, words, runs))
}

/// `part`: the heading of the names.
fn table<'e>(
    part: &str,
    explained: &Explained,
    rows: impl IntoIterator<Item = (&'e str, &'e Comparison)>,
) -> Table {
    let Explained { whole, parts, unexplained } = explained;
    // Counts that repeat have no interval.
    let has_intervals = [whole, unexplained].into_iter().chain(parts).any(|one| one.resolution.is_none());
    let shown = |value: f64| figure(beyond_rounding(value, whole.baseline_mean));
    let row = |(name, one): (&str, &Comparison)| {
        let [baseline, this] = [one.baseline_mean, one.mean].map(|mean| Cell::Number(shown(mean)));
        let difference = Cell::Number(signed(shown(one.difference)));
        let interval = Cell::interval(one.interval, |end| signed(shown(end)));
        let interval = if has_intervals { interval } else { Cell::EMPTY };
        cells![name, baseline, this, difference, share(one, whole), interval, verdict(one)]
    };
    let heads = [part, "baseline", "this", "diff.", "share %", "interval", "verdict"];
    let table = Table::with_rows(heads, rows.into_iter().map(row));
    table.optional(&[1, 2, 4, 5]).uncut(&[0, 3, 6]).compact()
}

/// Whether the whole differs, and which of its parts: `the whole takes +347.3 instructions; proven
/// to differ: …`.
fn answer(
    explained: &Explained,
    ranked: &[(&str, &Comparison)],
    [whole, part, unit]: [&str; 3],
    runs: usize,
) -> String {
    let found = &explained.whole;
    let of_boots = format!("from {}, {}", counted(found.boots, "boot"), counted(runs, "run"));
    let shown = |value: f64| signed(figure(beyond_rounding(value, found.baseline_mean)));
    let size = shown(found.difference);
    let changed = match found.verdict {
        Verdict::Higher | Verdict::Lower => format!("{whole} takes {size} {unit}"),
        Verdict::Equivalent => format!("{whole} is equivalent ({size} {unit})"),
        Verdict::Inconclusive => {
            let gap = found.gap.map_or("without an interval", stats::Gap::as_str);
            format!("{whole} takes {size} {unit}, {gap}")
        }
        _ => format!("no difference of {whole} is proven ({size} {unit})"),
    };
    let proven = ranked.iter().filter(|(_, one)| matches!(one.verdict, Verdict::Higher | Verdict::Lower));
    let named: Vec<String> =
        proven.map(|(name, one)| format!("{name} ({})", shown(one.difference))).collect();
    let parts = match named.as_slice() {
        [] if ranked.is_empty() => format!("no {part} is judged"),
        [] => format!("no {part} is proven to differ"),
        named => format!("proven to differ: {}", listed(named)),
    };
    format!("{changed}; {parts}; {of_boots}")
}

/// The share of a difference in that of the whole; `None` if there is none to be explained.
fn share(one: &Comparison, whole: &Comparison) -> Option<Cell> {
    let is_open = matches!(whole.verdict, Verdict::NoDifferenceProven | Verdict::Equivalent);
    let share = 100.0 * beyond_rounding(one.difference, whole.baseline_mean) / whole.difference;
    (!is_open && whole.difference != 0.0).then(|| Cell::percent(share))
}

fn verdict(one: &Comparison) -> &'static str {
    // A part is a cost, which has no other meaning.
    let meaning = match one.verdict {
        Verdict::Higher => Some("more"),
        Verdict::Lower => Some("less"),
        _ => None,
    };
    short_verdict(one, meaning)
}

#[cfg(test)]
mod tests {
    use crate::document::Layout;

    use super::*;

    #[test]
    fn what_rounding_left_is_nothing() {
        let whole =
            Comparison { baseline_mean: 8254.375, mean: 8300.0, difference: 45.625, ..Comparison::default() };
        let part = Comparison {
            baseline_mean: 120.0,
            mean: 120.0,
            difference: -4.78e-7,
            interval: Some((-5.1e-7, 4e-8)),
            verdict: Verdict::NoDifferenceProven,
            ..Comparison::default()
        };
        let explained = Explained { whole, parts: vec![part], unexplained: Comparison::default() };
        let text = table("stage", &explained, [("a", &explained.parts[0])]).fit(Layout::WIDE);
        assert!(text.contains("0 to 0") && !text.contains("e-") && !text.contains("0.0000"), "{text}");
    }
}
