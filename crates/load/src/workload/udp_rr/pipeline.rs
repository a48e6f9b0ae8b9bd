//! Several transactions under way, triggered by answers or by the clock.

use super::number;
use super::slots::Slots;
use words::{MAX_IN_FLIGHT, Reader};

use crate::error::Result;
use crate::lane::{Call, Lane, LaneResult, LoopStep, QUIET, Recorder, Tally};
use crate::message::Buffer;
use crate::socket::{answer_time, stall};
use crate::sys;
use crate::workload::port::Port;
use crate::workload::source::{Source, end_of};

/// Wait of an open loop for an answer, ns: its requests do not wait for each other, and a late
/// answer must show as a latency, not as a loss. A closed loop waits for `answer_time`, which is
/// enough if there is no room for another request.
const PATIENCE: u64 = 1_000_000_000;
/// Interval of the checks for unanswered requests, ns; also the longest wait.
const LOOK: u64 = 10_000_000;

pub(super) fn send<S: Source>(lane: &Lane, port: &impl Port) -> Result<LaneResult> {
    let limit = if lane.traffic.rate.is_some() { MAX_IN_FLIGHT } else { lane.traffic.in_flight };
    let asker = Asker {
        lane,
        request: Buffer::pattern(lane.message.max(number::NUMBER)),
        answer: Buffer::room((lane.response + 1).max(number::NUMBER)),
        slots: Slots::new(limit, number::mask(lane.message.min(lane.response))),
        latencies: Recorder::new(lane.flows()),
        tally: lane.tally(),
        answered: false,
        heard: 0,
    };
    lane.ready();
    asker.run(port, S::begin(lane))
}

struct Asker<'a> {
    lane: &'a Lane,
    request: Buffer,
    answer: Buffer,
    slots: Slots,
    latencies: Recorder,
    tally: Tally<'a>,
    answered: bool,
    /// When an answer came last, or there was none to wait for.
    heard: u64,
}

impl Asker<'_> {
    fn run<S: Source>(mut self, port: &impl Port, mut source: S) -> Result<LaneResult> {
        let (lane, phase) = (self.lane, self.lane.phase());
        // A receive that sleeps until its timeout cannot follow a clock.
        let clocked = lane.traffic.rate.is_some();
        let spins = lane.traffic.reader == Reader::Spin;
        let flags = if clocked || spins { libc::MSG_DONTWAIT } else { 0 };
        let mut now = sys::now();
        let mut look = now + LOOK;
        self.heard = now;
        while phase.load() < QUIET {
            if self.ask(port, &mut source, now)? == LoopStep::End {
                break;
            }
            let got = port.receive(self.answer.as_mut(), flags);
            if got < 0 && clocked && !spins && sys::errno() == libc::EAGAIN {
                let due = if self.slots.has_room() { source.next() } else { u64::MAX };
                if due > now {
                    sys::wait_for(lane.fd, libc::POLLIN, due.min(now + LOOK));
                }
                now = sys::now();
            } else {
                now = sys::now();
                if self.take::<S>(got, now)? == LoopStep::End {
                    break;
                }
            }
            if now >= look {
                self.give_up(now, clocked)?;
                look = now + LOOK;
            }
        }
        let end = end_of(lane, source, self.slots.under_way(), self.latencies);
        let answer = self.answer.as_ref();
        let verified = if self.answered { number::verify(lane, answer, lane.response)? } else { 0 };
        Ok(LaneResult { verified, ..end })
    }

    /// Sends due requests, as far as there is room.
    #[inline(always)]
    fn ask(&mut self, port: &impl Port, source: &mut impl Source, now: u64) -> Result<LoopStep> {
        while let Some(number) = self.slots.next() {
            let meant = source.next();
            if meant > now {
                break;
            }
            number::write(self.request.as_mut(), number);
            let sent = port.send(&self.request.as_ref()[..self.lane.message]);
            if sent > 0 {
                self.tally.message(sent as u64);
                // In a closed loop each is due now.
                self.slots.sent(if meant == 0 { now } else { meant }, now);
                source.sent();
            } else if sys::errno() == libc::ENOBUFS {
                // This end's own queue is full: the request was never under way, and is sent after
                // the next answers.
                self.tally.no_buffers();
                break;
            } else {
                return self.lane.trouble(Call::Send, sent);
            }
        }
        Ok(LoopStep::Again)
    }

    #[inline(always)]
    fn take<S: Source>(&mut self, got: isize, now: u64) -> Result<LoopStep> {
        let lane = self.lane;
        if got <= 0 {
            return self.nothing(got);
        }
        self.tally.call();
        let answer = self.answer.as_ref();
        let meant =
            if got == lane.response as isize { self.slots.answered(number::read(answer)) } else { None };
        let Some(meant) = meant else {
            self.tally.late();
            return Ok(LoopStep::Again);
        };
        if lane.traffic.verify {
            number::verify(lane, answer, lane.response)?;
        }
        self.tally.transaction();
        (self.answered, self.heard) = (true, now);
        if S::counts(lane.phase(), meant) {
            self.latencies.record(now - meant);
        }
        Ok(LoopStep::Again)
    }

    /// A receive returned nothing: a timeout, which is handled elsewhere, or the end.
    fn nothing(&mut self, got: isize) -> Result<LoopStep> {
        if self.lane.phase().load() >= QUIET {
            return Ok(LoopStep::End);
        }
        if got == 0 || sys::errno() == libc::EAGAIN {
            return Ok(LoopStep::Again);
        }
        self.lane.trouble(Call::Recv, got)
    }

    /// Gives up requests that were not answered in time.
    #[cold]
    fn give_up(&mut self, now: u64, clocked: bool) -> Result<()> {
        let answer = answer_time(self.lane.flows()).as_nanos() as u64;
        let patience = if clocked && self.slots.has_room() { PATIENCE } else { answer };
        let waiting = self.slots.under_way().next().is_some();
        for _ in 0..self.slots.give_up(now.saturating_sub(patience)) {
            self.tally.timeout();
        }
        if !waiting {
            self.heard = now;
        }
        let stall = stall(self.lane.flows()).as_nanos();
        if u128::from(now.saturating_sub(self.heard)) >= stall && self.lane.phase().load() < QUIET {
            return Err(self.lane.stalled(Call::Recv.silence()));
        }
        Ok(())
    }
}
