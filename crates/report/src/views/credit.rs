//! The credit of each offload of a design.

use results::{
    Credit, CreditPart, Credits, MissingState, SwitchingOrders, change_words, counted, distinct, figure,
    gain_words, listed, metric_heading, metric_name, metric_words, percent, plain,
};
use stats::effects::Estimated;
use stats::signed;
use study::{DesignKind, Name};

use crate::cells;
use crate::document::{Block, Cell, Table};

// Up to this number of combinations each has a table and sentences of its own.
const FEW: usize = 4;

// The most unreachable states that are listed; the JSON has all.
const LISTED: usize = 12;

pub(super) fn credit(credits: &Credits, is_whole: bool) -> Vec<Block<'static>> {
    let combinations: Vec<&[Credit]> = combinations(credits).collect();
    // Of many combinations a line each: nobody reads a table for each on one screen.
    let is_overview = !is_whole && combinations.len() > FEW;
    let mut blocks = Vec::new();
    if is_overview {
        blocks.extend(overview(credits, &combinations));
    } else {
        for combination in combinations {
            blocks.extend(tables(credits, combination, is_whole));
            blocks.push(Block::List(sentences(combination)));
        }
    }
    let dropped = credits.dropped.iter().map(|one| format!("Not in the design: {}: {}", one.label, one.why));
    blocks.extend(Block::list(dropped.chain(unreachable(credits, is_overview)).collect()));
    blocks
}

pub(crate) fn combinations(credits: &Credits) -> impl Iterator<Item = &[Credit]> {
    credits.credits.chunk_by(|one, other| (&one.workload, &one.at) == (&other.workload, &other.at))
}

fn design(credits: &Credits) -> &'static str {
    match credits.design {
        DesignKind::Factorial => "factorial, Shapley shares",
        DesignKind::Fractional => "fraction of a factorial, main effects",
        DesignKind::Ladder => "ladder",
    }
}

/// `tcp_stream mtu=1500`.
fn place(credit: &Credit) -> String {
    format!("{} {}", credit.workload, credit.at).trim_end().to_owned()
}

/// The number of orders in the average of shares, if fewer than planned: ` from 7 of 24 orders`.
fn from_orders(combination: &[Credit]) -> String {
    let orders = combination.iter().filter_map(|credit| credit.orders.as_ref());
    let mut lacking: Vec<String> = orders.filter_map(SwitchingOrders::lacking).collect();
    lacking.dedup();
    if lacking.is_empty() { String::new() } else { format!(" from {}", listed(&lacking)) }
}

fn tables(credits: &Credits, metrics: &[Credit], is_whole: bool) -> Vec<Block<'static>> {
    let title = format!("Credit ({}{}), {}", design(credits), from_orders(metrics), place(&metrics[0]));
    let noted = |table: Table| Block::Table(table.noted(credits.truth.map(str::to_owned)));
    // Sentences without a table need the title too.
    let first = match side_by_side(metrics) {
        Some(table) => noted(table.titled(title)),
        None => Block::Text(format!("{title}:")),
    };
    let effects = metrics.iter().filter(|_| is_whole).map(effects).filter_map(Table::filled).map(noted);
    [first].into_iter().chain(effects).collect()
}

/// The metrics of one combination side by side, in % of the base; `None` without a part.
fn side_by_side(metrics: &[Credit]) -> Option<Table> {
    let confidence = format!("{} % interval", stats::confidence(metrics[0].level));
    let first = metrics.iter().find(|credit| !credit.parts.is_empty())?;
    let base = first.base()?;
    let (mut head, mut under) = (vec!["part".to_owned()], vec![String::new()]);
    for name in metrics.iter().map(|credit| metric_heading(&credit.metric.into())) {
        head.extend([name.clone(), confidence.clone()]);
        under.extend([format!("% of {base}"), name]);
    }
    let columns: Vec<usize> = (3..head.len()).rev().collect();
    let mut table = Table::new(head).units(under).optional(&columns);
    let mut row = |name: &str, change: &dyn Fn(&Credit) -> Option<&Estimated>| {
        let mut cells = cells![&Name::from(name)];
        cells.extend(metrics.iter().flat_map(|credit| sized(change(credit), credit.unit)));
        table.row(cells);
    };
    for name in first.parts.iter().map(|part| &part.name) {
        row(name, &|credit| credit.parts.iter().find(|part| part.name == *name).map(|part| &part.change));
    }
    // The whole has the base of the parts only where these are gains over off.
    if base == "off" && metrics.iter().any(|credit| credit.whole.is_some()) {
        row("all on", &|credit| credit.whole.as_ref().map(|whole| &whole.gain));
    }
    Some(table)
}

