//! The stages of traced paths, and the functions below them, that explain a difference.

use results::{
    COUNT_RESOLUTION, PathPair, ProfilePair, StageDifferences, UnmatchedStage, counted, figure, listed,
    unfollowed_runs,
};
use stats::confidence;

use super::explained::explained;
use crate::document::Block;

// The number of functions that are shown, those that explain most; the rest is in the JSON.
const SHOWN: usize = 15;

/// Each path and each profile under two conditions, and how they were judged.
pub fn stage_differences(found: &StageDifferences) -> Vec<Block<'static>> {
    let mut blocks = vec![Block::Text(format!("{}: {}", found.name, found.question))];
    blocks.extend(found.pairs.iter().flat_map(|pair| stages(pair, found.unit)));
    blocks.extend(found.profiles.iter().flat_map(|pair| functions(pair, found.unit)));
    blocks.extend(Block::list(found.unfollowed.iter().map(|why| format!("not in a table: {why}")).collect()));
    blocks.push(Block::List(method(found)));
    blocks
}

fn stages(pair: &PathPair, unit: &str) -> [Block<'static>; 2] {
    let PathPair { path, reader, condition, baseline, .. } = pair;
    let names: Vec<String> = pair.stages.iter().map(|(from, to)| format!("{from} to {to}")).collect();
    // Without a stage nothing could explain the whole.
    let rest = (!names.is_empty()).then_some("unexplained");
    let words = ["the whole", "stage", unit];
    let (table, answer) = explained(&pair.explained, &names, words, rest, usize::MAX, pair.runs);
    let title = format!("{path}, readers {reader}: {condition} against {baseline}; {unit} for a packet");
    let [least, most] = [pair.closure.0, pair.closure.1].map(|share| 100.0 * share);
    let mut sentences = vec![
        answer,
        format!("closure: the stages of a run add up to {least:.1} to {most:.1} % of its whole"),
    ];
    if let Some(open) = &pair.open {
        let left = if names.is_empty() { "no stage is judged" } else { "not in the table" };
        sentences.push(format!("{left}: {}", open.clause()));
    }
    sentences.extend(pair.unmatched.iter().map(|one| unmatched(one, [baseline, condition])));
    if pair.lost > 0 {
        sentences.push(format!("not in the table: {}", unfollowed_runs(pair.lost, *path)));
    }
    [Block::Table(table.titled(title)), Block::List(sentences)]
}

fn functions(pair: &ProfilePair, unit: &str) -> [Block<'static>; 2] {
    let ProfilePair { reader, condition, baseline, functions, .. } = pair;
    let words = ["a message", "function", unit];
    let (table, answer) =
        explained(&pair.explained, functions, words, Some("smaller ones"), SHOWN, pair.runs);
    let whose = if pair.one_end { "at the transmitter" } else { "at both ends" };
    let title = format!(
        "functions, readers {reader}: {condition} against {baseline}; {unit} of CPU for a message {whose}"
    );
    let (smaller, least) = (counted(pair.smaller, "function"), 100.0 * ProfilePair::LEAST);
    let mut smaller = vec![format!("smaller ones: {smaller} with less than {least} % of the samples each")];
    let hidden = functions.len().saturating_sub(SHOWN);
    if hidden > 0 {
        smaller.push(format!("{} that explain less are not shown", counted(hidden, "function")));
    }
    let sentences = vec![
        answer,
        listed(&smaller),
        format!("{} of each condition at least", counted(pair.samples as usize, "sample")),
    ];
    [Block::Table(table.titled(title)), Block::List(sentences)]
}

fn unmatched(one: &UnmatchedStage, [baseline, condition]: [&str; 2]) -> String {
    let (stage, cost) = (&one.stage, one.cost());
    if let Some(moved) = one.moved {
        let moved = figure(moved);
        return format!(
            "{stage} is no boundary: up to {moved} instructions move across it from run to run; {cost}"
        );
    }
    let seen = [0, 1].map(|place| one.seen_at[place].iter().map(String::as_str).collect::<Vec<_>>());
    match seen.each_ref().map(Vec::is_empty) {
        [false, true] => format!("{stage} is seen with {baseline} only; {cost}"),
        [true, false] => format!("{stage} is seen with {condition} only; {cost}"),
        _ if seen[0] == seen[1] => {
            format!("{stage} is not seen in every run, or not in the same order; {cost}")
        }
        _ => {
            let [here, there] = seen.map(|functions| listed(&functions));
            format!(
                "{stage} is seen at {here} with {baseline}, at {there} with {condition}: unlike places are not compared; {cost}"
            )
        }
    }
}

fn method(found: &StageDifferences) -> Vec<String> {
    let level = confidence(found.confidence);
    let intervals = format!(
        "{level} % intervals: boots are the replicates, compared inside a boot where it measured both"
    );
    let stages = if found.is_exact() {
        format!(
            "more, less: a difference of more than {COUNT_RESOLUTION} % of the baseline's whole is real, a smaller one is equivalent. Counts of one condition that are further apart than that are judged by a {level} % interval, and inconclusive where it includes 0"
        )
    } else {
        format!("{intervals}; those of the stages of a path hold together (Holm)")
    };
    let mut sentences = vec![
        format!("{stages}. Costs are less those of probes."),
        "share: of the difference of the whole; unexplained: what the whole, measured with the fewest probes, has beside the stages.".to_owned(),
    ];
    if !found.profiles.is_empty() {
        sentences.extend(found.is_exact().then(|| format!("{intervals}.")));
        sentences.push("functions: what each takes itself, by samples without probes; their intervals hold together (Holm), and rest on the spreads of all of them (Smyth).".to_owned());
    }
    sentences.push(format!("{}.", found.origin));
    sentences.extend(found.truth.map(|truth| format!("{truth}.")));
    sentences
}
