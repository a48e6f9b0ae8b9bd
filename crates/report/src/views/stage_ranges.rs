//! Traces of several databases beside each other.

use crate::document::Block;
use crate::document::{Table, TitledTable};
use results::{LeftOutRuns, StageRanges, TracedPath, beyond_rounding, figure, listed, stages_by_end};

/// The least and the most that each stage costs, by path and traffic; then the runs that are left
/// out.
#[must_use]
pub fn stage_ranges(found: &StageRanges) -> Vec<Block<'static>> {
    let mut blocks = Vec::new();
    for group in &found.groups {
        let TracedPath { path, reader, traffic, .. } = group;
        let title = format!("{path}, readers {reader}: {traffic}; {} for a packet", found.unit);
        blocks.push(Block::Table(TitledTable { title, table: table(group), notes: Vec::new() }));
        blocks.push(Block::List(sentences(group)));
    }
    let left_out = found.left_out.iter().map(|LeftOutRuns { source, path, reader, open }| {
        Block::Text(format!("not in the tables: {path}, readers {reader}, of {source}: {}", open.clause()))
    });
    blocks.extend(left_out);
    blocks
}

fn table(group: &TracedPath) -> Table {
    let mut table = Table::new(&["up to", "least", "least in", "most", "most in"]).uncut(&[0, 1, 3]);
    let stages = stages_by_end(group.stages.iter().map(|range| (range.from.as_str(), range.to.as_str())));
    let names = stages.iter().chain([&group.whole.from]);
    for (name, range) in names.zip(group.stages.iter().chain([&group.whole])) {
        let [one, other] = [range.least_in, range.most_in].map(|source| (source + 1).to_string());
        let [least, most] =
            [range.least, range.most].map(|cost| figure(beyond_rounding(cost, group.whole.most)));
        table.row(&[name, &least, &one, &most, &other]);
    }
    table
}

fn sentences(group: &TracedPath) -> Vec<String> {
    let numbered = (1..).zip(&group.sources);
    let mut sentences: Vec<String> = numbered.map(|(number, source)| format!("{number}: {source}")).collect();
    let mut origins: Vec<(String, Vec<String>)> = Vec::new();
    for (number, origin) in (1..).zip(&group.origins) {
        let (origin, number) = (origin.to_string(), number.to_string());
        match origins.iter_mut().find(|(known, _)| *known == origin) {
            Some((_, numbers)) => numbers.push(number),
            None => origins.push((origin, vec![number])),
        }
    }
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
