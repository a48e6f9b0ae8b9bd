//! The states of the pairs of a fleet.

use results::{FleetStatus, PairState, counted};

use crate::cells;
use crate::document::{Block, Table};

// With more pairs than this only those are listed that are not complete, unless all are asked for.
const LISTED: usize = 40;

/// A line for each pair, and the number of pairs in each state; all pairs if `is_whole`.
pub fn fleet_status(found: &FleetStatus, is_whole: bool) -> Vec<Block<'static>> {
    let lists_all = is_whole || found.pairs.len() <= LISTED;
    let listed = found.pairs.iter().filter(|pair| lists_all || pair.state != PairState::Complete);
    let rows = listed.map(|pair| {
        let runs = pair.runs.map(|(recorded, planned)| format!("{recorded} of {planned}"));
        cells![&pair.name, pair.state.word(), runs.unwrap_or_default(), pair.why.clone().unwrap_or_default()]
    });
    let table = Table::with_rows(["pair", "state", "runs", "why"], rows);
    let count = |state| found.pairs.iter().filter(|pair| pair.state == state).count();
    let counts = PairState::ALL.into_iter().rev().map(|state| (count(state), state));
    let counts = counts.filter(|(count, state)| *count > 0 || *state == PairState::Complete);
    let counts: Vec<String> = counts.map(|(count, state)| format!("{count} {state}")).collect();
    let all = counted(found.pairs.len(), "pair");
    let mut blocks: Vec<Block<'static>> = table.filled().map(Block::Table).into_iter().collect();
    blocks.push(Block::Text(format!("{all}: {}", counts.join(", "))));
    if !found.unknown.is_empty() {
        let names = results::first_of(&found.unknown, LISTED);
        blocks.push(Block::Text(format!("Not in the file of hosts, but in the files of the pairs: {names}")));
    }
    if !found.is_complete() {
        let next = "Start the task of a pair again: it continues the file of the pair.";
        blocks.push(Block::Text(next.to_owned()));
    }
    blocks
}
