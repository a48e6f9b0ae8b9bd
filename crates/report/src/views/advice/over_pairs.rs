//! Advice over machines as blocks.

use results::advice::{ExceptedPair, FleetAdvice, FleetAdviceRow};
use results::{counted, figure, first_of, listed, metric_words, percent};
use stats::signed;

use super::phrase;
use crate::cells;
use crate::document::{Block, Cell, Table};
use crate::views::fleet::ONE_PAIR;

// The largest number of pairs that are named, unless all are asked for.
const TOLD: usize = 8;

/// The recommendations that hold over machines, the pairs to which they do not apply, and the
/// commands; if `is_whole` also the switches that are not recommended.
pub fn fleet_advice(advice: &FleetAdvice, is_whole: bool) -> Vec<Block<'static>> {
    let pairs = counted(advice.pairs, "pair");
    let mut blocks = vec![Block::Text(format!("{} on {pairs}: {}", advice.name, advice.question))];
    let (recommended, open): (Vec<&FleetAdviceRow>, Vec<&FleetAdviceRow>) =
        advice.rows.iter().partition(|row| row.is_recommended);
    let confidence = stats::confidence(advice.confidence);
    match table(&recommended).filled() {
        Some(table) => {
            blocks.push(Block::Table(
                table.titled(format!("Recommendations over machines, {confidence} % intervals together")),
            ));
        }
        None => {
            blocks.push(Block::Text("No switch is proven to serve a goal over machines.".to_owned()));
        }
    }
    let most = if is_whole { usize::MAX } else { TOLD };
    let item = |row: &&FleetAdviceRow| {
        let commands = phrase::commands_at(row.side, &row.apply, &row.undo);
        let commands = commands.into_iter().map(|(name, command)| (name, Cell::Command(command)));
        (sentence(row, most), commands.collect())
    };
    if !recommended.is_empty() {
        blocks.push(Block::Items(recommended.iter().map(item).collect()));
    }
    if is_whole {
        let open = table(&open).filled();
        blocks.extend(open.map(|table| Block::Table(table.titled("Not proven over machines"))));
    } else if !open.is_empty() {
        let open = counted(open.len(), "row");
        blocks.push(Block::Text(format!("(--wide shows {open} more, which are not proven over machines)")));
    }
    if advice.pairs == 1 {
        blocks.push(Block::Text(ONE_PAIR.to_owned()));
        return blocks;
    }
    blocks.push(Block::Text(format!(
        "Each pair counts once: its change is one value, and intervals have degrees of freedom by pairs. All rows hold together with {confidence} % confidence (Bonferroni), and so do the pairs of a row (Holm)."
    )));
    blocks
}

fn table(rows: &[&FleetAdviceRow]) -> Table {
    let head = ["traffic", "goal", "set", "on the", "over machines", "interval", "holds", "metric"];
    let rows = rows.iter().map(|row| {
        let shown = |value: f64| shown(row, value);
        let mean = &row.sizes.mean;
        let trade_off = if row.loses.is_empty() { "" } else { ", trade-off" };
        cells![
            traffic(row),
            row.goal.word(),
            phrase::set(&row.factors, &row.to),
            row.side.map_or("both", |side| side.word()),
            Cell::measure(format!("{} {}{trade_off}", shown(mean.estimate), row.unit)),
            Cell::interval(mean.interval, shown),
            holds(row),
            metric_words(&row.metric.into()),
        ]
    });
    Table::with_rows(head, rows).optional(&[7, 5])
}

fn shown(row: &FleetAdviceRow, value: f64) -> String {
    signed(if row.unit == "%" { percent(value) } else { figure(value) })
}

fn traffic(row: &FleetAdviceRow) -> String {
    let levels: String = row.levels.iter().map(|level| format!(", {level}")).collect();
    format!("{}, {}{levels}", row.scenario, row.workload)
}

fn holds(row: &FleetAdviceRow) -> String {
    format!("{} of {}", row.sizes.count.holds, row.pairs.len())
}

/// `set gro on at the receiver for throughput of veth, tcp_stream: holds on 3 of 4 pairs; not on
/// rack3 (a tie there)`.
fn sentence(row: &FleetAdviceRow, most: usize) -> String {
    let (set, place) = (phrase::set(&row.factors, &row.to), phrase::place(row.side));
    let told = |one: &ExceptedPair| format!("{} ({})", one.name, one.why);
    let except: Vec<String> = row.except.iter().map(told).collect();
    let except = match except.is_empty() {
        true => String::new(),
        false => format!("; not on {}", first_of(&except, most)),
    };
    let losing: Vec<String> = row.loses.iter().map(|metric| metric_words(&(*metric).into())).collect();
    let losing = match losing.is_empty() {
        true => String::new(),
        false => format!("; it loses in {}", listed(&losing)),
    };
    let (goal, traffic, holds) = (row.goal, traffic(row), holds(row));
    format!("set {set} {place} for {goal} of {traffic}: holds on {holds} pairs{except}{losing}")
}
