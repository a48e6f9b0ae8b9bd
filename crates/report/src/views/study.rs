//! A stored study: its answer, its conditions, and where to go from there.

use results::{
    ComparisonGroup, ComparisonRow, ConditionResult, Results, acted_flags, counted, grouped, levels_without,
    listed, machines, plain, programs,
};
use store::{RunStatus, StoredRun};
use study::Copies;
use words::shell_command;

use super::answer::{answer, answers_in_full, facts};
use super::comparison_table::{compared, uncompared};
use super::credit::credit;
use super::means_table::means_table;
use super::method::method;
use super::overview::{is_needed, overview};
use crate::cells;
use crate::chart::ends;
use crate::document::{Block, Cell, Table};

const COMMANDS: usize = 3;

/// The end of a command about a stored study: ` --db FILE`, or empty for the default file.
pub fn database_option(database: &str) -> String {
    if database == "netassay.db" { String::new() } else { format!(" {}", shell_command(["--db", database])) }
}

/// The page at the end of a study. `database`: the name of its file.
pub fn show(results: &Results, database: &str, is_whole: bool) -> Vec<Block<'static>> {
    // The tasks of a fleet print one page after the other.
    let pair = results.stored.row.pair.iter().map(|pair| Block::Heading(format!("Pair {pair}")));
    let mut blocks: Vec<Block<'static>> = pair.collect();
    blocks.push(Block::Text(format!("{}: {}", results.name, results.question)));
    blocks.extend(answer(results));
    if is_whole {
        blocks.push(facts(results));
        blocks.extend(answers_in_full(results));
    }
    let is_overview = is_needed(&results.comparisons);
    if is_overview {
        blocks.extend(overview(&results.comparisons));
    }
    if is_whole || !is_overview {
        blocks.extend(tables(results, is_whole));
    }
    if is_whole && results.has_measurements() {
        let workloads = by_workload(results).into_iter();
        blocks.extend(workloads.map(|(_, conditions)| Block::Table(means_table(results, &conditions))));
        blocks.extend(limits(results).map(Block::Table));
    }
    blocks.extend(results.credit.iter().flat_map(|credits| credit(credits, is_whole)));
    if is_whole {
        blocks.extend(method(&results.comparisons));
    }
    let mut list = cautions(results, is_whole);
    let flags: usize = results.comparisons.iter().map(|group| group.flags.len()).sum();
    if flags > 0 && !is_whole {
        let flags = counted(flags, "data-quality warning");
        list.push(format!("{flags}: netassay compare {}{}", results.study, database_option(database)));
    }
    list.extend(machines(&results.stored).iter().map(|line| format!("Measured on the {line}")));
    let tags = &results.stored.row.tags;
    let tagged = if tags.is_empty() { String::new() } else { format!(", tagged {}", listed(tags)) };
    list.push(format!("Results: study {}{tagged} in {database}", results.study));
    list.extend(commands(results, database, is_whole));
    blocks.push(Block::List(list));
    blocks
}

pub(crate) fn conditions(results: &Results) -> Vec<Block<'static>> {
    let mut blocks: Vec<Block<'static>> = tables(results, false).collect();
    blocks.extend(Block::list(cautions(results, false)));
    if let Some(limits) = limits(results) {
        blocks.push(Block::Fold(limits.title.clone(), vec![Block::Table(limits)]));
    }
    if let Some(credits) = &results.credit {
        blocks.push(Block::Fold("Credit of each offload".to_owned(), credit(credits, false)));
    }
    blocks
}

