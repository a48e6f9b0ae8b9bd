//! The trigger of a requester's next request: an answer, or the clock.

use crate::error::Result;
use crate::lane::{Lane, LaneResult, PhaseCell, Recorder, WINDOW};
use crate::sys;

const SECOND: u64 = 1_000_000_000;

/// When requests are due, and which of them count. In a closed loop an answer is followed by the
/// next request. In an `OPEN` one request number `k` of all flows is due `k / rate` seconds after
/// the start, rounded down to a nanosecond.
pub(crate) struct Source<const OPEN: bool> {
    // The intended time of this flow's next request, in ns.
    next: u64,
    // The part of a nanosecond by which `next` is too early, in `1 / rate` ns: kept, so that no
    // error accumulates.
    rest: u64,
    rate: u64,
    // The interval between this flow's requests, in `1 / rate` ns.
    step: u64,
}

impl<const OPEN: bool> Source<OPEN> {
    pub(crate) fn begin(lane: &Lane) -> Self {
        // Requests per second over all flows.
        let rate = lane.traffic.rate.unwrap_or(1);
        Self::new(lane.control.wait_at_gate(), rate, lane.flow, lane.flows())
    }

    fn new(start: u64, rate: u32, flow: usize, flows: usize) -> Self {
        let rate = u64::from(rate.max(1));
        let first = flow as u64 * SECOND;
        Self { next: start + first / rate, rest: first % rate, rate, step: flows.max(1) as u64 * SECOND }
    }

    /// 0: at once.
    #[inline(always)]
    pub(crate) fn next(&self) -> u64 {
        if OPEN { self.next } else { 0 }
    }

    #[inline(always)]
    pub(crate) fn sent(&mut self) {
        if OPEN {
            self.rest += self.step;
            self.next += self.rest / self.rate;
            self.rest %= self.rate;
        }
    }

    #[inline(always)]
    pub(crate) fn counts(phase: &PhaseCell, meant: u64) -> bool {
        // In an open loop requests due in the window count, however late they end: else a stall
        // would hide the requests that it delays. In a closed one both ends must be in it.
        (OPEN || phase.load() == WINDOW) && phase.window_holds(meant)
    }

    /// Records the window's unsent requests with the time that they waited; returns their number.
    pub(crate) fn end(mut self, now: u64, phase: &PhaseCell, latencies: &mut Recorder) -> u64 {
        // Far beyond the path's capacity there are too many for single records.
        const STEPS: u64 = 100_000;
        let unsent = if OPEN { self.overdue(now.min(phase.closed())) } else { 0 };
        let step = unsent.div_ceil(STEPS);
        let mut left = unsent;
        while left > 0 {
            let some = step.min(left);
            if phase.window_holds(self.next) {
                latencies.record_many(now - self.next, some);
            }
            self.advance_by(some);
            left -= some;
        }
        unsent
    }

    fn advance_by(&mut self, requests: u64) {
        let rest = u128::from(self.rest) + u128::from(self.step) * u128::from(requests);
        let rate = u128::from(self.rate);
        self.next = self.next.saturating_add(u64::try_from(rest / rate).unwrap_or(u64::MAX));
        self.rest = (rest % rate) as u64;
    }

    fn overdue(&self, now: u64) -> u64 {
        let Some(late) = now.checked_sub(self.next).filter(|late| *late > 0) else { return 0 };
        // Number i from here is due at next + (i step + rest) / rate, rounded down, which is before
        // `now` as long as i step + rest < late rate.
        let room = u128::from(late) * u128::from(self.rate) - u128::from(self.rest);
        u64::try_from(room.div_ceil(u128::from(self.step))).unwrap_or(u64::MAX)
    }
}

/// Asks by the clock, with several requests under way, or one transaction after the other.
pub(crate) fn ask<P>(
    lane: &Lane,
    port: &P,
    [open, closed, plain]: [fn(&Lane, &P) -> Result<LaneResult>; 3],
) -> Result<LaneResult> {
    if lane.traffic.rate.is_some() {
        sys::sharpen_timers();
        open(lane, port)
    } else if lane.traffic.in_flight > 1 {
        closed(lane, port)
    } else {
        plain(lane, port)
    }
}

// Requests of an open loop that are still under way have taken until now.
pub(crate) fn end_of<const OPEN: bool>(
    lane: &Lane,
    source: Source<OPEN>,
    under_way: impl Iterator<Item = u64>,
    mut latencies: Recorder,
) -> LaneResult {
    let (phase, now) = (lane.phase(), sys::now());
    let mut unanswered = 0;
    for meant in under_way.filter(|meant| OPEN && phase.window_holds(*meant)) {
        latencies.record(now - meant);
        unanswered += 1;
    }
    let unsent = source.end(now, phase, &mut latencies);
    LaneResult { latencies: vec![latencies], unsent, unanswered, ..LaneResult::default() }
}

