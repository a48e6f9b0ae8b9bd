//! Several transactions under way, triggered by answers or by the clock.

use std::collections::VecDeque;

use words::{MAX_IN_FLIGHT, Reader};

use super::{NUMBER, number_mask, read_number, verify_number, write_number};
use crate::error::Result;
use crate::lane::{Call, Lane, LaneResult, LoopStep, QUIET, Recorder, Tally};
use crate::message::Buffer;
use crate::socket::answer_time;
use crate::sys;
use crate::workload::port::Port;
use crate::workload::source::{RequestSource, end_of};

// In ns, for an open loop: a late answer must show as a latency, not as a loss. A closed loop waits
// for `answer_time`, enough if there is no room for another request.
const PATIENCE: u64 = 1_000_000_000;
// Interval of the checks for unanswered requests, ns; also the longest wait.
const LOOK: u64 = 10_000_000;

pub(super) fn send<const OPEN: bool>(lane: &Lane, port: &impl Port) -> Result<LaneResult> {
    let limit = if OPEN { MAX_IN_FLIGHT } else { lane.traffic.in_flight };
    let asker = Asker {
        lane,
        request: Buffer::pattern(lane.message.max(NUMBER)),
        answer: Buffer::room((lane.response + 1).max(NUMBER)),
        slots: Slots::new(limit, number_mask(lane.message.min(lane.response))),
        latencies: Recorder::new(lane.flows()),
        tally: lane.tally(),
        answered: false,
        heard: 0,
    };
    lane.ready();
    asker.run(port, RequestSource::<OPEN>::begin(lane))
}

struct Asker<'a> {
    lane: &'a Lane,
    request: Buffer,
    answer: Buffer,
    slots: Slots,
    latencies: Recorder,
    tally: Tally<'a>,
    answered: bool,
    heard: u64,
}

impl Asker<'_> {
    fn run<const OPEN: bool>(
        mut self,
        port: &impl Port,
        mut source: RequestSource<OPEN>,
    ) -> Result<LaneResult> {
        let (lane, phase) = (self.lane, self.lane.phase());
        // A receive that sleeps until its timeout cannot follow a clock.
        let spins = lane.traffic.reader == Reader::Spin;
        let flags = if OPEN || spins { libc::MSG_DONTWAIT } else { 0 };
        let mut now = sys::now();
        let mut look = now + LOOK;
        self.heard = now;
        while phase.load() < QUIET {
            if self.ask(port, &mut source, now)? == LoopStep::End {
                break;
            }
            let got = port.receive(self.answer.as_mut(), flags);
            if got < 0 && OPEN && !spins && sys::errno() == libc::EAGAIN {
                let due = if self.slots.has_room() { source.next() } else { u64::MAX };
                if due > now {
                    sys::wait_for(lane.fd, libc::POLLIN, due.min(now + LOOK));
                }
                now = sys::now();
            } else {
                now = sys::now();
                if self.take::<OPEN>(got, now)? == LoopStep::End {
                    break;
                }
            }
            if now >= look {
                self.give_up::<OPEN>(now)?;
                look = now + LOOK;
            }
        }
        let end = end_of(lane, source, self.slots.under_way(), self.latencies);
        let answer = self.answer.as_ref();
        let verified = if self.answered { verify_number(lane, answer, lane.response)? } else { 0 };
        Ok(LaneResult { verified, ..end })
    }

    #[inline(always)]
    fn ask<const OPEN: bool>(
        &mut self,
        port: &impl Port,
        source: &mut RequestSource<OPEN>,
        now: u64,
    ) -> Result<LoopStep> {
        while let Some(number) = self.slots.next() {
            let meant = source.next();
            if meant > now {
                break;
            }
            write_number(self.request.as_mut(), number);
            let sent = port.send(&self.request.as_ref()[..self.lane.message]);
            if sent > 0 {
                self.tally.message(sent as u64);
                // In a closed loop each is due now.
                self.slots.sent(if meant == 0 { now } else { meant }, now);
                source.sent();
            } else if sys::errno() == libc::ENOBUFS {
                // This end's queue is full: the request is sent after the next answers.
                self.tally.no_buffers();
                break;
            } else {
                return self.lane.trouble(Call::SEND, sent);
            }
        }
        Ok(LoopStep::Again)
    }

    #[inline(always)]
    fn take<const OPEN: bool>(&mut self, got: isize, now: u64) -> Result<LoopStep> {
        let lane = self.lane;
        if got <= 0 {
            return match sys::errno() {
                _ if lane.phase().load() >= QUIET => Ok(LoopStep::End),
                // A timeout is handled elsewhere.
                errno if got == 0 || errno == libc::EAGAIN => Ok(LoopStep::Again),
                _ => lane.trouble(Call::RECV, got),
            };
        }
        self.tally.call();
        let answer = self.answer.as_ref();
        let meant =
            if got == lane.response as isize { self.slots.answered(read_number(answer)) } else { None };
        let Some(meant) = meant else {
            self.tally.late();
            return Ok(LoopStep::Again);
        };
        if lane.traffic.verify {
            verify_number(lane, answer, lane.response)?;
        }
        self.tally.transaction();
        (self.answered, self.heard) = (true, now);
        if RequestSource::<OPEN>::counts(lane.phase(), meant) {
            self.latencies.record(now - meant);
        }
        Ok(LoopStep::Again)
    }

    #[cold]
    fn give_up<const OPEN: bool>(&mut self, now: u64) -> Result<()> {
        let answer = answer_time(self.lane.flows()).as_nanos() as u64;
        let patience = if OPEN && self.slots.has_room() { PATIENCE } else { answer };
        let waiting = self.slots.under_way().next().is_some();
        for _ in 0..self.slots.give_up(now.saturating_sub(patience)) {
            self.tally.timeout();
        }
        if !waiting {
            self.heard = now;
        }
        self.lane.check_heard(self.heard, now)
    }
}

// Each place has its own numbers, one for each use: an answer to a given-up request names none.
// Numbers wrap at the bits of a message.
pub(super) struct Slots {
    places: Vec<Slot>,
    // The longest free first, so that a number comes again as late as possible.
    free: VecDeque<u32>,
    mask: u64,
}

struct Slot {
    number: u64,
    meant: u64,
    sent: u64,
    open: bool,
}

impl Slots {
    pub(super) fn new(limit: u32, mask: u64) -> Self {
        // Each place needs two numbers: the answer to a request that was given up must not be taken
        // for that to the next.
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

    pub(super) fn next(&self) -> Option<u64> {
        self.free.front().map(|place| self.places[*place as usize].number)
    }

    pub(super) fn sent(&mut self, meant: u64, now: u64) {
        if let Some(place) = self.free.pop_front() {
            let place = &mut self.places[place as usize];
            (place.meant, place.sent, place.open) = (meant, now, true);
        }
    }

    /// When the request of an answer was due; `None`: it is not under way.
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
mod tests;