fn tables(results: &Results, is_whole: bool) -> impl Iterator<Item = Block<'static>> {
    let mut tables = Vec::new();
    if results.has_measurements() {
        for (workload, conditions) in by_workload(results) {
            let groups: Vec<&ComparisonGroup> =
                results.comparisons.iter().filter(|group| group.workload == workload).collect();
            tables.extend(side_by_side(&groups).iter().map(|groups| compared(groups, is_whole)));
            let is_alone = |one: &&ConditionResult| !groups.iter().any(|group| group.has(&one.label));
            let alone: Vec<&ConditionResult> = conditions.into_iter().filter(is_alone).collect();
            if !alone.is_empty() {
                tables.push(uncompared(results, &alone, is_whole));
            }
        }
    } else {
        // Where no run counts, only disturbed ones have figures.
        tables.extend(disturbed_figures(results).filled());
    }
    tables.into_iter().map(Block::Table)
}

fn by_workload(results: &Results) -> Vec<(&str, Vec<&ConditionResult>)> {
    grouped(results.conditions.iter().map(|condition| (condition.workload.as_str(), condition)))
}

/// The comparisons that share a table: one metric and one confidence, and no condition twice.
fn side_by_side<'g>(groups: &[&'g ComparisonGroup]) -> Vec<Vec<&'g ComparisonGroup>> {
    let mut tables: Vec<Vec<&ComparisonGroup>> = Vec::new();
    for group in groups {
        let is_apart = |other: &&ComparisonGroup| {
            (&other.metric, other.level) == (&group.metric, group.level)
                && !group.conditions.iter().any(|one| other.has(&one.name))
        };
        match tables.iter_mut().find(|table| table.iter().all(is_apart)) {
            Some(table) => table.push(group),
            None => tables.push(vec![group]),
        }
    }
    tables
}

/// The figures of disturbed runs.
fn disturbed_figures(results: &Results) -> Table {
    let disturbed = |run: &&StoredRun| run.status == RunStatus::Invalid && !run.warmup;
    let plan = &results.stored.plan;
    let rows = plan.conditions.iter().filter_map(|condition| {
        let metric = condition.workload.traffic.kind.main_metric(plan.exact);
        let own = results.stored.runs.iter().filter(|run| run.condition == condition.index);
        let values: Vec<f64> = own.filter(disturbed).filter_map(|run| run.metrics.get(metric)).collect();
        let (least, most) = ends(values.iter().copied())?;
        let named = format!("{} {}", metric.key, plain(metric.unit));
        let (tries, mean) = (values.len(), stats::mean(&values));
        Some(cells![&condition.label, named.trim_end(), tries, mean, least, most])
    });
    Table::with_rows(["condition", "metric", "tries", "mean", "least", "most"], rows)
        .titled("Disturbed, so nothing is concluded from these figures")
}

fn limits(results: &Results) -> Option<Table> {
    let rows = results.conditions.iter().filter_map(|one| {
        let (label, limit) = (one.label.as_str(), one.limited_by.as_ref()?);
        let others = limit.labels.iter().filter(|(other, _)| **other != limit.label);
        let others: Vec<String> = others.map(|(other, runs)| format!("{other} {runs}")).collect();
        let runs = Cell::measure(format!("{} of {}", limit.runs, limit.of));
        // The first is what decided; the rest is in the JSON.
        let evidence = limit.evidence.first().map_or(Cell::EMPTY, Cell::from);
        Some(cells![label, limit.label.word(), runs, others.join(", "), evidence])
    });
    let head = ["condition", "limited by", "in runs", "else by", "evidence (last run)"];
    Table::with_rows(head, rows).titled("What limited the runs").compact().filled()
}

/// As sentences; in full those of each condition.
fn cautions(results: &Results, is_whole: bool) -> Vec<String> {
    let mut few_boots: Vec<&str> =
        results.comparisons.iter().filter_map(|group| group.caution.as_deref()).collect();
    few_boots.dedup();
    let acted = results.conditions.iter().map(|condition| (condition.label.as_str(), &condition.acted));
    let flags = match is_whole {
        true => acted.flat_map(|(label, acted)| acted.flags(label)).collect(),
        false => acted_flags(acted),
    };
    let programs = programs(&results.stored);
    let boots = results.stored.plan.how_of_boots().map(|how| how.sentence().to_owned());
    let notes = results.comparisons.iter().flat_map(|group| &group.notes).chain(&results.notes);
    let kinds = [
        ("Caution", few_boots.into_iter().map(str::to_owned).chain(programs).collect()),
        ("Boots", boots.into_iter().collect()),
        ("Looks", results.stopping.iter().cloned().collect()),
        ("Flag", flags),
        ("Copies", copies(results)),
        ("Disturbed", results.invalid_runs.sentence().into_iter().collect::<Vec<String>>()),
    ];
    let kinds =
        kinds.into_iter().flat_map(|(kind, all)| all.into_iter().map(move |one| format!("{kind}: {one}.")));
    kinds.chain(notes.map(|note| format!("Note: {note}."))).collect()
}

