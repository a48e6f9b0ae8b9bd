//! A metric over stored studies.

use results::{HistorySeries, StudyDifference, StudyHistory, capital, counted, figure, first_of};
use study::Name;

use crate::cells;
use crate::document::{Block, Cell, Table};

// The largest number of differences between environments, unless all are asked for.
const TOLD: usize = 3;

/// Each series with its changes, as sentences and by study; unless `is_whole`, of several only
/// those that changed.
pub fn history(found: &StudyHistory, is_whole: bool) -> Vec<Block<'static>> {
    let ends = match found.studies.as_slice() {
        [first, .., last] => format!(", {} to {}", first.label, last.label),
        [one] => format!(", {}", one.label),
        [] => String::new(),
    };
    let (studies, order) = (counted(found.studies.len(), "study"), found.order);
    let mut blocks = vec![Block::Text(format!("History of {}: {studies} by {order}{ends}", found.name))];
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

fn summary(found: &StudyHistory) -> Table {
    let row = |series: &HistorySeries| {
        let value = series.points.last();
        let newest = series.newest.as_ref().map(|newest| &newest.expected);
        let verdict = series.newest.as_ref().map(|newest| {
            let words = newest.quality.unwrap_or(newest.expected.verdict.as_str());
            Cell::verdict(words, newest.expected.verdict, Some(series.better))
        });
        let too_few = series.too_few.as_ref().map(|_| Cell::from("too few"));
        cells![
            &Name::from(series.condition.as_str()),
            series.metric.key,
            series.points.len(),
            value.map_or(Cell::EMPTY, |point| Cell::with_unit(figure(point.mean), series.unit)),
            newest.and_then(|newest| newest.relative).map(Cell::change),
            verdict,
            too_few.unwrap_or(series.changes.len().into()),
        ]
    };
    let head = ["condition", "metric", "studies", "newest", "diff. %", "newest is", "changes"];
    let table = Table::with_rows(head, found.series.iter().map(row)).optional(&[2, 3]);
    table.titled("The newest study, and changes of level")
}

/// The studies of a series, oldest first.
pub(super) fn studies_of(found: &StudyHistory, series: &HistorySeries) -> Table {
    let (name, unit) = series.quantity();
    let value = if unit.is_empty() { "value" } else { unit };
    let interval = format!("{} % interval", stats::confidence(series.confidence));
    let head = ["study", "tag", "started (UTC)", value, &interval, "level", "change", "environment"];
    let rows = series.points.iter().enumerate().map(|(place, point)| {
        let level = series.levels.iter().position(|level| level.first == place);
        let change = level.and_then(|level| series.changes.get(level.checked_sub(1)?));
        let member = &found.studies[point.place];
        cells![
            point.study,
            if member.label.starts_with("study ") { "" } else { member.label.as_str() },
            Cell::measure(&member.started),
            point.mean,
            Cell::interval(point.interval, figure),
            level.map_or(Cell::EMPTY, |level| series.levels[level].mean.into()),
            change.map_or(Cell::EMPTY, |change| Cell::measure(&change.size)),
            if found.differs(series, place) { "differs" } else { "" },
        ]
    });
    Table::with_rows(head, rows).optional(&[2, 7, 4]).titled(format!("{}, by study", capital(&name)))
}

fn environments(found: &StudyHistory, is_whole: bool) -> Block<'static> {
    let differing = found.studies.iter().filter(|member| !member.differs.is_empty());
    let lines: Vec<String> = differing
        .map(|member| {
            let in_words = |one: &StudyDifference| {
                let [before, after] = one.values();
                format!("{} ({before} → {after})", one.what)
            };
            let all: Vec<String> = member.differs.iter().map(in_words).collect();
            format!("{}: {}", member.label, first_of(&all, if is_whole { all.len() } else { TOLD }))
        })
        .collect();
    let title = "Environments that differ from those of the study before, which may be the cause:";
    let nothing = || Block::Text("Environments: nothing that is recorded of them differs.".to_owned());
    Block::titled_list(title, lines).unwrap_or_else(nothing)
}
