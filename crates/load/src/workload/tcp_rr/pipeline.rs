//! Several transactions under way, triggered by answers or by the clock. TCP answers them in order.

use std::collections::VecDeque;

use words::{MAX_IN_FLIGHT, Reader};

use crate::error::Result;
use crate::lane::{ABORT, Call, Lane, LaneResult, LoopStep, QUIET, Recorder, Tally};
use crate::message::Buffer;
use crate::sys;
use crate::workload::port::Port;
use crate::workload::source::{RequestSource, end_of};

// In ns; then the phase is checked.
const LOOK: u64 = 50_000_000;
// Bytes of one send or receive: the least, with many flows, and the most.
const ROOM: std::ops::RangeInclusive<usize> = (8 << 10)..=(64 << 10);
const ROOM_FOR_ALL: usize = 4 << 20;

fn room(lane: &Lane) -> usize {
    (ROOM_FOR_ALL / lane.flows()).clamp(*ROOM.start(), *ROOM.end())
}

// It receives answers before it waits for room: else both ends could wait with full buffers.
pub(super) fn send<const OPEN: bool>(lane: &Lane, port: &impl Port) -> Result<LaneResult> {
    let limit = if OPEN { MAX_IN_FLIGHT } else { lane.traffic.in_flight };
    let asker = Asker {
        lane,
        requests: SendQueue::new(lane.message, limit, room(lane)),
        answers: ReceivedMessages::new(lane, lane.response),
        outstanding: Outstanding::new(limit, lane.response),
        latencies: Recorder::new(lane.flows()),
        tally: lane.tally(),
        heard: 0,
    };
    lane.ready();
    asker.run(port, RequestSource::<OPEN>::begin(lane))
}

struct Asker<'a> {
    lane: &'a Lane,
    requests: SendQueue,
    answers: ReceivedMessages,
    outstanding: Outstanding,
    latencies: Recorder,
    tally: Tally<'a>,
    heard: u64,
}

impl Asker<'_> {
    fn run<const OPEN: bool>(
        mut self,
        port: &impl Port,
        mut source: RequestSource<OPEN>,
    ) -> Result<LaneResult> {
        let (lane, phase) = (self.lane, self.lane.phase());
        let spins = lane.traffic.reader == Reader::Spin;
        let mut now = sys::now();
        self.heard = now;
        while phase.load() < QUIET {
            while self.outstanding.has_room() && source.next() <= now {
                // In a closed loop each is due now.
                self.outstanding.meant.push_back(if source.next() == 0 { now } else { source.next() });
                self.requests.add(1);
                source.sent();
            }
            if self.requests.send(lane, libc::MSG_DONTWAIT, &mut self.tally, true)? == LoopStep::End {
                break;
            }
            // A closed loop with nothing left to send only waits for answers.
            let sleeps = !OPEN && !spins && self.requests.is_empty();
            let got = port.receive(self.answers.room(), if sleeps { 0 } else { libc::MSG_DONTWAIT });
            now = sys::now();
            if got > 0 {
                self.heard = now;
                self.take::<OPEN>(got as usize, now)?;
            } else if got < 0 && !sleeps && sys::errno() == libc::EAGAIN {
                if !spins {
                    self.wait(source.next(), now);
                    now = sys::now();
                }
                if self.outstanding.is_empty() {
                    self.heard = now;
                }
                lane.check_heard(self.heard, now)?;
            } else if lane.trouble(Call::RECV, got)? == LoopStep::End {
                break;
            }
        }
        let end = end_of(lane, source, self.outstanding.under_way(), self.latencies);
        Ok(LaneResult { verified: self.answers.verify(lane)?, ..end })
    }

    fn take<const OPEN: bool>(&mut self, got: usize, now: u64) -> Result<()> {
        self.tally.call();
        self.answers.took(self.lane, got)?;
        for meant in self.outstanding.answered(got as u64) {
            // An answer without a request is corrupt data.
            let meant = meant.ok_or_else(|| self.lane.damaged(0, got))?;
            self.tally.transaction();
            if RequestSource::<OPEN>::counts(self.lane.phase(), meant) {
                self.latencies.record(now - meant);
            }
        }
        Ok(())
    }

    fn wait(&self, next: u64, now: u64) {
        let room = if self.requests.is_empty() { 0 } else { libc::POLLOUT };
        let due = if self.outstanding.has_room() { next } else { u64::MAX };
        if due > now || room != 0 {
            sys::wait_for(self.lane.fd, libc::POLLIN | room, due.max(now).min(now + LOOK));
        }
    }
}

pub(super) fn receive(lane: &Lane, port: &impl Port) -> Result<LaneResult> {
    let mut requests = ReceivedMessages::new(lane, lane.message);
    let mut answers = SendQueue::new(lane.response, MAX_IN_FLIGHT, room(lane));
    let (phase, mut tally) = (lane.phase(), lane.tally());
    lane.ready();
    while phase.load() < ABORT {
        let got = port.receive(requests.room(), 0);
        if got <= 0 {
            if lane.trouble(Call::RECV, got)? == LoopStep::End {
                break;
            }
            continue;
        }
        tally.stream(got as u64);
        let complete = requests.took(lane, got as usize)?;
        tally.arrived(complete, 0);
        answers.add(complete);
        while !answers.is_empty() && phase.load() < ABORT {
            if answers.send(lane, 0, &mut tally, false)? == LoopStep::End {
                return Ok(LaneResult { verified: requests.verify(lane)?, ..LaneResult::default() });
            }
        }
    }
    Ok(LaneResult { verified: requests.verify(lane)?, ..LaneResult::default() })
}

struct ReceivedMessages {
    bytes: Buffer,
    message: usize,
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

