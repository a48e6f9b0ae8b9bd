//! The plan of a study.

use std::collections::BTreeMap;

use results::{PlanListing, counted, duration, listed, spaced_duration};
use study::{Alternate, Condition, Dropped, Effective, PlannedRun, Tracing};

use crate::cells;
use crate::document::{Block, Table};

// The longest list of switches, and the longest order of a boot's runs, in letters, on one screen.
const LISTED: usize = 50;
const ORDER: usize = 76;

/// The conditions of a study, their time and the order of their runs: of long orders the beginning,
/// unless `is_whole`.
pub fn plan(listing: &PlanListing, is_whole: bool) -> Vec<Block<'static>> {
    let plan = &listing.plan;
    let mut blocks: Vec<Block<'static>> = protocol(listing).into_iter().map(Block::Text).collect();
    if plan.conditions.is_empty() {
        blocks.push(Block::Text("Nothing to run: every condition is excluded.".to_owned()));
    } else {
        blocks.push(Block::Table(conditions(listing, is_whole)));
    }
    let refused = plan.effective.iter().map(refusals).zip(1..).filter(|(refused, _)| !refused.is_empty());
    let refused = refused.map(|(refused, number)| format!("{number}: {refused}")).collect();
    let unmeasured = plan.excluded.iter().chain(&plan.lacking).map(dropped).collect();
    let merged = plan.merged.iter().map(dropped).collect();
    let orders = listing.schedule.iter().filter_map(|runs| order_of_runs(runs, is_whole)).collect();
    let lists = [
        ("Requested, but not applied:", refused),
        ("Not measured:", unmeasured),
        ("Merged, because both ends read back the same state:", merged),
        ("Order of runs, by condition:", orders),
    ];
    blocks.extend(lists.into_iter().filter_map(|(title, lines)| Block::titled_list(title, lines)));
    blocks.extend(listing.notes.iter().map(|note| Block::Text(format!("Note: {note}."))));
    blocks
}

fn protocol(listing: &PlanListing) -> Vec<String> {
    let states = listing.plan.states().len();
    let of_each =
        if states > 1 { format!(" of each of {states} states of the testbed") } else { String::new() };
    let PlanListing { scenario, warmups, runs, order, seed, .. } = listing;
    let conditions = counted(listing.plan.conditions.len(), "condition");
    let boots = counted(listing.boots as usize, "boot");
    let (all, time) = (counted(listing.total_runs, "run"), duration(listing.expected.total()));
    let mut texts = vec![
        format!("{}: {}", listing.study, listing.question),
        format!(
            "scenario {scenario}, {conditions} x {boots}{of_each} x ({warmups} warm-up + {runs} recorded) = {all}, {order}, seed {seed}, about {time}"
        ),
    ];
    texts.extend(listing.boots_how.map(|how| format!("boots: {}", how.sentence())));
    texts.extend(listing.plan.tracing.as_ref().map(traces));
    if let Some(alternate) = listing.plan.asked.protocol.alternate {
        texts.extend(turns(listing, alternate));
    }
    texts.extend(listing.stop.map(|stop| {
        let looks: Vec<String> = stop.after(listing.boots).map(|boot| boot.to_string()).collect();
        format!(
            "ends as soon as every comparison is decided to within {}: looks after boot {} ({})",
            stop.detect,
            looks.join(", "),
            stop.bounds
        )
    }));
    texts
}

fn traces(tracing: &Tracing) -> String {
    let paths: Vec<&str> = tracing.paths.iter().map(|path| path.word()).collect();
    let (rounds, batch) = (counted(tracing.rounds as usize, "round"), tracing.batch);
    let paths = listed(&paths);
    format!(
        "each recorded run is followed by traces of {paths}: {rounds} of {batch} messages, with more and more probes"
    )
}

fn turns(listing: &PlanListing, Alternate { turn, settle }: Alternate) -> Vec<String> {
    let named =
        |flow: &[usize]| flow.iter().map(|index| (index + 1).to_string()).collect::<Vec<_>>().join(", ");
    let flows = listing.plan.flows();
    let shared: Vec<&[usize]> = flows.shared().collect();
    if shared.is_empty() {
        return vec!["no two conditions can take turns in one flow here".to_owned()];
    }
    let grows = |flow: &&[usize]| listing.plan.conditions[flow[0]].workload.traffic.has_growing_buffers();
    let buffers = shared.iter().any(grows).then(|| "the turns of a TCP flow share the buffers that TCP sizes, so the difference may not equal that of separate flows: compare both with `netassay run STUDY --aa --set apart=true`, or set a `socket_buffer`".to_owned());
    let flows = shared.into_iter().map(named).collect::<Vec<_>>().join("; ");
    let [turn, settle] = [turn, settle].map(spaced_duration);
    let apart = if listing.plan.asked.protocol.apart { " in every second block" } else { "" };
    let taken = format!(
        "turns of {turn}{apart}, of which the first {settle} are not counted; conditions that share a flow: {flows}"
    );
    [taken].into_iter().chain(buffers).collect()
}

fn conditions(listing: &PlanListing, is_whole: bool) -> Table {
    let head = if listing.tried { "switches, against condition 1" } else { "switches (not tried here)" };
    let effective = &listing.plan.effective;
    let row = |(index, condition): (usize, &Condition)| {
        let words = match (effective.first(), effective.get(index)) {
            (Some(base), Some(effective)) => against(effective, base, is_whole),
            _ => String::new(),
        };
        cells![index + 1, &condition.label, &condition.slug, words]
    };
    let rows = listing.plan.conditions.iter().enumerate().map(row);
    Table::with_rows(["", "condition", "short name", head], rows).optional(&[2]).titled("Conditions")
}

/// The differences of a state from that of the first condition; of very many the number.
fn against(state: &Effective, base: &Effective, is_whole: bool) -> String {
    let (words, sides) = (state.against(base), state.sides().zip(base.sides()));
    match sides.map(|((_, here), (_, there))| here.changes(there).len()).max() {
        Some(features @ 2..) if !is_whole && words.chars().count() > LISTED => {
            format!("{features} features differ (--wide names them)")
        }
        _ => words,
    }
}

fn dropped(one: &Dropped) -> String {
    format!("{}: {}", one.label, one.why)
}

/// The conditions of a boot's runs; `None` without a run.
fn order_of_runs(runs: &[PlannedRun], is_whole: bool) -> Option<String> {
    let mut line = format!("boot {}:", runs.first()?.boot);
    let mut block = None;
    for run in runs {
        if block != Some((run.block, run.warmup)) {
            block = Some((run.block, run.warmup));
            line.push_str(if run.warmup { "  warm-up" } else { "  |" });
        }
        line.push_str(&format!(" {}", run.condition + 1));
    }
    Some(if is_whole { line } else { shortened(&line, ORDER) })
}

/// Features that were requested but not set, by reason.
fn refusals(effective: &Effective) -> String {
    let mut words = Vec::new();
    for (side, settled) in effective.sides() {
        let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (name, why) in settled.unmet() {
            by_reason.entry(why).or_default().push(name);
        }
        words.extend(by_reason.iter().map(|(why, names)| format!("{side}: {} ({why})", names.join(" "))));
    }
    words.join("; ")
}

fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    let cut = kept.rfind(' ').unwrap_or(kept.len());
    format!("{} …", kept[..cut].trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_cut_between_words() {
        assert_eq!(shortened("off aa bb cc", 9), "off aa …");
        assert_eq!(shortened("off aa bb cc", 8), "off aa …");
        assert_eq!(shortened("off aa", 9), "off aa");
    }
}
