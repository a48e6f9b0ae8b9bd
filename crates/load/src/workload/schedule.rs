//! The intended times of an open loop's requests.

/// The intended times of one flow's requests, in ns. All flows together send `rate` requests a
/// second, evenly: request number `k` of all is due `k / rate` seconds after the start, rounded
/// down to a nanosecond, without an accumulating error.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    next: u64,
    /// The part of a nanosecond by which `next` is too early, in `1 / rate` ns.
    rest: u64,
    rate: u64,
    /// The interval between this flow's requests, in `1 / rate` ns.
    step: u64,
}

const SECOND: u64 = 1_000_000_000;

impl Schedule {
    /// The schedule of flow number `flow` of `flows`, for `rate` requests per second over all of
    /// them.
    pub(crate) fn new(start: u64, rate: u32, flow: usize, flows: usize) -> Self {
        let rate = u64::from(rate.max(1));
        let first = flow as u64 * SECOND;
        Self { next: start + first / rate, rest: first % rate, rate, step: flows.max(1) as u64 * SECOND }
    }

    #[inline(always)]
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// The next request was sent, or given up.
    #[inline(always)]
    pub(crate) fn advance(&mut self) {
        self.rest += self.step;
        self.next += self.rest / self.rate;
        self.rest %= self.rate;
    }

    pub(crate) fn advance_by(&mut self, requests: u64) {
        let rest = u128::from(self.rest) + u128::from(self.step) * u128::from(requests);
        let rate = u128::from(self.rate);
        self.next = self.next.saturating_add(u64::try_from(rest / rate).unwrap_or(u64::MAX));
        self.rest = (rest % rate) as u64;
    }

    /// The number of unsent requests that were due before `now`.
    pub(crate) fn overdue(&self, now: u64) -> u64 {
        let Some(late) = now.checked_sub(self.next).filter(|late| *late > 0) else { return 0 };
        // Number i from here is due at next + (i step + rest) / rate, rounded down, which is before
        // `now` as long as i step + rest < late rate.
        let room = u128::from(late) * u128::from(self.rate) - u128::from(self.rest);
        u64::try_from(room.div_ceil(u128::from(self.step))).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use words::{MAX_FLOWS, MAX_RATE};

    /// The time of request number `request` of a flow, by the definition.
    fn exact(start: u64, rate: u32, flow: usize, flows: usize, request: u64) -> u64 {
        let number = u128::from(request) * flows as u128 + flow as u128;
        start + u64::try_from(number * u128::from(SECOND) / u128::from(rate)).unwrap()
    }

    fn taken(mut schedule: Schedule, requests: usize) -> Vec<u64> {
        std::iter::repeat_with(|| {
            let next = schedule.next();
            schedule.advance();
            next
        })
        .take(requests)
        .collect()
    }

    proptest! {
        #[test]
        fn every_request_has_its_exact_time(
            start in 0u64..1 << 60, rate in 1..=MAX_RATE, flows in 1..=MAX_FLOWS as usize, flow in 0usize..1024,
        ) {
            prop_assume!(flow < flows);
            let times = taken(Schedule::new(start, rate, flow, flows), 200);
            for (request, time) in times.iter().enumerate() {
                prop_assert_eq!(*time, exact(start, rate, flow, flows, request as u64));
            }
        }

        #[test]
        fn many_steps_at_once_are_as_many_single_ones(
            rate in 1..=MAX_RATE, flows in 1usize..1024, one in 0usize..500, more in 0usize..500,
        ) {
            let mut schedule = Schedule::new(7, rate, 0, flows);
            (0..one).for_each(|_| schedule.advance());
            schedule.advance_by(more as u64);
            prop_assert_eq!(schedule.next(), exact(7, rate, 0, flows, (one + more) as u64));
        }

        #[test]
        fn what_is_overdue_is_counted(
            rate in 1..=MAX_RATE, flows in 1usize..64, flow in 0usize..64, taken in 0u64..1000, late in 0u64..1_000_000,
        ) {
            prop_assume!(flow < flows);
            let mut schedule = Schedule::new(1000, rate, flow, flows);
            schedule.advance_by(taken);
            let now = schedule.next() + late;
            let overdue = schedule.overdue(now);
            if overdue > 0 {
                prop_assert!(exact(1000, rate, flow, flows, taken + overdue - 1) < now);
            }
            prop_assert!(exact(1000, rate, flow, flows, taken + overdue) >= now);
            prop_assert_eq!(schedule.overdue(schedule.next() - 1), 0);
        }
    }

    #[test]
    fn the_flows_take_turns_evenly() {
        let mut all: Vec<u64> =
            (0..4).flat_map(|flow| taken(Schedule::new(0, 1_000, flow, 4), 250)).collect();
        all.sort_unstable();
        let expected: Vec<u64> = (0..1000).map(|request| request * 1_000_000).collect();
        assert_eq!(all, expected);
    }
}