/// A sentence without a full stop for each comparison that was counted both ways.
fn copies(results: &Results) -> Vec<String> {
    let conditions = &results.stored.plan.conditions;
    let condition = |row: &ComparisonRow| &conditions[row.comparison.condition];
    let levels = |row: &ComparisonRow| levels_without("copies", &condition(row).levels);
    let counted_by = |copies: Copies| {
        let rows =
            results.comparisons.iter().flat_map(|group| group.rows.iter().map(move |row| (group, row)));
        rows.filter(move |(_, row)| condition(row).copies() == copies)
    };
    let sentence = |(group, row): (&ComparisonGroup, &ComparisonRow)| {
        let is_same = |(other_group, other): &(&ComparisonGroup, &ComparisonRow)| {
            other_group.metric == group.metric
                && levels(other) == levels(row)
                && condition(other).workload.name == group.workload
        };
        let (_, other) = counted_by(Copies::Bytes).find(is_same)?;
        let [words, bytes] = [row, other].map(|row| {
            let [difference, _] = Cell::difference(&row.comparison, group.metric.unit(), true);
            format!("{} ({})", difference.text(), row.comparison.verdict)
        });
        let depends = row.comparison.verdict != other.comparison.verdict;
        let word =
            if depends { "the answer DEPENDS on how copies are counted" } else { "the answer is the same" };
        Some(format!("{}: {word}: {words} with copies by the word, {bytes} by the byte", levels(row)))
    };
    counted_by(Copies::Words).filter_map(sentence).collect()
}

fn commands(results: &Results, database: &str, is_whole: bool) -> Vec<String> {
    let id = format!("{}{}", results.study, database_option(database));
    let rows = || results.comparisons.iter().flat_map(|group| &group.rows);
    let (show, compare) = (format!("netassay show {id}"), format!("netassay compare {id}"));
    let is_measured = results.has_measurements();
    let is_uncounted = results.failed_runs > 0 || results.invalid_runs.runs > 0;
    // Counts of instructions repeat: more boots show no smaller differences of them.
    let is_timed = !results.stored.plan.exact;
    let has_receiver = results.conditions.iter().any(|condition| condition.kind.is_received());
    let is_received = is_measured && has_receiver && is_timed;
    let is_open = is_timed && rows().any(|row| !row.is_proven());
    let is_quick = results.name == "quick" && is_measured;
    let commands = [
        (is_uncounted, format!("{show} --runs"), "why runs do not count"),
        (is_needed(&results.comparisons), compare.clone(), "a table for each comparison"),
        (is_measured, format!("{show} --wide"), "all figures, and proof of switches"),
        (is_received, format!("{compare} --metric receiver.cpu"), "the same runs by another metric"),
        (is_open, "netassay study new mine".to_owned(), "more boots show smaller differences"),
        (is_quick, "netassay run tcp-offload".to_owned(), "the same question with longer runs"),
        (!results.notes.is_empty(), "netassay doctor".to_owned(), "what limits this machine, and fixes"),
    ];
    let most = if is_whole { commands.len() } else { COMMANDS };
    let shown = commands.into_iter().filter(|(is_shown, ..)| *is_shown).take(most);
    shown.map(|(_, command, why)| format!("Next: {command}: {why}")).collect()
}
