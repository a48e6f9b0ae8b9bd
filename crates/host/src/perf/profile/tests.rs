use proptest::prelude::*;

use super::*;
use crate::perf::StackSample;
use crate::perf::symbols::{RETURN, USER};

const BEGIN: u64 = 1 << 63;
const MESSAGE: f64 = 480.0;

/// Functions of 16 bytes, one behind the other.
fn symbols(count: u64) -> Symbols {
    let line = |number: u64| format!("{:x} T f{number}\n", BEGIN + 16 * number);
    Symbols::parse(&(0..count).map(line).collect::<String>()).unwrap()
}

/// A sample in these functions, the innermost first.
fn sample(thread: u32, functions: &[u64]) -> StackSample {
    // The sampled address, or the return address: behind the last instruction of the caller.
    let address = |(place, number): (usize, &u64)| BEGIN + 16 * number + if place == 0 { 0 } else { 16 };
    StackSample { thread, stack: functions.iter().enumerate().map(address).collect(), user: None }
}

fn profile(taken: Vec<StackSample>) -> Profile {
    of_parts(&[SampleBatch { taken, lost: 2 }])
}

fn of_parts(parts: &[SampleBatch]) -> Profile {
    let threads = (&BTreeSet::from([1]), &BTreeSet::from([2]));
    Profile::from_samples(parts, &symbols(64), 1000, threads, MESSAGE)
}

#[test]
fn stacks_are_named_from_the_outermost_and_functions_have_what_they_ran_themselves() {
    let found = profile(vec![
        sample(1, &[3, 2, 1]),
        sample(1, &[3, 2, 1]),
        sample(1, &[2, 1]),
        sample(1, &[]),
        sample(2, &[3]),
        sample(7, &[5]),
    ]);
    let folded: Vec<(String, f64)> = found.folded().map(|(frames, cost)| (frames.join(";"), cost)).collect();
    let expected = [("f1;f2;f3", 240.0), ("[ksoftirqd];f3", 120.0), ("[user]", 120.0), ("f1;f2", 120.0)];
    assert_eq!(folded, expected.map(|(stack, cost)| (stack.to_owned(), cost)));
    assert_eq!((found.samples, found.elsewhere, found.lost), (5, 1, 2));
    let costs = found.costs();
    let (first, dearest) = (costs[0].name.as_str(), costs[0].cost);
    assert_eq!((first, dearest), ("f3", 360.0));
    // Of five samples, three: the standard error of a share.
    assert!((costs[0].error - 600.0 * (0.6 * 0.4 / 5.0f64).sqrt()).abs() < 1e-9);
    assert!(costs.iter().all(|cost| cost.name != "f1"), "{costs:?}");
    assert!((costs.iter().map(|cost| cost.cost).sum::<f64>() - 600.0).abs() < 1e-9);
}

#[test]
fn the_way_out_of_a_system_call_is_the_kernels() {
    let code: [u8; 3] = [0x0f, 0x05, 0xc3];
    let at =
        |place: u64| StackSample { thread: 1, stack: Vec::new(), user: Some(code.as_ptr() as u64 + place) };
    let found = profile(vec![at(2), at(2), at(3), StackSample { user: Some(1), ..at(0) }]);
    let own: Vec<(&str, u64)> = found.functions.iter().map(|own| (own.name.as_str(), own.samples)).collect();
    assert_eq!(own, [(RETURN, 2), (USER, 2)]);
}

/// Numbers from 0 to 1, the same each time (Steele et al., OOPSLA 2014: SplitMix64).
fn draw(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed ^ (mixed >> 31)) as f64 / u64::MAX as f64
}

