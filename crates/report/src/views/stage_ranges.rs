//! Traces of the pairs of a fleet beside each other.

use results::{
    LeftOutRuns, StageRanges, TracedPath, beyond_rounding, counted, distinct, figure, first_of, grouped,
    stages_by_end,
};

use crate::cells;
use crate::document::{Block, Cell, Table};

/// The mean, the least and the most cost of each stage, by path and condition; then the kernels of
/// all of them, and runs that are left out. At most `most` names stand in a sentence.
pub fn stage_ranges(found: &StageRanges, most: usize) -> Vec<Block<'static>> {
    let mut blocks = Vec::new();
    for group in &found.groups {
        let TracedPath { path, reader, condition, traffic, .. } = group;
        let title = format!("{path}, readers {reader}: {condition} ({traffic}); {} for a packet", found.unit);
        blocks.push(Block::Table(table(group).titled(title)));
        blocks.push(Block::List(sentences(group, most)));
    }
    blocks.extend((!found.groups.is_empty()).then(|| Block::List(method(found, most))));
    let left_out = found.left_out.iter().map(|one| {
        let (LeftOutRuns { source, condition, path, reader, .. }, why) = (one, one.clauses());
        Block::Text(format!(
            "not in the tables: {path}, readers {reader}, of pair {source}, {condition}: {why}"
        ))
    });
    blocks.extend(left_out);
    blocks
}

fn table(group: &TracedPath) -> Table {
    let stages = stages_by_end(group.stages.iter().map(|range| (range.from.as_str(), range.to.as_str())));
    let names = stages.iter().chain([&group.whole.from]);
    let rows = names.zip(group.stages.iter().chain([&group.whole])).map(|(name, range)| {
        let shown = |cost: f64| beyond_rounding(cost, group.whole.most);
        let [mean, least, most] = [range.mean.estimate, range.least, range.most].map(shown);
        let interval =
            Cell::interval(range.mean.interval.map(|(low, high)| (shown(low), shown(high))), figure);
        let [least_in, most_in] = [range.least_in, range.most_in].map(|place| &group.sources[place]);
        cells![name, mean, interval, least, least_in, most, most_in]
    });
    let head = ["up to", "mean", "interval", "least", "least in", "most", "most in"];
    Table::with_rows(head, rows).optional(&[2]).uncut(&[0, 1, 3, 5])
}

/// The kernels of all pairs, whose command lines are long, and how means are judged.
fn method(found: &StageRanges, most: usize) -> Vec<String> {
    let groups = found.groups.iter();
    let origins = groups.flat_map(|group| group.origins.iter().map(ToString::to_string).zip(&group.sources));
    let mut sentences: Vec<String> = grouped(origins)
        .into_iter()
        .map(|(origin, pairs)| format!("{}: {origin}", first_of(&distinct(pairs), most)))
        .collect();
    sentences.push(
        "mean: over pairs, each the mean of its boots; its 95 % interval has degrees of freedom by pairs"
            .to_owned(),
    );
    sentences
}

fn sentences(group: &TracedPath, most: usize) -> Vec<String> {
    let named = |pairs: &[&String]| first_of(pairs, most);
    let pairs = counted(group.sources.len(), "pair");
    let mut sentences = vec![format!("over {pairs}: {}", first_of(&group.sources, most))];
    sentences.extend(group.unmatched.iter().map(|one| {
        let seen = group.sources.iter().zip(&one.seen_at).filter(|(_, seen)| !seen.is_empty());
        let at = grouped(seen.map(|(pair, seen)| (seen, pair)));
        let at = at.iter().map(|(functions, pairs)| {
            let functions: Vec<&str> = functions.iter().map(String::as_str).collect();
            format!("{} (at {})", named(pairs), first_of(&functions, most))
        });
        let (stage, at, cost) = (&one.stage, at.collect::<Vec<_>>().join(" and "), one.cost());
        format!("{stage} is not seen at one place in all, only in {at}; {cost}")
    }));
    sentences
}
