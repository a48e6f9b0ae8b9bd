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