/// A change in %, or in the metric's unit if there is no percentage.
fn sized(change: Option<&Estimated>, unit: &str) -> [Cell; 2] {
    match change {
        Some(change) if change.relative.is_none() => {
            let shown = |value| format!("{} {}", signed(figure(value)), plain(unit)).trim_end().to_owned();
            [Cell::with_unit(signed(figure(change.value)), unit), Cell::interval(change.interval, shown)]
        }
        Some(change) => in_percent(change),
        None => [Cell::Missing, Cell::Missing],
    }
}

fn in_percent(change: &Estimated) -> [Cell; 2] {
    [change.relative.map(Cell::change).into(), Cell::signed_interval(change.relative_interval, percent)]
}

/// The sentences of the metrics, what was not measured, then the notes, each once.
fn sentences(metrics: &[Credit]) -> Vec<String> {
    let missing = |MissingState { state, why, .. }: &MissingState| format!("Not measured: {state} ({why}).");
    let sentences = metrics.iter().flat_map(|credit| &credit.sentences).map(|one| format!("{one}."));
    let missing = metrics.iter().flat_map(|credit| &credit.missing).map(missing);
    let remarks = metrics.iter().flat_map(|credit| &credit.remarks).map(|one| format!("Note: {one}."));
    distinct(sentences.chain(missing).chain(remarks))
}

fn effects(credit: &Credit) -> Table {
    let confidence = format!("{} % interval", stats::confidence(credit.level));
    let unit = plain(credit.unit);
    let rows = credit.effects.iter().map(|view| {
        let [relative, its_interval] = in_percent(&view.effect);
        let size = Cell::Number(signed(figure(view.effect.value)));
        let interval = Cell::signed_interval(view.effect.interval, figure);
        cells![view.name.as_str(), size, interval, relative, its_interval]
    });
    let units = ["", unit, unit, "% of the mean of all states", "%"];
    Table::with_rows(["effect", "size", &confidence, "size", &confidence], rows)
        .units(units)
        .titled(format!("Main effects and interactions: {}", metric_name(&credit.metric.into())))
}

/// In the first metric, the rate; gains as far as they are proven.
fn overview(credits: &Credits, combinations: &[&[Credit]]) -> [Block<'static>; 3] {
    let firsts = || combinations.iter().map(|combination| &combination[0]);
    let line = |credit: &Credit| {
        format!("{}{}: {}", place(credit), from_orders(std::slice::from_ref(credit)), proven_credit(credit))
    };
    let base = match firsts().find_map(Credit::base) {
        Some("off") => "of all off",
        Some(_) => "of the step before, or of the state that is named",
        None => "",
    };
    let first = &combinations[0][0];
    let (level, metric) = (stats::confidence(first.level), metric_words(&first.metric.into()));
    let note = format!(
        "({metric}, in % {base}; each holds with {level} % confidence by itself; --wide shows all, with intervals and CPU)"
    );
    let truth = credits.truth.map(|truth| format!("({truth})"));
    [
        Block::Text(format!("Credit ({}), what is proven:", design(credits))),
        Block::List(firsts().map(line).collect()),
        Block::List([note].into_iter().chain(truth).collect()),
    ]
}

/// `all on +25.3 % over off; tso +17.1 %, gro -45.8 %`.
pub(crate) fn proven_credit(credit: &Credit) -> String {
    if let Some(limit) = &credit.saturated {
        return format!("saturated at the limit of {limit}");
    }
    let whole = credit.whole.as_ref().filter(|whole| credit.is_proven(&whole.gain));
    let whole = whole.map(|whole| format!("all on {}", gain_words(&whole.gain, credit.unit, "off")));
    let mut parts: Vec<_> = credit.parts.iter().filter(|part| credit.is_proven(&part.change)).collect();
    parts.sort_by(|one, other| other.change.value.abs().total_cmp(&one.change.value.abs()));
    let in_words = |part: &&CreditPart| format!("{} {}", part.name, change_words(&part.change, credit.unit));
    let parts: Vec<String> = parts.iter().map(in_words).collect();
    let parts = (!parts.is_empty()).then(|| parts.join(", "));
    let told: Vec<String> = whole.into_iter().chain(parts).collect();
    if told.is_empty() { "nothing".to_owned() } else { told.join("; ") }
}

/// The states that cannot be reached, because some switches depend on others.
fn unreachable(credits: &Credits, is_overview: bool) -> Vec<String> {
    let count = credits.unreachable.len();
    if is_overview && count > 0 {
        return vec![format!(
            "Left out: {} that cannot be reached, because some switches depend on others (--wide lists them)",
            counted(count, "state")
        )];
    }
    let state = |on: &[String]| match on {
        [] => "all off".to_owned(),
        on => format!("only {} on", listed(on)),
    };
    let states = credits.unreachable.iter();
    let states = states.map(|one| format!("{} reads back as {}", state(&one.asked), state(&one.reads)));
    let mut lines: Vec<String> = states.take(LISTED).collect();
    if !lines.is_empty() {
        lines.insert(0, "States that cannot be reached:".to_owned());
    }
    if count > LISTED {
        lines.push(format!("and {} more", count - LISTED));
    }
    lines
}
