//! The requests under way.

use std::collections::VecDeque;

/// Places for requests under way. Each place has its own numbers, one for each use: an answer names
/// its request, and an answer to a given-up request names none. Numbers wrap at the bits of a
/// message.
pub(super) struct Slots {
    places: Vec<Slot>,
    /// The free places, the longest free first, so that a number comes again as late as possible.
    free: VecDeque<u32>,
    /// The bits of a number in a message.
    mask: u64,
}

struct Slot {
    number: u64,
    /// When its request was due, and when it was sent, ns.
    meant: u64,
    sent: u64,
    open: bool,
}

impl Slots {
    /// Room for `limit` requests under way, or for as many as the bits of `mask` distinguish twice.
    pub(super) fn new(limit: u32, mask: u64) -> Self {
        let limit = u64::from(limit.max(1)).min(mask / 2 + 1);
        // A number's lower bits are its place.
        let stride = limit.next_power_of_two();
        let free = (0..limit as u32).collect();
        let place = |at| Slot { number: at, meant: 0, sent: 0, open: false };
        Self { places: (0..stride).map(place).collect(), free, mask }
    }

    pub(super) fn has_room(&self) -> bool {
        !self.free.is_empty()
    }

    /// The number of the next request, if there is room.
    pub(super) fn next(&self) -> Option<u64> {
        self.free.front().map(|place| self.places[*place as usize].number)
    }

    pub(super) fn sent(&mut self, meant: u64, now: u64) {
        if let Some(place) = self.free.pop_front() {
            let place = &mut self.places[place as usize];
            (place.meant, place.sent, place.open) = (meant, now, true);
        }
    }

    /// Ends the request of an answer: returns when it was due, if it is under way.
    pub(super) fn answered(&mut self, number: u64) -> Option<u64> {
        let at = number & (self.places.len() as u64 - 1);
        let place = &mut self.places[at as usize];
        if !place.open || (place.number ^ number) & self.mask != 0 {
            return None;
        }
        let meant = place.meant;
        self.release(at as usize);
        Some(meant)
    }

    /// Gives up all requests sent before `earliest`; returns how many.
    pub(super) fn give_up(&mut self, earliest: u64) -> u64 {
        let mut given_up = 0;
        for at in 0..self.places.len() {
            if self.places[at].open && self.places[at].sent < earliest {
                self.release(at);
                given_up += 1;
            }
        }
        given_up
    }

    pub(super) fn under_way(&self) -> impl Iterator<Item = u64> {
        self.places.iter().filter(|place| place.open).map(|place| place.meant)
    }

    fn release(&mut self, at: usize) {
        let stride = self.places.len() as u64;
        let place = &mut self.places[at];
        place.open = false;
        place.number = place.number.wrapping_add(stride);
        self.free.push_back(at as u32);
    }
}

#[cfg(test)]
mod tests {
    use super::super::number;
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    #[derive(Clone, Debug)]
    enum Step {
        Send,
        /// The answer to one of the requests under way, by its position.
        Answer(usize),
        Stray(u64),
        GiveUp(u64),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            4 => Just(Step::Send),
            3 => any::<usize>().prop_map(Step::Answer),
            1 => any::<u64>().prop_map(Step::Stray),
            1 => (0u64..50).prop_map(Step::GiveUp),
        ];
        proptest::collection::vec(step, 0..400)
    }

    proptest! {
        /// Compares with a plain list.
        #[test]
        fn answers_find_their_requests(limit in 1u32..1025, bytes in 1usize..10, steps in steps()) {
            let mask = number::mask(bytes);
            let mut slots = Slots::new(limit, mask);
            let room = u64::from(limit).min(mask / 2 + 1) as usize;
            let mut open: HashMap<u64, (u64, u64)> = HashMap::new();
            for (now, step) in steps.into_iter().enumerate() {
                let now = now as u64;
                match step {
                    Step::Send => match slots.next() {
                        Some(number) => {
                            prop_assert!(!open.contains_key(&(number & mask)), "a number in use");
                            slots.sent(1000 + now, now);
                            open.insert(number & mask, (1000 + now, now));
                        }
                        None => prop_assert_eq!(open.len(), room),
                    },
                    Step::Answer(which) if !open.is_empty() => {
                        let mut numbers: Vec<u64> = open.keys().copied().collect();
                        numbers.sort_unstable();
                        let number = numbers[which % numbers.len()];
                        prop_assert_eq!(slots.answered(number), open.remove(&number).map(|(meant, _)| meant));
                        prop_assert_eq!(slots.answered(number), None, "a second answer");
                    }
                    Step::Answer(_) => {}
                    Step::Stray(number) => {
                        let known = open.remove(&(number & mask)).map(|(meant, _)| meant);
                        prop_assert_eq!(slots.answered(number & mask), known);
                    }
                    Step::GiveUp(age) => {
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
}
