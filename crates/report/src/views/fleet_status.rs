//! The states of the pairs of a fleet.

use results::{FleetStatus, PairState, PairStatus, counted, first_of, grouped};

use crate::cells;
use crate::document::{Block, Table};

// With more pairs than this only those are listed that are not complete, unless all are asked for.
const LISTED: usize = 40;

/// A line for each pair, the reasons of those that are not complete, and the number of pairs in
/// each state; all pairs if `is_whole`.
pub fn fleet_status(found: &FleetStatus, is_whole: bool) -> Vec<Block<'static>> {
    let most = if is_whole { usize::MAX } else { LISTED };
    let is_listed = |pair: &&PairStatus| found.pairs.len() <= most || pair.state != PairState::Complete;
    let listed: Vec<&PairStatus> = found.pairs.iter().filter(is_listed).collect();
    let rows = listed.iter().map(|pair| {
        let runs = pair.runs.map(|(recorded, planned)| format!("{recorded} of {planned}"));
        cells![&pair.name, pair.state.word(), runs.unwrap_or_default()]
    });
    let table = Table::with_rows(["pair", "state", "runs"], rows);
    // A table would cut them.
    let reasons = grouped(listed.iter().filter_map(|pair| Some((pair.why.as_ref()?, &pair.name))));
    let reasons = reasons.iter().map(|(why, pairs)| format!("{}: {why}", first_of(pairs, most)));
    let count = |state| found.pairs.iter().filter(|pair| pair.state == state).count();
    let counts = PairState::ALL.into_iter().rev().map(|state| (count(state), state));
    let counts = counts.filter(|(count, state)| *count > 0 || *state == PairState::Complete);
    let counts: Vec<String> = counts.map(|(count, state)| format!("{count} {state}")).collect();
    let all = counted(found.pairs.len(), "pair");
    let mut blocks: Vec<Block<'static>> = table.filled().map(Block::Table).into_iter().collect();
    blocks.extend(Block::list(reasons.collect()));
    blocks.push(Block::Text(format!("{all}: {}", counts.join(", "))));
    if !found.unknown.is_empty() {
        let names = first_of(&found.unknown, LISTED);
        blocks.push(Block::Text(format!("Not in the file of hosts, but in the files of the pairs: {names}")));
    }
    if !found.is_complete() {
        let next = "Start the task of a pair again: it continues the file of the pair.";
        blocks.push(Block::Text(next.to_owned()));
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Layout, terminal};

    #[test]
    fn a_reason_is_whole_and_told_once() {
        let why = "cannot reach root@b7: netassay never accepts a host key and types no password: connect once by hand";
        let failed =
            |name: &str| PairStatus { why: Some(why.to_owned()), ..PairStatus::new(name, PairState::Failed) };
        let named = ["a", "b", "c"].map(str::to_owned);
        let status = FleetStatus::new(None, &named, vec![failed("a"), failed("b")]);
        let text = Layout::PLAIN.wrap(&terminal(&fleet_status(&status, false), Layout::PLAIN));
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let told = format!("a, b: {why} 3 pairs: 0 complete, 2 failed, 1 never came");
        assert!(words.contains(&told), "{text}");
    }
}
