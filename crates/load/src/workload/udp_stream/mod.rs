//! UDP datagrams as fast as they can be sent, in each way that Linux offers.

pub(crate) mod receive;
pub(crate) mod send;
pub(crate) mod shared;

use words::{Reader, Sender};

use super::pace::Pace;
use crate::error::Result;
use crate::lane::{Lane, LaneResult};
use crate::message::{Buffer, Sequence, Window, first_damage};

pub(crate) fn send(lane: &Lane) -> Result<LaneResult> {
    match (lane.traffic.verify, lane.traffic.pacing.is_some()) {
        (false, false) => send_by::<false, false>(lane),
        (false, true) => send_by::<false, true>(lane),
        (true, false) => send_by::<true, false>(lane),
        (true, true) => send_by::<true, true>(lane),
    }
}

/// Each sender's loop is compiled for datagrams with and without numbers, and with and without a
/// pace.
fn send_by<const WRITES: bool, const PACED: bool>(lane: &Lane) -> Result<LaneResult> {
    let stamp = Stamp::<WRITES> { next: lane.tally().messages };
    let pace = Pace::<PACED>::new(&lane.control.pace);
    let (message, destination) = (lane.message, lane.destination());
    let ((_, datagrams), to) = (send::shape(lane.traffic.sender, message), destination.target());
    match lane.traffic.sender {
        Sender::Zerocopy => send::send_zerocopy(lane, stamp, pace),
        Sender::Sendmmsg => send::send(lane, send::Many::new(message, WRITES, to), stamp, pace),
        _ => send::send(lane, send::One::new(message, datagrams, to), stamp, pace),
    }
}

pub(crate) fn receive(lane: &Lane) -> Result<LaneResult> {
    if lane.traffic.verify {
        receive_checked(lane, Checked::new(lane.message))
    } else {
        receive_checked(lane, Unchecked)
    }
}

/// Receives by one reader after the other, as conditions that take turns change it.
fn receive_checked(lane: &Lane, mut check: impl Check) -> Result<LaneResult> {
    let (mut last, mut merged) = (Vec::new(), false);
    let mut turn = None;
    loop {
        let now = turn.as_ref().unwrap_or(lane);
        let was_merged = now.traffic.reader == Reader::Gro;
        merged |= was_merged;
        let mut note_last = |came: Vec<u8>| {
            if !came.is_empty() {
                last = came;
            }
        };
        note_last(receive_by(now, &mut check)?);
        let Some(next) = lane.control.loop_switch.next() else { break };
        if was_merged && next.reader != Reader::Gro {
            note_last(receive::take_merged(lane, &mut check)?);
        }
        turn = Some(lane.with_modes(next));
    }
    let notes = if merged { receive::drops_note(lane) } else { None };
    let end = receive::account(lane, &lane.tally(), check, &last)?;
    Ok(LaneResult { notes: notes.into_iter().collect(), ..end })
}

/// Returns the last datagram.
fn receive_by(lane: &Lane, check: &mut impl Check) -> Result<Vec<u8>> {
    let message = lane.message;
    match lane.traffic.reader {
        Reader::Gro => {
            receive::Merged::enable(lane.fd, lane.flow)?;
            receive::receive::<false, _>(lane, receive::Merged::new(), check)
        }
        Reader::Spin => receive::receive::<true, _>(lane, receive::One::new(message), check),
        _ => receive::receive::<false, _>(lane, receive::One::new(message), check),
    }
}

pub(crate) trait Check {
    fn datagram(&mut self, lane: &Lane, datagram: &[u8]) -> Result<()>;

    /// The verified bytes, and the evaluation of the numbers; `last` is the last datagram received.
    fn end(self, lane: &Lane, last: &[u8]) -> Result<(u64, Option<Sequence>)>;
}

/// Checks the last datagram only.
pub(crate) struct Unchecked;

impl Check for Unchecked {
    #[inline(always)]
    fn datagram(&mut self, _: &Lane, _: &[u8]) -> Result<()> {
        Ok(())
    }

    fn end(self, lane: &Lane, last: &[u8]) -> Result<(u64, Option<Sequence>)> {
        Ok((lane.verify(last, 0, lane.message)?, None))
    }
}

/// Checks every byte and every number.
pub(crate) struct Checked {
    pattern: Buffer,
    /// Bytes of the number at the front; 0 without room for one.
    number: usize,
    seen: Window,
    verified: u64,
}

impl Checked {
    pub(crate) fn new(message: usize) -> Self {
        let number = if message >= NUMBER { NUMBER } else { 0 };
        Self { pattern: Buffer::pattern(message), number, seen: Window::default(), verified: 0 }
    }
}

impl Check for Checked {
    fn datagram(&mut self, lane: &Lane, datagram: &[u8]) -> Result<()> {
        let pattern = self.pattern.as_ref();
        if datagram.len() != pattern.len() {
            return Err(lane.damaged(datagram.len().min(pattern.len()), datagram.len()));
        }
        let (number, rest) = datagram.split_at(self.number);
        if rest != &pattern[self.number..] {
            let at = first_damage(rest, self.number as u64, pattern.len()).unwrap_or_default();
            return Err(lane.damaged(self.number + at, datagram.len()));
        }
        if let Some(number) = number.first_chunk::<NUMBER>() {
            self.seen.record(u64::from_le_bytes(*number));
        }
        self.verified += datagram.len() as u64;
        Ok(())
    }

    fn end(self, _: &Lane, _: &[u8]) -> Result<(u64, Option<Sequence>)> {
        Ok((self.verified, (self.number > 0).then(|| self.seen.sequence())))
    }
}

// The sender's numbers in datagrams.
//
// With `verify` the first eight bytes of a datagram with room for them are its number,
// little-endian, counted from 0 in each flow; the pattern follows. Without `verify` no number is
// written or read, and the loops, which are compiled for both, have no instruction for it.

pub(super) const NUMBER: usize = 8;

/// Numbers from `next` on, if it `WRITES`: then waiting datagrams each need their own memory.
#[derive(Default)]
pub(crate) struct Stamp<const WRITES: bool> {
    next: u64,
}

impl<const WRITES: bool> Stamp<WRITES> {
    /// Numbers datagrams of `message` bytes that lie in sequence. Repeated, it writes the same
    /// numbers.
    #[inline(always)]
    fn stamp(&self, datagrams: &mut [u8], message: usize) {
        if !WRITES {
            return;
        }
        for (number, datagram) in (self.next..).zip(datagrams.chunks_mut(message)) {
            if let Some(place) = datagram.first_chunk_mut::<NUMBER>() {
                *place = number.to_le_bytes();
            }
        }
    }

    /// Counts `datagrams` sent ones.
    #[inline(always)]
    fn advance(&mut self, datagrams: u64) {
        if WRITES {
            self.next += datagrams;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_datagram_too_small_for_a_number_is_checked_without_one() {
        assert_eq!(Checked::new(7).number, 0);
    }

    proptest! {
        #[test]
        fn stamps_are_read_back(message in 8usize..100, count in 1usize..20, first in 0u64..1 << 40) {
            let mut datagrams = vec![0; message * count];
            Stamp::<true> { next: first }.stamp(&mut datagrams, message);
            for (number, datagram) in (first..).zip(datagrams.chunks(message)) {
                prop_assert_eq!(datagram.first_chunk(), Some(&number.to_le_bytes()));
            }
        }
    }

    #[test]
    fn a_datagram_too_small_for_a_number_carries_none() {
        let mut datagram = [7; 7];
        Stamp::<true>::default().stamp(&mut datagram, 7);
        assert_eq!(datagram, [7; 7]);
    }
}
