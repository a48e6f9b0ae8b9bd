//! The trigger of a requester's next request: an answer, or the clock.

use crate::error::Result;
use crate::lane::{Lane, LaneResult, PhaseCell, Recorder, WINDOW};
use crate::sys;

const SECOND: u64 = 1_000_000_000;

/// When requests are due, and which of them count. In a closed loop an answer is followed by the
/// next request. In an `OPEN` one request number `k` of all flows is due `k / rate` seconds after
/// the start, rounded down to a nanosecond.
pub(crate) struct RequestSource<const OPEN: bool> {
    // The intended time of this flow's next request, in ns.
    next: u64,
    // The part of a nanosecond by which `next` is too early, in `1 / rate` ns: kept, so that no
    // error accumulates.
    rest: u64,
    rate: u64,
    // The interval between this flow's requests, in `1 / rate` ns.
    step: u64,
}

impl<const OPEN: bool> RequestSource<OPEN> {
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
    source: RequestSource<OPEN>,
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
mod tests;
