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
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    fn any_protocol() -> impl Strategy<Value = Protocol> {
        let order = prop_oneof![Just(Order::Interleaved), Just(Order::Sequential)];
        (1..5_u32, 0..3_u32, 1..6_u32, order, any::<u64>()).prop_map(|(boots, warmup, runs, order, seed)| {
            Protocol { boots, warmup, runs, order, seed, ..Protocol::default() }
        })
    }

    /// Conditions that all need the same state.
    fn alike(conditions: usize) -> Vec<usize> {
        vec![0; conditions]
    }

    fn interleaved(boots: u32, warmup: u32, runs: u32, seed: u64) -> Protocol {
        Protocol { boots, warmup, runs, seed, ..Protocol::default() }
    }

    fn order(boot: &[PlannedRun]) -> Vec<usize> {
        boot.iter().map(|run| run.condition).collect()
    }

    proptest! {
        #[test]
        fn every_condition_gets_its_runs_in_every_boot_in_the_order_of_the_protocol(
            conditions in 0..9_usize, protocol in any_protocol()
        ) {
            let boots = schedule(&alike(conditions), &protocol);
            prop_assert_eq!(&boots, &schedule(&alike(conditions), &protocol), "the seed reproduces the order");
            prop_assert_eq!(boots.len(), protocol.boots as usize);
            for (boot, number) in boots.iter().zip(1..) {
                let mut counts: HashMap<(usize, bool), Vec<u32>> = HashMap::new();
                for (run, position) in boot.iter().zip(0..) {
                    prop_assert_eq!(run.position, position);
                    prop_assert_eq!(run.boot, number);
                    prop_assert_eq!(run.warmup, run.block == 0);
                    counts.entry((run.condition, run.warmup)).or_default().push(run.repeat);
                }
                for condition in 0..conditions {
                    let warmup = counts.remove(&(condition, true)).unwrap_or_default();
                    prop_assert_eq!(warmup, (1..=protocol.warmup).collect::<Vec<_>>());
                    let recorded = counts.remove(&(condition, false)).unwrap_or_default();
                    prop_assert_eq!(recorded, (1..=protocol.runs).collect::<Vec<_>>());
                }
                prop_assert!(counts.is_empty());
                if protocol.order == Order::Sequential {
                    prop_assert!(boot.is_sorted_by_key(|run| (run.condition, !run.warmup, run.repeat)));
                    continue;
                }
                prop_assert!(boot.is_sorted_by_key(|run| run.block), "warm-up blocks come first");
                for block in boot.chunks(conditions.max(1)) {
                    let mut seen = order(block);
                    seen.sort_unstable();
                    prop_assert_eq!(seen, (0..conditions).collect::<Vec<_>>());
                    let first = block[0];
                    prop_assert!(block.iter().all(|run| (run.block, run.repeat, run.warmup)
                        == (first.block, first.repeat, first.warmup)));
                }
            }
            let more = Protocol { boots: protocol.boots + 1, ..protocol };
            prop_assert_eq!(&schedule(&alike(conditions), &more)[..boots.len()], boots, "boots are added");
        }

        #[test]
        fn boots_and_seeds_differ_in_order(seed in any::<u64>()) {
            // 10 conditions in 5 blocks: two equal orders have a chance of 1 in 10!^5.
            let boots = schedule(&alike(10), &interleaved(2, 0, 5, seed));
            let others = schedule(&alike(10), &interleaved(2, 0, 5, seed.wrapping_add(1)));
            prop_assert_ne!(order(&boots[0]), order(&boots[1]));
            prop_assert_ne!(order(&boots[0]), order(&others[0]));
        }

        #[test]
        fn a_boot_has_one_state_and_every_round_has_all(
            states in prop::collection::vec(0..3_usize, 1..9), protocol in any_protocol()
        ) {
            // Numbered without gaps, as a plan numbers them.
            let mut known: Vec<usize> = states.clone();
            known.sort_unstable();
            known.dedup();
            let states: Vec<usize> =
                states.iter().map(|state| known.iter().position(|one| one == state).unwrap()).collect();
            let boots = schedule(&states, &protocol);
            prop_assert_eq!(boots.len(), protocol.boots as usize * known.len());
            for (boot, number) in boots.iter().zip(1..) {
                prop_assert!(boot.iter().all(|run| run.boot == number));
                let Some(first) = boot.first() else { continue };
                prop_assert!(boot.iter().all(|run| states[run.condition] == states[first.condition]));
            }
            for round in boots.chunks(known.len()) {
                let mut seen: Vec<usize> =
                    round.iter().filter_map(|boot| Some(states[boot.first()?.condition])).collect();
                seen.sort_unstable();
                prop_assert_eq!(seen, (0..known.len()).collect::<Vec<_>>());
            }
        }
    }

    /// A study may be resumed with another version: the drawn order is part of the format.
    #[test]
    fn the_drawn_order_never_changes() {
        let boots = schedule(&alike(4), &interleaved(2, 1, 2, 1));
        let order: Vec<Vec<usize>> = boots.iter().map(|boot| order(boot)).collect();
        assert_eq!(order, [[1, 2, 3, 0, 1, 2, 3, 0, 2, 0, 3, 1], [2, 1, 0, 3, 3, 0, 2, 1, 2, 1, 3, 0]]);
    }

    #[test]
    fn every_place_is_equally_likely() {
        let protocol = interleaved(1, 0, 6_000, 7);
        let mut counts = [[0_u32; 3]; 3];
        for run in &schedule(&alike(3), &protocol)[0] {
            counts[run.condition][(run.position % 3) as usize] += 1;
        }
        // 2000 expected, standard deviation 36.5: chance never reaches six of them.
        assert!(counts.iter().flatten().all(|&count| count.abs_diff(2_000) < 219), "{counts:?}");
    }
}
