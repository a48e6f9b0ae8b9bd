//! The checks of a method: false-positive rates, and turns against separate runs.

use results::{
    BothWays, FalsePositives, WaysOutcome, counted, metric_name, percent, range, spaced_duration, times,
};
use stats::agreement::PercentEstimate;
use study::Name;

use super::method::spread;
use crate::cells;
use crate::document::{Block, Cell, Table};

/// The rate of each method.
pub fn false_positives(found: &FalsePositives) -> Vec<Block<'static>> {
    let mut table = Table::new(["metric", "method", "differences", "rate %", "95 % interval"]).optional(&[2]);
    for metric in &found.metrics {
        for rate in &metric.rates {
            table.row(cells![
                &Name::from(metric.metric.key),
                rate.method.description(),
                Cell::measure(format!("{} of {}", rate.found, rate.of)),
                Cell::percent(rate.rate),
                Cell::interval(Some(rate.interval), percent),
            ]);
        }
    }
    let condition =
        if found.condition.is_empty() { String::new() } else { format!(" ({})", found.condition) };
    let FalsePositives { study, name, .. } = found;
    let experiments = counted(found.experiments, "experiment");
    let boots = counted(found.boots as usize, "boot");
    let title = format!(
        "study {study} ({name}): {experiments} of {boots} each, every one a comparison of a condition with itself{condition}"
    );
    let meaning = "A method with correct 95 % intervals has a rate of 5 %. The interval of the rate is that of the count (Clopper and Pearson): more experiments narrow it.";
    let mut blocks = vec![Block::Table(table.titled(title)), Block::Text(meaning.to_owned())];
    blocks.extend(found.metrics.first().map(|first| {
        let table = spread(&first.spread, first.unit, first.mean, FalsePositives::LEVEL);
        let title = format!("{}, spread of boots and runs", metric_name(&first.metric.into()));
        Block::Table(table.titled(title))
    }));
    blocks
}

/// The differences in turns beside those in runs of their own, and whether both ways agree.
pub fn both_ways(found: &BothWays) -> Vec<Block<'static>> {
    let heads =
        ["condition", "against", "metric", "verdict", "in turns", "in runs", "turns - runs", "boots", "time"];
    let rows = found.comparisons.iter().map(|one| {
        let sized = |value: f64, interval, show: fn(f64) -> String| {
            Cell::measure(format!("{} ({})", show(value), range(Some(interval), show)))
        };
        let shown = |share: PercentEstimate| sized(share.value, share.interval, percent);
        let agreement = one.agreement.as_ref();
        cells![
            &Name::from(one.condition.as_str()),
            &one.baseline,
            one.metric.key,
            one.verdict.word().replace('_', " "),
            agreement.map(|found| shown(found.first)),
            agreement.map(|found| shown(found.second)),
            agreement.map(|found| shown(found.apart)),
            agreement.map(|found| found.boots),
            one.time.map(|(share, interval)| sized(share, interval, times)),
        ]
    });
    let table = Table::with_rows(heads, rows).optional(&[8, 7, 2]);
    let BothWays { study, name, uncounted, .. } = found;
    let uncounted = uncounted.as_ref().map(|part| format!(" (of which {part} are not counted)"));
    let turns = format!("{}{}", spaced_duration(found.alternate.turn), uncounted.unwrap_or_default());
    let title = format!(
        "study {study} ({name}): differences in % of the baseline, measured in the same boots in turns of {turns} and in runs of their own"
    );
    let mut texts = vec![format!(
        "Intervals have {:.0} %; those of turns - runs hold together: where both ways agree on everything, {:.0} % of such checks or fewer find that they disagree (Holm).",
        100.0 * found.level,
        100.0 * (1.0 - found.level)
    )];
    let is_timed = found.comparisons.iter().any(|one| one.time.is_some());
    let time =
        "time: what turns need for an interval as narrow as that of runs, as a share of what runs need.";
    texts.extend(is_timed.then(|| time.to_owned()));
    texts.push(
        match found.outcome() {
            WaysOutcome::Agree => "Turns and runs agree: no difference between them is proven.",
            WaysOutcome::Disagree => {
                "Turns and runs disagree: do not rely on differences of these conditions in turns; write `alternate = \"off\"`, or a longer `alternate` or `settle`. Where a TCP stream has no `socket_buffer`, set one: else its turns share a receive buffer that TCP made as large as any of them needs."
            }
            WaysOutcome::NotCompared => "Not everything was compared both ways: each condition needs two boots of both, and turns that no switch disturbs.",
        }
        .to_owned(),
    );
    [Block::Table(table.titled(title))].into_iter().chain(texts.into_iter().map(Block::Text)).collect()
}
