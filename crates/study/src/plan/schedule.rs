//! The order of the runs: boots of blocks, each with every condition once.

use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

use crate::model::{Order, Protocol};

/// A run of the schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PlannedRun {
    /// The boot, from 1.
    pub boot: u32,
    /// The block, from 1; 0 for warm-up runs.
    pub block: u32,
    /// The number of this run among those of its kind and condition in this boot, from 1.
    pub repeat: u32,
    /// The place in the boot, from 0.
    pub position: u32,
    /// Whether it is a warm-up run, which no comparison uses.
    pub warmup: bool,
    /// The condition, as an index into the plan.
    pub condition: usize,
}

/// The runs of every boot, in order. `states` has the testbed's state of each condition
/// ([`crate::Plan::states_of_conditions`]). A boot has one state and measures the conditions of
/// that state. There are `protocol.boots` boots of each state, numbered over all, in rounds: one
/// boot of each state in random order.
///
/// Interleaved: the warm-up blocks, then the recorded ones; each has every condition once, in an
/// order drawn from the seed and the boot. Sequential: each condition's warm-up runs and then its
/// recorded ones.
pub fn schedule(states: &[usize], protocol: &Protocol) -> Vec<Vec<PlannedRun>> {
    let of_state = |state: usize| (0..states.len()).filter(|&one| states[one] == state).collect::<Vec<_>>();
    let groups: Vec<Vec<usize>> = (0..states.iter().max().map_or(1, |last| last + 1)).map(of_state).collect();
    let rounds = (0..protocol.boots).flat_map(|round| {
        let mut round_of: Vec<usize> = (0..groups.len()).collect();
        if protocol.order == Order::Interleaved {
            shuffle(&mut round_of, &mut random(protocol.seed, ROUNDS - round));
        }
        round_of
    });
    let runs = |(boot, state): (u32, usize)| {
        let runs = match protocol.order {
            Order::Interleaved => interleaved(&groups[state], protocol, boot),
            Order::Sequential => sequential(&groups[state], protocol, boot),
        };
        (0..).zip(runs).map(|(position, run)| PlannedRun { position, ..run }).collect()
    };
    (1..).zip(rounds).map(runs).collect()
}

// Rounds draw from numbers far above those of boots.
const ROUNDS: u32 = u32::MAX;

fn repeats(protocol: &Protocol) -> impl Iterator<Item = (bool, u32)> + use<> {
    let warmup = (1..=protocol.warmup).map(|repeat| (true, repeat));
    warmup.chain((1..=protocol.runs).map(|repeat| (false, repeat)))
}

fn run(boot: u32, (warmup, repeat): (bool, u32), condition: usize) -> PlannedRun {
    let block = if warmup { 0 } else { repeat };
    PlannedRun { boot, block, repeat, position: 0, warmup, condition }
}

fn interleaved(conditions: &[usize], protocol: &Protocol, boot: u32) -> Vec<PlannedRun> {
    let mut random = random(protocol.seed, boot);
    let mut runs = Vec::new();
    for repeat in repeats(protocol) {
        let mut block = conditions.to_vec();
        shuffle(&mut block, &mut random);
        runs.extend(block.into_iter().map(|condition| run(boot, repeat, condition)));
    }
    runs
}

fn sequential(conditions: &[usize], protocol: &Protocol, boot: u32) -> Vec<PlannedRun> {
    let of_condition = |&condition| repeats(protocol).map(move |repeat| run(boot, repeat, condition));
    conditions.iter().flat_map(of_condition).collect()
}

fn random(seed: u64, boot: u32) -> ChaCha12Rng {
    // One for each boot, so that a boot's order does not depend on the length of earlier boots.
    // ChaCha is specified, so the order is the same with every compiler, machine and library.
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..12].copy_from_slice(&boot.to_le_bytes());
    ChaCha12Rng::from_seed(key)
}

pub(crate) fn random_of_run(seed: u64, run: &PlannedRun, first: Option<usize>) -> ChaCha12Rng {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..12].copy_from_slice(&run.boot.to_le_bytes());
    key[12..16].copy_from_slice(&run.repeat.to_le_bytes());
    key[16..24].copy_from_slice(&(first.map_or(0, |first| first as u64 + 1)).to_le_bytes());
    key[24] = u8::from(run.warmup);
    // Never the key of a boot.
    key[31] = 1;
    ChaCha12Rng::from_seed(key)
}

/// Fisher and Yates's shuffle.
fn shuffle(block: &mut [usize], random: &mut ChaCha12Rng) {
    // Not a library's, which may change how it draws: a resumed study must draw the same order.
    for last in (1..block.len()).rev() {
        block.swap(last, below(last as u64 + 1, random) as usize);
    }
}

/// A number below `bound`, each equally likely.
pub(crate) fn below(bound: u64, random: &mut ChaCha12Rng) -> u64 {
    let whole = u64::MAX - u64::MAX % bound;
    loop {
        let draw = random.next_u64();
        // In the incomplete last stretch of 2^64 some numbers would be more likely.
        if draw < whole {
            return draw % bound;
        }
    }
}

#[cfg(test)]
mod tests;
