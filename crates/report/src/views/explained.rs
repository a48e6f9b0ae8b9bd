//! The explanation of a difference by its parts, as the rows of a table and a sentence.

use crate::document::Table;
use results::{beyond_rounding, counted, figure, listed, percent, range};
use stats::parts::Explained;
use stats::{Comparison, Verdict, signed};

/// A table of parts, each with its name. `part`: the heading of the names.
pub(super) fn table<'e>(
    part: &str,
    explained: &Explained,
    rows: impl IntoIterator<Item = (&'e str, &'e Comparison)>,
) -> Table {
    let heads = cells([part, "baseline", "this", "diff.", "share %", "interval", "verdict"], explained);
    let verdict = heads.len() - 1;
    let mut table = Table::new(&heads).optional(&[1, 2, 4, verdict - 1]).uncut(&[0, 3, verdict]);
    for (name, one) in rows {
        row(&mut table, name, one, explained);
    }
    table
}

/// All cells, without the interval where all are judged as counts that repeat.
fn cells<'c>(all: [&'c str; 7], explained: &Explained) -> Vec<&'c str> {
    let [part, baseline, this, difference, share, interval, verdict] = all;
    let Explained { whole, parts, unexplained } = explained;
    let judged_by_interval =
        [whole, unexplained].into_iter().chain(parts).any(|one| one.resolution.is_none());
    let interval = judged_by_interval.then_some(interval);
    [part, baseline, this, difference, share].into_iter().chain(interval).chain([verdict]).collect()
}

/// A row: the difference of a part, and its share of the difference of the whole.
fn row(table: &mut Table, part: &str, one: &Comparison, explained: &Explained) {
    let whole = &explained.whole;
    let shown = |value: f64| figure(beyond_rounding(value, whole.baseline_mean));
    let [baseline, this] = [one.baseline_mean, one.mean].map(shown);
    let (difference, share) = (signed(shown(one.difference)), share(one, whole));
    let interval = range(one.interval, |end| signed(shown(end)));
    table.row(&cells([part, &baseline, &this, &difference, &share, &interval, verdict(one)], explained));
}

/// The places of the parts, those first that explain most.
pub(super) fn ranked(explained: &Explained) -> Vec<usize> {
    let mut ranked: Vec<usize> = (0..explained.parts.len()).collect();
    let size = |place: usize| explained.parts[place].difference.abs();
    ranked.sort_by(|one, other| size(*other).total_cmp(&size(*one)));
    ranked
}

/// Whether the whole differs, and which of its parts: `the whole takes +347.3 instructions; proven
/// to differ: …`. `whole`, `part`, `unit`: their names.
pub(super) fn answer(
    explained: &Explained,
    names: &[String],
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
            format!("{whole} takes {size} {unit}, {}", found.gap.map_or("without an interval", gap_words))
        }
        _ => format!("no difference of {whole} is proven ({size} {unit})"),
    };
    let differs = |place: &usize| matches!(explained.parts[*place].verdict, Verdict::Higher | Verdict::Lower);
    let proven = ranked(explained).into_iter().filter(differs);
    let named: Vec<String> = proven
        .map(|place| format!("{} ({})", names[place], shown(explained.parts[place].difference)))
        .collect();
    let parts = match named.as_slice() {
        [] if names.is_empty() => format!("no {part} is judged"),
        [] => format!("no {part} is proven to differ"),
        named => format!("proven to differ: {}", listed(named)),
    };
    format!("{changed}; {parts}; {of_boots}")
}

/// The share of a difference in that of the whole; a dash if there is none to be explained.
fn share(one: &Comparison, whole: &Comparison) -> String {
    match whole.verdict {
        Verdict::NoDifferenceProven | Verdict::Equivalent => "-".to_owned(),
        _ if whole.difference == 0.0 => "-".to_owned(),
        _ => percent(100.0 * beyond_rounding(one.difference, whole.baseline_mean) / whole.difference),
    }
}

fn verdict(one: &Comparison) -> &'static str {
    match one.verdict {
        Verdict::Higher => "more",
        Verdict::Lower => "less",
        Verdict::NoDifferenceProven => "not proven",
        verdict => verdict.as_str(),
    }
}

fn gap_words(gap: stats::Gap) -> &'static str {
    match gap {
        stats::Gap::OneBootInCommon | stats::Gap::OneBoot => {
            "without an interval, which needs 2 boots or more"
        }
        gap => gap.as_str(),
    }
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
