//! A receiver's checks of datagrams.

use super::stamp::NUMBER;
use crate::error::Result;
use crate::lane::Lane;
use crate::message::{Buffer, Sequence, Window, first_damage};

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_datagram_too_small_for_a_number_is_checked_without_one() {
        assert_eq!(Checked::new(7).number, 0);
    }
}
