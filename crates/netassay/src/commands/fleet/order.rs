//! The order in which the pairs of a campaign are measured.

use crate::commands::hosts::PairOfHosts;

/// The reference pair is measured again after this many others at most.
const STRETCH: usize = 10;

/// The pairs in an order drawn from the seed, each with 1; the reference pair at the beginning, at
/// the end and at least every [`STRETCH`] pairs, with its ordinal.
pub(super) fn in_order(pairs: &[PairOfHosts], seed: u64) -> Vec<(&PairOfHosts, u32)> {
    let (reference, mut others): (Vec<&PairOfHosts>, Vec<&PairOfHosts>) =
        pairs.iter().partition(|pair| pair.reference);
    others.sort_by_cached_key(|pair| words::fnv1a(format!("{seed} {}", pair.name).as_bytes()));
    let count = others.len();
    // In the middle too.
    let stretches = count.div_ceil(STRETCH).max(2).min(count);
    let mut order = Vec::new();
    for (stretch, ordinal) in (0..=stretches).zip(1..) {
        order.extend(reference.first().map(|pair| (*pair, ordinal)));
        let ends = [stretch, (stretch + 1).min(stretches)].map(|end| end * count / stretches.max(1));
        order.extend(others[ends[0]..ends[1]].iter().map(|pair| (*pair, 1)));
    }
    order
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn pairs(count: usize, reference: usize) -> Vec<PairOfHosts> {
        let pair = |number: usize| {
            let ends =
                format!("transmitter = {{ ssh = \"a{number}\" }}\nreceiver = {{ ssh = \"b{number}\" }}");
            let text = format!("name = \"p{number}\"\nreference = {}\n{ends}\n", number == reference);
            toml::from_str(&text).unwrap()
        };
        (1..=count).map(pair).collect()
    }

    #[test]
    fn the_reference_pair_is_measured_at_the_beginning_at_the_end_and_between() {
        for (count, times) in [(1, 1), (2, 2), (3, 3), (12, 3), (21, 3), (22, 4), (101, 11), (10_000, 1001)] {
            let pairs = pairs(count, 1);
            let order = in_order(&pairs, 1);
            let places: Vec<usize> = (0..order.len()).filter(|place| order[*place].0.reference).collect();
            assert_eq!(places.len(), times, "{count} pairs");
            assert_eq!((places[0], places[times - 1]), (0, order.len() - 1), "{count} pairs");
            assert!(
                places.windows(2).all(|both| (1..=STRETCH + 1).contains(&(both[1] - both[0]))),
                "{places:?}"
            );
            let ordinals: Vec<u32> = places.iter().map(|place| order[*place].1).collect();
            assert!(ordinals.iter().copied().eq((1..).take(times)), "{ordinals:?}");
            let names: BTreeSet<&str> = order.iter().map(|(pair, _)| pair.name.as_str()).collect();
            assert_eq!((names.len(), order.len()), (count, count + times - 1));
        }
    }

    #[test]
    fn the_seed_alone_says_the_order_of_pairs() {
        let (pairs, none) = (pairs(40, 0), Vec::new());
        let names = |seed: u64| -> Vec<&str> {
            in_order(&pairs, seed).into_iter().map(|(pair, _)| pair.name.as_str()).collect()
        };
        assert_eq!(names(1), names(1));
        assert_ne!(names(1), names(2));
        assert_eq!(names(1).len(), 40);
        assert!(in_order(&none, 1).is_empty());
    }
}
