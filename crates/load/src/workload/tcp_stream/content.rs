//! A receiver's checks of a stream's bytes.

use crate::error::Result;
use crate::lane::Lane;
use crate::message::{Buffer, first_difference};

pub(super) trait Content {
    /// Called with all received bytes, in order.
    fn bytes(&mut self, lane: &Lane, bytes: &[u8]) -> Result<()>;

    /// The number of verified bytes; `last` are those received last, `total` is the number of all.
    fn end(self, lane: &Lane, last: &[u8], total: u64) -> Result<u64>;
}

/// Checks the last bytes, at the end.
pub(super) struct Unexamined;

impl Content for Unexamined {
    #[inline(always)]
    fn bytes(&mut self, _: &Lane, _: &[u8]) -> Result<()> {
        Ok(())
    }

    fn end(self, lane: &Lane, last: &[u8], total: u64) -> Result<u64> {
        lane.verify(last, total - last.len() as u64, lane.message)
    }
}

/// Discarded by the kernel (`MSG_TRUNC`, tcp(7)): the program does not see them, so nothing is
/// verified.
pub(super) struct Discarded;

impl Content for Discarded {
    #[inline(always)]
    fn bytes(&mut self, _: &Lane, _: &[u8]) -> Result<()> {
        Ok(())
    }

    fn end(self, _: &Lane, _: &[u8], _: u64) -> Result<u64> {
        Ok(0)
    }
}

pub(super) struct Examined {
    message: Buffer,
    begun: u64,
    offset: u64,
}

impl Examined {
    /// Examines the stream from this byte on.
    pub(super) fn new(message: usize, offset: u64) -> Self {
        Self { message: Buffer::pattern(message), begun: offset, offset }
    }
}

impl Content for Examined {
    fn bytes(&mut self, lane: &Lane, bytes: &[u8]) -> Result<()> {
        if let Some(at) = first_difference(bytes, self.offset, self.message.as_ref()) {
            return Err(lane.damaged(at, bytes.len()));
        }
        self.offset += bytes.len() as u64;
        Ok(())
    }

    fn end(self, _: &Lane, _: &[u8], _: u64) -> Result<u64> {
        Ok(self.offset - self.begun)
    }
}
