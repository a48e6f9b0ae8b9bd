//! Messages in a stream of bytes: their borders, and those that wait for an answer.

use std::collections::VecDeque;

/// The requests under way, in the order of their answers.
pub(super) struct Outstanding {
    /// When each was due, ns.
    meant: VecDeque<u64>,
    limit: usize,
    answer: u64,
    /// Received bytes of the first one's answer.
    part: u64,
}

impl Outstanding {
    pub(super) fn new(limit: u32, answer: usize) -> Self {
        let limit = limit as usize;
        Self { meant: VecDeque::with_capacity(limit), limit, answer: answer.max(1) as u64, part: 0 }
    }

    pub(super) fn has_room(&self) -> bool {
        self.meant.len() < self.limit
    }

    pub(super) fn is_empty(&self) -> bool {
        self.meant.is_empty()
    }

    pub(super) fn add_request(&mut self, meant: u64) {
        self.meant.push_back(meant);
    }

    /// Counts `bytes` of answers: returns when the requests that they complete were due; `None` for
    /// an answer without a request.
    pub(super) fn answered(&mut self, bytes: u64) -> impl Iterator<Item = Option<u64>> {
        let all = self.part + bytes;
        self.part = all % self.answer;
        (0..all / self.answer).map(|_| self.meant.pop_front())
    }

    pub(super) fn under_way(&self) -> impl Iterator<Item = u64> {
        self.meant.iter().copied()
    }
}

/// Whole messages to send from a buffer that holds some of them in sequence.
pub(super) struct SendQueue {
    message: usize,
    /// Messages that the buffer holds.
    batch: usize,
    left: u64,
}

impl SendQueue {
    /// A queue with a buffer of `bytes`, or of one message if that is larger, and of at most
    /// `messages`.
    pub(super) fn new(message: usize, messages: u32, bytes: usize) -> Self {
        let batch = (bytes / message).clamp(1, messages.max(1) as usize);
        Self { message, batch, left: 0 }
    }

    /// Bytes of the buffer.
    pub(super) fn room(&self) -> usize {
        self.batch * self.message
    }

    pub(super) fn add(&mut self, messages: u64) {
        self.left += messages * self.message as u64;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.left == 0
    }

    /// The part of the buffer for the next call.
    pub(super) fn next(&self) -> std::ops::Range<usize> {
        let message = self.message as u64;
        // A message that was sent in part continues where it was cut.
        let begin = ((message - self.left % message) % message) as usize;
        let room = self.room() - begin;
        begin..begin + usize::try_from(self.left).map_or(room, |left| left.min(room))
    }

    /// `bytes` were sent; returns how many messages that completes.
    pub(super) fn sent(&mut self, bytes: u64) -> u64 {
        let message = self.message as u64;
        let before = self.left.div_ceil(message);
        self.left = self.left.saturating_sub(bytes);
        before - self.left.div_ceil(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Buffer, first_damage};
    use proptest::prelude::*;

    proptest! {
        /// However writes are cut, whole messages come out, each counted once, within the buffer.
        #[test]
        fn a_queue_sends_whole_messages(
            message in 1usize..5000, messages in 1u32..1025, room in 0usize..70_000, steps in proptest::collection::vec((0u64..20, 1u64..70_000), 1..60),
        ) {
            let mut queue = SendQueue::new(message, messages, room);
            prop_assert!(queue.room() <= room.max(message) && queue.room().is_multiple_of(message));
            let buffer: Vec<u8> =
                Buffer::pattern(message).as_ref().iter().copied().cycle().take(queue.room()).collect();
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
            prop_assert_eq!(first_damage(&stream, 0, message), None);
        }

        /// Answers come in order, however the stream is cut.
        #[test]
        fn answers_belong_to_requests_in_order(
            answer in 1usize..2000, requests in 0u64..100, cuts in proptest::collection::vec(1u64..5000, 0..200),
        ) {
            let mut outstanding = Outstanding::new(100, answer);
            (0..requests).for_each(|request| outstanding.add_request(request));
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
        outstanding.add_request(5);
        assert_eq!(outstanding.answered(25).collect::<Vec<_>>(), [Some(5), None]);
    }
}
