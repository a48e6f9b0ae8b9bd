//! Several transactions under way, triggered by answers or by the clock. TCP answers them in order.

use super::outstanding::{Outstanding, SendQueue};
use words::{MAX_IN_FLIGHT, Reader};

use crate::error::Result;
use crate::lane::{ABORT, Call, Lane, LaneResult, LoopStep, QUIET, Recorder, Tally};
use crate::message::{Buffer, first_damage};
use crate::socket::stall;
use crate::sys;
use crate::workload::port::Port;
use crate::workload::source::{Source, end_of};

/// The longest wait, ns; then the phase is checked.
const LOOK: u64 = 50_000_000;
/// The most bytes of one send or receive, and the least with many flows.
const ROOM: std::ops::RangeInclusive<usize> = (8 << 10)..=(64 << 10);
/// The memory of all flows for that, each way, unless [`ROOM`] needs more.
const ROOM_FOR_ALL: usize = 4 << 20;

fn room(lane: &Lane) -> usize {
    (ROOM_FOR_ALL / lane.flows()).clamp(*ROOM.start(), *ROOM.end())
}

/// The transmitter's loop. It never waits for room while there are answers to receive: both
/// ends could then wait for each other, each with its buffers full.
pub(super) fn send<S: Source>(lane: &Lane, port: &impl Port) -> Result<LaneResult> {
    let limit = if lane.traffic.rate.is_some() { MAX_IN_FLIGHT } else { lane.traffic.in_flight };
    let queue = SendQueue::new(lane.message, limit, room(lane));
    let asker = Asker {
        lane,
        requests: Messages::new(lane.message, queue),
        answers: ReceivedMessages::new(lane, lane.response),
        outstanding: Outstanding::new(limit, lane.response),
        latencies: Recorder::new(lane.flows()),
        tally: lane.tally(),
        heard: 0,
    };
    lane.ready();
    asker.run(port, S::begin(lane))
}

struct Asker<'a> {
    lane: &'a Lane,
    requests: Messages,
    answers: ReceivedMessages,
    outstanding: Outstanding,
    latencies: Recorder,
    tally: Tally<'a>,
    /// When data moved last, or there was nothing to wait for.
    heard: u64,
}

impl Asker<'_> {
    fn run<S: Source>(mut self, port: &impl Port, mut source: S) -> Result<LaneResult> {
        let (lane, phase) = (self.lane, self.lane.phase());
        let clocked = lane.traffic.rate.is_some();
        let spins = lane.traffic.reader == Reader::Spin;
        let mut now = sys::now();
        self.heard = now;
        while phase.load() < QUIET {
            while self.outstanding.has_room() && source.next() <= now {
                // In a closed loop each is due now.
                self.outstanding.add_request(if source.next() == 0 { now } else { source.next() });
                self.requests.queue.add(1);
                source.sent();
            }
            if self.requests.send(lane, libc::MSG_DONTWAIT, &mut self.tally, true)? == LoopStep::End {
                break;
            }
            // A closed loop with nothing left to send only waits for answers.
            let sleeps = !clocked && !spins && self.requests.queue.is_empty();
            let got = port.receive(self.answers.room(), if sleeps { 0 } else { libc::MSG_DONTWAIT });
            now = sys::now();
            if got > 0 {
                self.heard = now;
                self.take::<S>(got as usize, now)?;
            } else if got < 0 && !sleeps && sys::errno() == libc::EAGAIN {
                if !spins {
                    self.wait(source.next(), now);
                    now = sys::now();
                }
                self.check(now)?;
            } else if lane.trouble(Call::Recv, got)? == LoopStep::End {
                break;
            }
        }
        let end = end_of(lane, source, self.outstanding.under_way(), self.latencies);
        Ok(LaneResult { verified: self.answers.verify(lane)?, ..end })
    }

    fn take<S: Source>(&mut self, got: usize, now: u64) -> Result<()> {
        self.tally.call();
        self.answers.took(self.lane, got)?;
        for meant in self.outstanding.answered(got as u64) {
            // An answer without a request is corrupt data.
            let meant = meant.ok_or_else(|| self.lane.damaged(0, got))?;
            self.tally.transaction();
            if S::counts(self.lane.phase(), meant) {
                self.latencies.record(now - meant);
            }
        }
        Ok(())
    }

    /// Waits for answers, for room if there is something to send, and for the next request's time.
    fn wait(&self, next: u64, now: u64) {
        let room = if self.requests.queue.is_empty() { 0 } else { libc::POLLOUT };
        let due = if self.outstanding.has_room() { next } else { u64::MAX };
        if due > now || room != 0 {
            sys::wait_for(self.lane.fd, libc::POLLIN | room, due.max(now).min(now + LOOK));
        }
    }

    /// Gives the flow up if nothing has moved for too long.
    fn check(&mut self, now: u64) -> Result<()> {
        if self.outstanding.is_empty() {
            self.heard = now;
        }
        let silent = u128::from(now.saturating_sub(self.heard));
        if silent >= stall(self.lane.flows()).as_nanos() && self.lane.phase().load() < QUIET {
            return Err(self.lane.stalled(Call::Recv.silence()));
        }
        Ok(())
    }
}

