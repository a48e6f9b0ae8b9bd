//! The answer to the question of a study.

use results::{
    ComparisonGroup, ComparisonRow, Credits, MissingRuns, Results, answer_for, capital, counted, instant,
    listed, no_verdicts,
};

use crate::document::Block;
use crate::page::is_vast;

// The largest number of letters of an answer that is read at a glance; a longer one is replaced by
// its summary.
const GLANCE: usize = 360;

const SENTENCES: usize = 2;

// Of a study whose baselines were not measured, or were measured alone.
const NOT_YET: &str = "Nothing can be compared yet: no condition was measured beside its baseline.";

pub(crate) fn answer(results: &Results) -> Vec<Block<'static>> {
    let (credit, missing) = (results.credit.as_ref(), results.missing.as_ref());
    let mut blocks = Vec::from_iter(warning(&results.comparisons, credit, missing, results.not_applied()));
    if !results.has_measurements() {
        return blocks;
    }
    if results.comparisons.is_empty() {
        let why = match results.stored.plan.comparisons.is_empty() {
            false => NOT_YET,
            true => "The study compares no conditions: the tables show what each of them measured.",
        };
        blocks.push(Block::Text(why.to_owned()));
    } else if is_read_at_a_glance(results) {
        for (answer, group) in results.answer.iter().zip(&results.comparisons) {
            blocks.extend(lead(capital(answer), group));
        }
    } else {
        blocks.extend(summary(results).into_iter().map(Block::Lead));
    }
    blocks
}

pub(super) fn warning(
    groups: &[ComparisonGroup],
    credits: Option<&Credits>,
    missing: Option<&MissingRuns>,
    more: impl IntoIterator<Item = String>,
) -> Option<Block<'static>> {
    let unlike = groups.iter().flat_map(|group| &group.unlike);
    let mut warnings = no_verdicts(unlike.chain(credits.into_iter().flat_map(Credits::unequal_counts)));
    warnings.extend(missing.into_iter().flat_map(MissingRuns::lines).chain(more));
    (!warnings.is_empty()).then_some(Block::Warning(warnings))
}

pub(super) fn lead(answer: String, group: &ComparisonGroup) -> impl Iterator<Item = Block<'static>> {
    [Block::Lead(answer)].into_iter().chain(group.answer_remarks().into_iter().map(Block::Text))
}

/// The answer of each comparison with its remarks, if the answer is only a summary of them.
pub(crate) fn answers_in_full(results: &Results) -> Option<Block<'static>> {
    if results.comparisons.is_empty() || is_read_at_a_glance(results) {
        return None;
    }
    let count = counted(results.answer.len(), "answer");
    if is_vast(results) {
        return Some(Block::Text(format!(
            "The tables of conditions have every comparison; `netassay compare {}` prints the {count} in words.",
            results.study
        )));
    }
    let answers = results.answer.iter().zip(&results.comparisons);
    let list =
        answers.map(|(answer, group)| Block::List([vec![answer.clone()], group.answer_remarks()].concat()));
    Some(Block::Fold(format!("{count} in full"), list.collect()))
}

pub(crate) fn facts(results: &Results) -> Block<'static> {
    let (row, plan) = (&results.stored.row, &results.stored.plan);
    let how = plan.how_of_boots().map_or_else(String::new, |how| format!(": {}", how.sentence()));
    let runs = counted(results.stored.measurements().count(), "run");
    let mut facts = vec![
        ("study", format!("{} ({})", results.study, results.name)),
        ("scenario", results.scenario.clone()),
        ("measured", format!("{} UTC", instant(row.started_unix_ms))),
        ("data", format!("{runs} of {}{how}", counted(row.boots as usize, "boot"))),
    ];
    if results.status != "complete" {
        facts.push(("state", results.status.clone()));
    }
    if let Some(boot) = results.stored.boots.first() {
        let host = &boot.environment.transmitter;
        facts.extend(host.kernel.release.clone().map(|release| ("kernel", release)));
        facts.extend(host.cpu.model.clone().map(|model| ("CPU", model)));
    }
    if !results.congestion_control.is_empty() {
        facts.push(("congestion control", results.congestion_control.join(", ")));
    }
    facts.push(("netassay", row.version.clone()));
    if !row.tags.is_empty() {
        facts.push(("tags", listed(&row.tags)));
    }
    Block::Facts(facts)
}

fn is_read_at_a_glance(results: &Results) -> bool {
    let letters: usize = results.answer.iter().map(|answer| answer.chars().count()).sum();
    results.answer.len() <= SENTENCES && letters <= GLANCE
}

fn summary(results: &Results) -> Vec<String> {
    let rows = || results.comparisons.iter().flat_map(|group| group.rows.iter().map(move |row| (group, row)));
    let (all, proven) = (rows().count(), rows().filter(|(_, row)| row.is_proven()).count());
    let count = match (proven, counted(all, "comparison")) {
        _ if all == 0 => NOT_YET.to_owned(),
        (0, all) => format!("No difference is proven in any of {all}."),
        (_, all) => format!("A difference is proven in {proven} of {all}."),
    };
    let size = |row: &ComparisonRow| {
        let comparison = &row.comparison;
        comparison.relative.map_or(comparison.difference, |share| share * comparison.baseline_mean).abs()
    };
    let largest = rows()
        .filter(|(group, row)| group.metric == results.comparisons[0].metric && row.is_proven())
        .max_by(|(_, one), (_, other)| size(one).total_cmp(&size(other)))
        .map(|(group, row)| format!("The largest: {}", answer_for(group, &[row])));
    [count].into_iter().chain(largest).collect()
}
