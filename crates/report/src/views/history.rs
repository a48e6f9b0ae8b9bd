//! A metric over stored studies.

use crate::document::Block;
use crate::document::{Table, TitledTable, Tone};
use results::{
    HistorySeries, StudyDifference, StudyHistory, capital, counted, figure, first_of, percent, plain,
};

// The largest number of differences between environments, unless all are asked for.
const TOLD: usize = 3;

/// Each series with its changes, as sentences and by study; unless `is_whole`, of several only
/// those that changed.
#[must_use]
pub fn history(found: &StudyHistory, is_whole: bool) -> Vec<Block<'static>> {
    let ends = match found.studies.as_slice() {
        [first, .., last] => format!(", {} to {}", first.label, last.label),
        [one] => format!(", {}", one.label),
        [] => String::new(),
    };
    let order = found.ordered().trim_start_matches("studies ");
    let studies = counted(found.studies.len(), "study");
    let mut blocks = vec![Block::Text(format!("History of {}: {studies} {order}{ends}", found.name))];
    if found.series.len() > 1 {
        blocks.push(Block::Table(summary(found)));
    }
    let is_shown = |series: &&HistorySeries| is_whole || found.series.len() == 1 || series.is_changed();
    let shown: Vec<&HistorySeries> = found.series.iter().filter(is_shown).collect();
    for series in &shown {
        blocks.push(Block::Heading(series.title()));
        blocks.extend(series.sentences().iter().map(|sentence| Block::Text(format!("{sentence}."))));
        blocks.push(Block::Table(studies_of(found, series)));
    }
    if shown.len() < found.series.len() {
        let hidden = found.series.len() - shown.len();
        blocks.push(Block::Text(format!("(--wide or --condition shows {hidden} more)")));
    }
    blocks.extend(found.truth.map(|truth| Block::Text(format!("({truth})"))));
    blocks.push(environments(found, is_whole));
    blocks.extend(found.left_out.iter().map(|one| {
        let number = format!("study {}", one.study);
        let tagged = if one.label == number { String::new() } else { format!(" ({})", one.label) };
        Block::Text(format!("Left out: {number}{tagged}: {}.", one.why))
    }));
    let method = found.method.iter().filter(|_| is_whole);
    blocks.extend(method.map(|sentence| Block::Text(format!("Method: {sentence}."))));
    blocks.extend(found.notes.iter().map(|note| Block::Text(format!("Note: {note}."))));
    blocks
}

/// A row for each series.
fn summary(found: &StudyHistory) -> TitledTable {
    let mut table =
        Table::new(&["condition", "metric", "studies", "newest", "diff. %", "newest is", "changes"])
            .named(0)
            .optional(&[2, 1, 3]);
    for series in &found.series {
        let newest = series.newest.as_ref();
        let value = series.points.last().map_or_else(String::new, |point| {
            format!("{} {}", figure(point.mean), plain(series.unit)).trim_end().to_owned()
        });
        let relative = newest.and_then(|newest| newest.expected.relative);
        let verdict = newest.map_or("-", |newest| newest.quality.unwrap_or(newest.expected.verdict.as_str()));
        let changes = match &series.too_few {
            Some(_) => "too few".to_owned(),
            None => series.changes.len().to_string(),
        };
        table.row(&[
            &series.condition,
            series.metric.key,
            &series.points.len().to_string(),
            &value,
            &relative.map_or_else(|| "-".to_owned(), |one| stats::signed(percent(one))),
            verdict,
            &changes,
        ]);
        table.paint(5, newest.map(|newest| Tone::from_verdict(newest.expected.verdict, Some(series.better))));
    }
    TitledTable { title: "The newest study, and changes of level".to_owned(), table, notes: Vec::new() }
}

/// A row for each study of a series.
fn studies_of(found: &StudyHistory, series: &HistorySeries) -> TitledTable {
    let (name, unit) = series.quantity();
    let value = if unit.is_empty() { "value" } else { unit };
    let interval = format!("{} % interval", stats::confidence(series.confidence));
    let head = ["study", "tag", "started (UTC)", value, &interval, "level", "change", "environment"];
    let mut table = Table::new(&head).optional(&[2, 7, 4]);
    for (place, point) in series.points.iter().enumerate() {
        let level = series.levels.iter().position(|level| level.first == place);
        let change = level.and_then(|level| series.changes.get(level.checked_sub(1)?));
        let member = &found.studies[point.place];
        let ends = |(low, high)| format!("{} to {}", figure(low), figure(high));
        table.row(&[
            &point.study.to_string(),
            if member.label.starts_with("study ") { "" } else { &member.label },
            &member.started,
            &figure(point.mean),
            &point.interval.map_or_else(|| "-".to_owned(), ends),
            &level.map_or_else(String::new, |level| figure(series.levels[level].mean)),
            change.map_or("", |change| &change.size),
            if found.marks(series, place).is_empty() { "" } else { "differs" },
        ]);
    }
    TitledTable { title: format!("{}, by study", capital(&name)), table, notes: Vec::new() }
}

/// The differences between each study and the one before it.
fn environments(found: &StudyHistory, is_whole: bool) -> Block<'static> {
    let differing = found.studies.iter().filter(|member| !member.differs.is_empty());
    let lines: Vec<String> = differing
        .map(|member| {
            let told = |one: &StudyDifference| {
                let [before, after] = one.values();
                format!("{} ({before} → {after})", one.what)
            };
            let all: Vec<String> = member.differs.iter().map(told).collect();
            format!("{}: {}", member.label, first_of(&all, if is_whole { all.len() } else { TOLD }))
        })
        .collect();
    if lines.is_empty() {
        return Block::Text("Environments: nothing that is recorded of them differs.".to_owned());
    }
    let title = "Environments that differ from those of the study before, which may be the cause:";
    Block::Fold(title.to_owned(), vec![Block::List(lines)])
}
