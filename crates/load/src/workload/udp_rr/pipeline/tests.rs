use super::*;
use std::collections::HashMap;

use proptest::prelude::*;

#[derive(Clone, Debug)]
enum PipelineStep {
    Send,
    /// The answer to one of the requests under way, by its position.
    Answer(usize),
    Stray(u64),
    GiveUp(u64),
}

fn steps() -> impl Strategy<Value = Vec<PipelineStep>> {
    let step = prop_oneof![
        4 => Just(PipelineStep::Send),
        3 => any::<usize>().prop_map(PipelineStep::Answer),
        1 => any::<u64>().prop_map(PipelineStep::Stray),
        1 => (0u64..50).prop_map(PipelineStep::GiveUp),
    ];
    proptest::collection::vec(step, 0..400)
}

proptest! {
    /// Compares with a plain list.
    #[test]
    fn answers_find_their_requests(limit in 1u32..1025, bytes in 1usize..10, steps in steps()) {
        let mask = number_mask(bytes);
        let mut slots = Slots::new(limit, mask);
        let room = u64::from(limit).min(mask / 2 + 1) as usize;
        let mut open: HashMap<u64, (u64, u64)> = HashMap::new();
        for (now, step) in steps.into_iter().enumerate() {
            let now = now as u64;
            match step {
                PipelineStep::Send => match slots.next() {
                    Some(number) => {
                        prop_assert!(!open.contains_key(&(number & mask)), "a number in use");
                        slots.sent(1000 + now, now);
                        open.insert(number & mask, (1000 + now, now));
                    }
                    None => prop_assert_eq!(open.len(), room),
                },
                PipelineStep::Answer(which) if !open.is_empty() => {
                    let mut numbers: Vec<u64> = open.keys().copied().collect();
                    numbers.sort_unstable();
                    let number = numbers[which % numbers.len()];
                    prop_assert_eq!(slots.answered(number), open.remove(&number).map(|(meant, _)| meant));
                    prop_assert_eq!(slots.answered(number), None, "a second answer");
                }
                PipelineStep::Answer(_) => {}
                PipelineStep::Stray(number) => {
                    let known = open.remove(&(number & mask)).map(|(meant, _)| meant);
                    prop_assert_eq!(slots.answered(number & mask), known);
                }
                PipelineStep::GiveUp(age) => {
                    let earliest = now.saturating_sub(age);
                    let before = open.len();
                    open.retain(|_, (_, sent)| *sent >= earliest);
                    prop_assert_eq!(slots.give_up(earliest), (before - open.len()) as u64);
                }
            }
            prop_assert_eq!(slots.under_way().count(), open.len());
            prop_assert_eq!(slots.has_room(), open.len() < room);
        }
    }
}