/// Profiles of functions with known shares, whose samples come in bunches of so many on average
/// inside each part: the costs lie around the true ones as far as the standard errors say.
#[test]
fn errors_are_as_large_as_costs_are_off() {
    const SHARES: [f64; 4] = [0.035, 0.1, 0.265, 0.6];
    const PROFILES: u32 = 600;
    let mut state = 1;
    // The factor by which errors from the number of samples alone are too small.
    for (again, too_small) in [(0.0, 1.0), (1.0 / 3.0, 1.4), (0.8, 2.7)] {
        let [mut apart, mut said, mut by_number, mut within] = [0.0; 4];
        for _ in 0..PROFILES {
            let mut part = |size: u64| {
                let mut function = 0;
                let next = |place: u64| {
                    if place == 0 || draw(&mut state) >= again {
                        let drawn = draw(&mut state);
                        let sums = (1..SHARES.len()).map(|one| SHARES[..one].iter().sum::<f64>());
                        function = sums.filter(|sum| *sum < drawn).count() as u64;
                    }
                    sample(1, &[function])
                };
                SampleBatch { taken: (0..size).map(next).collect(), lost: 0 }
            };
            // Parts are of unlike sizes.
            let parts: Vec<SampleBatch> = (0..64).map(|number| part(20 + number % 7)).collect();
            for cost in of_parts(&parts).costs() {
                let share = SHARES[cost.name[1..].parse::<usize>().unwrap()];
                let (off, all) = ((cost.share - share).abs(), 64.0 * 23.0);
                apart += off.powi(2) / (share * (1.0 - share) / all);
                said += (cost.error / MESSAGE).powi(2) / (share * (1.0 - share) / all);
                by_number += 1.0;
                within += f64::from(u8::from(off * MESSAGE <= 1.96 * cost.error));
            }
        }
        let ratio = (apart / said).sqrt();
        let within = within / by_number;
        assert!((0.93..=1.07).contains(&ratio), "in bunches {again}: {ratio}");
        assert!((0.92..=0.97).contains(&within), "in bunches {again}: {within}");
        let alone = (apart / by_number).sqrt();
        assert!((alone / too_small - 1.0).abs() < 0.1, "in bunches {again}: {alone}");
    }
}

#[test]
fn nothing_has_no_costs() {
    let found = profile(Vec::new());
    assert_eq!((found.costs(), found.other()), (Vec::new(), 0.0));
    assert!(found.is_sound());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Any samples: what is kept is bounded, and with what is not kept it is all of the cost.
    #[test]
    fn what_is_kept_and_the_rest_add_up(
        taken in prop::collection::vec((1u32..4, prop::collection::vec(0u64..64, 0..90)), 1..900),
    ) {
        let found = profile(taken.iter().map(|(thread, stack)| sample(*thread, stack)).collect());
        prop_assert!(found.is_sound());
        let of_work = taken.iter().filter(|(thread, _)| *thread < 3).count() as u64;
        prop_assert_eq!((found.samples, found.elsewhere), (of_work, taken.len() as u64 - of_work));
        let kept: f64 = found.folded().map(|(_, cost)| cost).sum();
        let own = taken.iter().filter(|(thread, _)| *thread == 1).count() as f64;
        prop_assert!((kept + found.other() - found.message).abs() < 1e-6);
        prop_assert!((found.message * own - MESSAGE * found.samples as f64).abs() < 1e-6 || own == 0.0);
        prop_assert!(found.costs().windows(2).all(|pair| pair[0].cost >= pair[1].cost));
        let json = serde_json::to_string(&found).unwrap();
        prop_assert_eq!(serde_json::from_str::<Profile>(&json).unwrap(), found);
    }

    /// The order in which samples come says nothing.
    #[test]
    fn the_order_of_samples_changes_nothing(
        (taken, shuffled) in prop::collection::vec((1u32..4, prop::collection::vec(0u64..8, 0..5)), 0..60)
            .prop_flat_map(|taken| (Just(taken.clone()), Just(taken).prop_shuffle())),
    ) {
        let of = |taken: Vec<(u32, Vec<u64>)>| {
            profile(taken.iter().map(|(thread, stack)| sample(*thread, stack)).collect())
        };
        prop_assert_eq!(of(taken), of(shuffled));
    }
}