#[derive(Clone, Copy, Default)]
pub(crate) struct Begun {
    pub(crate) at: u64,
    pub(crate) phase: u8,
}

impl Begun {
    #[inline(always)]
    pub(crate) fn now(phase: &PhaseCell) -> Self {
        Self { at: sys::now(), phase: phase.load() }
    }

    // A transaction counts if it was within the window.
    #[inline(always)]
    pub(crate) fn next(&mut self, now: u64, phase: u8, latencies: &mut Recorder) {
        if self.phase == WINDOW && phase == WINDOW {
            latencies.record(now - self.at);
        }
        *self = Self { at: now, phase };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use words::{MAX_FLOWS, MAX_RATE};

    use crate::lane::TAIL;
    use crate::lane::latency::merge;

    #[test]
    fn what_was_never_sent_has_waited_until_the_end() {
        let phase = PhaseCell::default();
        phase.advance(WINDOW);
        let begin = sys::now() + 1;
        std::thread::sleep(std::time::Duration::from_millis(5));
        phase.advance(TAIL);
        // A request each microsecond from the window's opening, none of them sent; checked one
        // second after it closed.
        let end = phase.closed() + 1_000_000_000;
        let mut latencies = Recorder::new(1);
        let unsent = Source::<true>::new(begin, 1_000_000, 0, 1).end(end, &phase, &mut latencies);
        assert_eq!(unsent, (phase.closed() - begin).div_ceil(1000));
        let latency = merge(vec![latencies]).unwrap();
        assert_eq!(latency.count, unsent);
        assert!(latency.min >= 999_000_000 && latency.max >= 1_004_000_000, "{latency:?}");
    }

    #[test]
    fn a_closed_loop_counts_what_lies_in_the_window() {
        let phase = PhaseCell::default();
        let before = sys::now();
        phase.advance(WINDOW);
        let inside = sys::now();
        assert!(!Source::<false>::counts(&phase, before - 1) && Source::<false>::counts(&phase, inside));
        phase.advance(TAIL);
        assert!(!Source::<false>::counts(&phase, inside), "it ended too late");
        assert!(Source::<true>::counts(&phase, inside), "it was meant for the window");
    }

    /// The time of request number `request` of a flow, by the definition.
    fn exact(start: u64, rate: u32, flow: usize, flows: usize, request: u64) -> u64 {
        let number = u128::from(request) * flows as u128 + flow as u128;
        start + u64::try_from(number * u128::from(SECOND) / u128::from(rate)).unwrap()
    }

    fn taken(mut schedule: Source<true>, requests: usize) -> Vec<u64> {
        std::iter::repeat_with(|| {
            let next = schedule.next;
            schedule.sent();
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
            let times = taken(Source::<true>::new(start, rate, flow, flows), 200);
            for (request, time) in times.iter().enumerate() {
                prop_assert_eq!(*time, exact(start, rate, flow, flows, request as u64));
            }
        }

        #[test]
        fn many_steps_at_once_are_as_many_single_ones(
            rate in 1..=MAX_RATE, flows in 1usize..1024, one in 0usize..500, more in 0usize..500,
        ) {
            let mut schedule = Source::<true>::new(7, rate, 0, flows);
            (0..one).for_each(|_| schedule.sent());
            schedule.advance_by(more as u64);
            prop_assert_eq!(schedule.next, exact(7, rate, 0, flows, (one + more) as u64));
        }

        #[test]
        fn what_is_overdue_is_counted(
            rate in 1..=MAX_RATE, flows in 1usize..64, flow in 0usize..64, taken in 0u64..1000, late in 0u64..1_000_000,
        ) {
            prop_assume!(flow < flows);
            let mut schedule = Source::<true>::new(1000, rate, flow, flows);
            schedule.advance_by(taken);
            let now = schedule.next + late;
            let overdue = schedule.overdue(now);
            if overdue > 0 {
                prop_assert!(exact(1000, rate, flow, flows, taken + overdue - 1) < now);
            }
            prop_assert!(exact(1000, rate, flow, flows, taken + overdue) >= now);
            prop_assert_eq!(schedule.overdue(schedule.next - 1), 0);
        }
    }

    #[test]
    fn the_flows_take_turns_evenly() {
        let mut all: Vec<u64> =
            (0..4).flat_map(|flow| taken(Source::<true>::new(0, 1_000, flow, 4), 250)).collect();
        all.sort_unstable();
        let expected: Vec<u64> = (0..1000).map(|request| request * 1_000_000).collect();
        assert_eq!(all, expected);
    }
}