    /// Returns how many messages the received bytes complete. With `verify` all are checked.
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
        lane.verify(&self.bytes.as_ref()[..self.last], self.offset, self.message)
    }
}

// The requests under way, in the order of their answers.
struct Outstanding {
    meant: VecDeque<u64>,
    limit: usize,
    answer: u64,
    // Received bytes of the first one's answer.
    part: u64,
}

impl Outstanding {
    fn new(limit: u32, answer: usize) -> Self {
        let limit = limit as usize;
        Self { meant: VecDeque::with_capacity(limit), limit, answer: answer.max(1) as u64, part: 0 }
    }

    fn has_room(&self) -> bool {
        self.meant.len() < self.limit
    }

    fn is_empty(&self) -> bool {
        self.meant.is_empty()
    }

    /// When the requests that these bytes complete were due; `None`: an answer without a request.
    fn answered(&mut self, bytes: u64) -> impl Iterator<Item = Option<u64>> {
        let all = self.part + bytes;
        self.part = all % self.answer;
        (0..all / self.answer).map(|_| self.meant.pop_front())
    }

    fn under_way(&self) -> impl Iterator<Item = u64> {
        self.meant.iter().copied()
    }
}

// Whole messages to send from a buffer that holds some of them in sequence: one call sends several.
struct SendQueue {
    bytes: Buffer,
    message: usize,
    left: u64,
}

impl SendQueue {
    /// A queue with a buffer of `bytes`, or of one message, and of at most `messages`.
    fn new(message: usize, messages: u32, bytes: usize) -> Self {
        let batch = (bytes / message).clamp(1, messages.max(1) as usize);
        Self { bytes: Buffer::messages(message, batch), message, left: 0 }
    }

    /// Sends as far as the socket accepts. `asks`: each is a message, not the end of a transaction.
    #[inline(always)]
    fn send(&mut self, lane: &Lane, flags: libc::c_int, tally: &mut Tally, asks: bool) -> Result<LoopStep> {
        while !self.is_empty() {
            let sent = sys::send_flags(lane.fd, &self.bytes.as_ref()[self.next()], flags);
            if sent <= 0 {
                if flags != 0 && sys::errno() == libc::EAGAIN {
                    break;
                }
                return lane.trouble(Call::SEND, sent);
            }
            let complete = self.sent(sent as u64);
            if asks {
                tally.batch(complete, sent as u64);
            } else {
                tally.call();
                (0..complete).for_each(|_| tally.transaction());
            }
        }
        Ok(LoopStep::Again)
    }

    fn add(&mut self, messages: u64) {
        self.left += messages * self.message as u64;
    }

    fn is_empty(&self) -> bool {
        self.left == 0
    }

    fn next(&self) -> std::ops::Range<usize> {
        let message = self.message as u64;
        // A message that was sent in part continues where it was cut.
        let begin = ((message - self.left % message) % message) as usize;
        let room = self.bytes.as_ref().len() - begin;
        begin..begin + usize::try_from(self.left).map_or(room, |left| left.min(room))
    }

    /// Returns how many messages are complete.
    fn sent(&mut self, bytes: u64) -> u64 {
        let message = self.message as u64;
        let before = self.left.div_ceil(message);
        self.left = self.left.saturating_sub(bytes);
        before - self.left.div_ceil(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    use crate::message::first_difference;

    proptest! {
        /// However writes are cut, whole messages come out, each counted once, within the buffer.
        #[test]
        fn a_queue_sends_whole_messages(
            message in 1usize..5000, messages in 1u32..1025, room in 0usize..70_000, steps in proptest::collection::vec((0u64..20, 1u64..70_000), 1..60),
        ) {
            let mut queue = SendQueue::new(message, messages, room);
            let buffer = queue.bytes.as_ref().to_vec();
            prop_assert!(buffer.len() <= room.max(message) && buffer.len().is_multiple_of(message));
            let (mut put, mut done, mut stream) = (0, 0, Vec::new());
            for (more, accepted) in steps {
                queue.add(more);
                put += more;
                let range = queue.next();
                prop_assert_eq!(range.is_empty(), queue.is_empty());
                let sent = accepted.min(range.len() as u64);
                stream.extend_from_slice(&buffer[range][..sent as usize]);
                done += queue.sent(sent);
                prop_assert_eq!(done, stream.len() as u64 / message as u64);
                prop_assert!(stream.len() as u64 <= put * message as u64);
            }
            prop_assert_eq!(first_difference(&stream, 0, Buffer::pattern(message).as_ref()), None);
        }

        /// Answers come in order, however the stream is cut.
        #[test]
        fn answers_belong_to_requests_in_order(
            answer in 1usize..2000, requests in 0u64..100, cuts in proptest::collection::vec(1u64..5000, 0..200),
        ) {
            let mut outstanding = Outstanding::new(100, answer);
            (0..requests).for_each(|request| outstanding.meant.push_back(request));
            let (mut came, mut left) = (Vec::new(), requests * answer as u64);
            for cut in cuts {
                let bytes = cut.min(left);
                left -= bytes;
                came.extend(outstanding.answered(bytes));
            }
            let whole = requests - left.div_ceil(answer as u64);
            prop_assert_eq!(came, (0..whole).map(Some).collect::<Vec<_>>());
            prop_assert_eq!(outstanding.under_way().collect::<Vec<_>>(), (whole..requests).collect::<Vec<_>>());
            prop_assert_eq!(outstanding.is_empty(), whole == requests);
        }
    }

    #[test]
    fn an_answer_to_nothing_is_seen() {
        let mut outstanding = Outstanding::new(2, 10);
        outstanding.meant.push_back(5);
        assert_eq!(outstanding.answered(25).collect::<Vec<_>>(), [Some(5), None]);
    }
}
