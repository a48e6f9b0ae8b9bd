//! Several transactions under way, asked for one another's answers or by the clock.

use super::number;
use super::slots::Slots;
use words::{MAX_IN_FLIGHT, Reader};

use crate::error::Result;
use crate::lane::{Call, End, Lane, Next, QUIET, Recorder, Tally};
use crate::message::Buffer;
use crate::socket::{answer_time, stall};
use crate::sys;
use crate::workload::port::Port;
use crate::workload::source::Source;

/// How long an open loop waits for an answer, ns: its requests do not wait for one another, and an
/// answer that comes late is to show as a latency rather than as a loss. Where a closed loop's
/// `answer_time` is over and there is no room for another request, that is enough.
const PATIENCE: u64 = 1_000_000_000;
/// How often requests that nobody answers are looked for, ns; also how long a wait may take.
const LOOK: u64 = 10_000_000;

pub(super) fn send<S: Source>(lane: &Lane, port: &impl Port, source: impl Fn(&Lane) -> S) -> Result<End> {
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
    asker.run(port, source(lane))
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
    fn run<S: Source>(mut self, port: &impl Port, mut source: S) -> Result<End> {
        let (lane, phase) = (self.lane, self.lane.phase());
        // Who sleeps in a receive until its timeout serves no clock.
        let clocked = lane.traffic.rate.is_some();
        let spins = lane.traffic.reader == Reader::Spin;
        let flags = if clocked || spins { libc::MSG_DONTWAIT } else { 0 };
        let mut now = sys::now();
        let mut look = now + LOOK;
        self.heard = now;
        while phase.load() < QUIET {
            if self.ask(port, &mut source, now)? == Next::End {
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
                if self.take::<S>(got, now)? == Next::End {
                    break;
                }
            }
            if now >= look {
                self.give_up(now, clocked)?;
                look = now + LOOK;
            }
        }
        self.end(source, clocked)
    }

    /// Sends what is due, as far as there is room.
    #[inline(always)]
    fn ask(&mut self, port: &impl Port, source: &mut impl Source, now: u64) -> Result<Next> {
        while let Some(number) = self.slots.next() {
            let meant = source.next();
            if meant > now {
                break;
            }
            number::write(self.request.as_mut(), number);
            let sent = port.send(&self.request.as_ref()[..self.lane.message]);
            if sent > 0 {
                self.tally.message(sent as u64);
                // In a closed loop each is meant for now.
                self.slots.sent(if meant == 0 { now } else { meant }, now);
                source.sent();
            } else if sys::errno() == libc::ENOBUFS {
                // This end's own queue is full: the request was never under way, and is sent when
                // answers have come.
                self.tally.no_buffers();
                break;
            } else {
                return self.lane.trouble(Call::Send, sent);
            }
        }
        Ok(Next::Again)
    }

    #[inline(always)]
    fn take<S: Source>(&mut self, got: isize, now: u64) -> Result<Next> {
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
            return Ok(Next::Again);
        };
        if lane.traffic.verify {
            number::verify(lane, answer, lane.response)?;
        }
        self.tally.transaction();
        (self.answered, self.heard) = (true, now);
        if S::counts(lane.phase(), meant) {
            self.latencies.record(now - meant);
        }
        Ok(Next::Again)
    }

    /// A receive gave nothing: there was none in time, which is looked into elsewhere, or there
    /// will be no more.
    fn nothing(&mut self, got: isize) -> Result<Next> {
        if self.lane.phase().load() >= QUIET {
            return Ok(Next::End);
        }
        if got == 0 || sys::errno() == libc::EAGAIN {
            return Ok(Next::Again);
        }
        self.lane.trouble(Call::Recv, got)
    }

    /// Gives up what was not answered in time.
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

    /// The account. Of an open loop's window, what is still under way has taken until now.
    fn end<S: Source>(mut self, source: S, clocked: bool) -> Result<End> {
        let (lane, phase, now) = (self.lane, self.lane.phase(), sys::now());
        let mut unanswered = 0;
        for meant in self.slots.under_way().filter(|meant| clocked && phase.window_holds(*meant)) {
            self.latencies.record(now - meant);
            unanswered += 1;
        }
        let unsent = source.end(now, phase, &mut self.latencies);
        let verified =
            if self.answered { number::verify(lane, self.answer.as_ref(), lane.response)? } else { 0 };
        Ok(End { latencies: Some(self.latencies), verified, unsent, unanswered, ..End::default() })
    }
}
