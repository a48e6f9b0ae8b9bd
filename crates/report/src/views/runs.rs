//! Every run of a study, and the tries that do not count.

use results::{Results, counted, figure, instant};
use store::{RunStatus, StoredRun};

use crate::cells;
use crate::document::{Block, Cell, Table};

// The most tries of a list on a page; the command in the note lists the others.
const MOST: usize = 100;

/// Every run in the order of measurement, and why tries do not count.
pub fn runs(results: &Results) -> Vec<Block<'static>> {
    let table = run_table(results).titled("Runs, in the order in which they were measured");
    let lists = uncounted(results).into_iter().filter_map(|(title, tries)| Block::titled_list(title, tries));
    [Block::Table(table)].into_iter().chain(lists).collect()
}

/// The tries that do not count, and why; how many count in spite of a disturbance.
pub fn left_out(results: &Results) -> Vec<Block<'static>> {
    let mut blocks = Vec::new();
    let uncounted = uncounted(results);
    let is_complete = uncounted.is_empty();
    for (title, mut tries) in uncounted {
        let all = tries.len();
        if all > MOST {
            tries.truncate(MOST);
            let study = results.study;
            tries.push(format!("The first {MOST} of {all}; `netassay show {study} --runs` lists all."));
        }
        blocks.extend([Block::Text(title), Block::List(tries)]);
    }
    let kept = results.stored.measurements().filter(|run| !run.detail.disturbed().is_empty()).count();
    if kept > 0 {
        let (runs, count) = (counted(kept, "run"), if kept == 1 { "counts" } else { "count" });
        let words = format!("{runs} {count} though something disturbed them (--keep-disturbed).");
        blocks.push(Block::Text(words));
    } else if is_complete {
        blocks.push(Block::Text("No run failed, and none was disturbed.".to_owned()));
    }
    blocks
}

/// In the order of measurement, each with its reason.
fn uncounted(results: &Results) -> Vec<(String, Vec<String>)> {
    let (mut failed, mut disturbed) = (Vec::new(), Vec::new());
    for run in &results.stored.runs {
        let Some(condition) = results.stored.plan.conditions.get(run.condition) else { continue };
        let Some(reason) = &run.reason else { continue };
        let list = if run.status == RunStatus::Invalid { &mut disturbed } else { &mut failed };
        let (boot, kind, label) = (boot(run), kind(run), &condition.label);
        list.push(format!("boot {boot}, {kind} {} of {label}: {reason}", run.repeat));
    }
    let titled = [("Failed runs:", failed), ("Disturbed runs, which do not count:", disturbed)];
    let titled = titled.into_iter().filter(|(_, tries)| !tries.is_empty());
    titled.map(|(title, tries)| (title.to_owned(), tries)).collect()
}

fn run_table(results: &Results) -> Table {
    let plan = &results.stored.plan;
    let row = |run: &StoredRun| {
        let condition = plan.conditions.get(run.condition)?;
        let metric = condition.workload.traffic.kind.main_metric(plan.exact);
        let (result, unit) = match (run.status, run.metrics.get(metric)) {
            (RunStatus::Failed, _) => ("failed".into(), ""),
            (RunStatus::Ok, Some(value)) => (Cell::from(value), metric.unit),
            (RunStatus::Invalid, Some(value)) => {
                (Cell::measure(format!("{} (invalid)", figure(value))), metric.unit)
            }
            (RunStatus::Ok, None) => (Cell::Missing, ""),
            (RunStatus::Invalid, None) => ("invalid".into(), ""),
        };
        let (started, boot) = (instant(run.started_unix_ms), boot(run));
        let boot = if run.part > 1 { Cell::measure(boot) } else { Cell::Number(boot) };
        let label = &condition.label;
        Some(cells![Cell::measure(started), boot, kind(run), run.repeat, label, result, unit])
    };
    let head = ["started (UTC)", "boot", "kind", "run", "condition", "result", "unit"];
    Table::with_rows(head, results.stored.runs.iter().filter_map(row)).optional(&[0])
}

/// A run's boot, with its part where that was resumed: `2`, `2/2`.
fn boot(run: &StoredRun) -> String {
    if run.part > 1 { format!("{}/{}", run.boot, run.part) } else { run.boot.to_string() }
}

fn kind(run: &StoredRun) -> &'static str {
    if run.warmup { "warm-up" } else { "run" }
}