/// The receiver's loop: receives all requests that have come, answers them together.
pub(super) fn receive(lane: &Lane, port: &impl Port) -> Result<LaneResult> {
    let mut requests = ReceivedMessages::new(lane, lane.message);
    let mut answers = Messages::new(lane.response, SendQueue::new(lane.response, MAX_IN_FLIGHT, room(lane)));
    let (phase, mut tally) = (lane.phase(), lane.tally());
    lane.ready();
    while phase.load() < ABORT {
        let got = port.receive(requests.room(), 0);
        if got <= 0 {
            if lane.trouble(Call::Recv, got)? == LoopStep::End {
                break;
            }
            continue;
        }
        tally.stream(got as u64);
        let complete = requests.took(lane, got as usize)?;
        tally.arrived(complete, 0);
        answers.queue.add(complete);
        while !answers.queue.is_empty() && phase.load() < ABORT {
            if answers.send(lane, 0, &mut tally, false)? == LoopStep::End {
                return Ok(LaneResult { verified: requests.verify(lane)?, ..LaneResult::default() });
            }
        }
    }
    Ok(LaneResult { verified: requests.verify(lane)?, ..LaneResult::default() })
}

/// Messages that are sent, and the memory that they are sent from.
struct Messages {
    bytes: Buffer,
    queue: SendQueue,
}

impl Messages {
    fn new(message: usize, queue: SendQueue) -> Self {
        let mut bytes = Buffer::room(queue.room());
        let pattern = Buffer::pattern(message);
        bytes.as_mut().chunks_mut(message).for_each(|place| place.copy_from_slice(pattern.as_ref()));
        Self { bytes, queue }
    }

    /// Sends the queue, in one call for each fill of the buffer, as far as the socket accepts it.
    /// `asks` if these are this end's messages; else each is the end of a transaction.
    #[inline(always)]
    fn send(&mut self, lane: &Lane, flags: libc::c_int, tally: &mut Tally, asks: bool) -> Result<LoopStep> {
        while !self.queue.is_empty() {
            let sent = sys::send_flags(lane.fd, &self.bytes.as_ref()[self.queue.next()], flags);
            if sent <= 0 {
                if flags != 0 && sys::errno() == libc::EAGAIN {
                    break;
                }
                return lane.trouble(Call::Send, sent);
            }
            let complete = self.queue.sent(sent as u64);
            if asks {
                tally.batch(complete, sent as u64);
            } else {
                tally.call();
                (0..complete).for_each(|_| tally.transaction());
            }
        }
        Ok(LoopStep::Again)
    }
}

/// A received stream of messages, and the memory for it.
struct ReceivedMessages {
    bytes: Buffer,
    message: usize,
    /// The place in the stream and the number of the last received bytes.
    offset: u64,
    last: usize,
}

impl ReceivedMessages {
    fn new(lane: &Lane, message: usize) -> Self {
        Self { bytes: Buffer::room(room(lane)), message, offset: 0, last: 0 }
    }

    fn room(&mut self) -> &mut [u8] {
        self.bytes.as_mut()
    }

    /// Counts `got` received bytes; returns how many messages they complete. With `verify` all of
    /// them are checked.
    #[inline(always)]
    fn took(&mut self, lane: &Lane, got: usize) -> Result<u64> {
        let message = self.message as u64;
        self.offset += self.last as u64;
        self.last = got;
        if lane.traffic.verify {
            self.verify(lane)?;
        }
        let end = self.offset + got as u64;
        Ok(end / message - self.offset / message)
    }

    fn verify(&self, lane: &Lane) -> Result<u64> {
        match first_damage(&self.bytes.as_ref()[..self.last], self.offset, self.message) {
            None => Ok(self.last as u64),
            Some(at) => Err(lane.damaged(at, self.last)),
        }
    }
}
