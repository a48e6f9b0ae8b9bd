//! Traces of several databases beside each other.

use results::{LeftOutRuns, StageRanges, TracedPath, beyond_rounding, grouped, listed, stages_by_end};

use crate::cells;
use crate::document::{Block, Table};

/// The least and the most cost of each stage, by path and traffic; then runs that are left out.
pub fn stage_ranges(found: &StageRanges) -> Vec<Block<'static>> {
    let mut blocks = Vec::new();
    for group in &found.groups {
        let TracedPath { path, reader, traffic, .. } = group;
        let title = format!("{path}, readers {reader}: {traffic}; {} for a packet", found.unit);
        blocks.push(Block::Table(table(group).titled(title)));
        blocks.push(Block::List(sentences(group)));
    }
    let left_out = found.left_out.iter().map(|LeftOutRuns { source, path, reader, open }| {
        Block::Text(format!("not in the tables: {path}, readers {reader}, of {source}: {}", open.clause()))
    });
    blocks.extend(left_out);
    blocks
}

fn table(group: &TracedPath) -> Table {
    let stages = stages_by_end(group.stages.iter().map(|range| (range.from.as_str(), range.to.as_str())));
    let names = stages.iter().chain([&group.whole.from]);
    let rows = names.zip(group.stages.iter().chain([&group.whole])).map(|(name, range)| {
        let [least, most] = [range.least, range.most].map(|cost| beyond_rounding(cost, group.whole.most));
        cells![name, least, range.least_in + 1, most, range.most_in + 1]
    });
    Table::with_rows(["up to", "least", "least in", "most", "most in"], rows).uncut(&[0, 1, 3])
}

fn sentences(group: &TracedPath) -> Vec<String> {
    let numbered = (1..).zip(&group.sources);
    let mut sentences: Vec<String> = numbered.map(|(number, source)| format!("{number}: {source}")).collect();
    let origins =
        grouped(group.origins.iter().map(ToString::to_string).zip((1..).map(|one: usize| one.to_string())));
    sentences.extend(origins.iter().map(|(origin, numbers)| format!("{}: {origin}", listed(numbers))));
    sentences
        .push("least and most: means of boots, each with the number of the source that has it".to_owned());
    sentences.extend(group.unmatched.iter().map(|one| {
        let seen = (1..).zip(&one.seen_at).filter(|(_, seen)| !seen.is_empty());
        let numbers: Vec<String> = seen
            .map(|(number, seen)| {
                let functions: Vec<&str> = seen.iter().map(String::as_str).collect();
                format!("{number} (at {})", listed(&functions))
            })
            .collect();
        let (stage, numbers, cost) = (&one.stage, listed(&numbers), one.cost());
        format!("{stage} is not seen at one place in all, only in {numbers}; {cost}")
    }));
    sentences
}
