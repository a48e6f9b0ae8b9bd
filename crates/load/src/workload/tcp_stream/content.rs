//! What a receiver does with a stream's bytes beyond counting them.

use crate::error::Result;
use crate::lane::Lane;
use crate::message::{Buffer, first_difference};

pub(super) trait Content {
    /// Called with all that arrives, in its order.
    fn bytes(&mut self, lane: &Lane, bytes: &[u8]) -> Result<()>;

    /// How many bytes were found right; `last` are those received last, `total` is how many there
    /// were in all.
    fn end(self, lane: &Lane, last: &[u8], total: u64) -> Result<u64>;
}

/// Looks at what came last, at the end.
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

/// Thrown away by the kernel (`MSG_TRUNC`, tcp(7)): the program does not see it, so nothing is
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
    offset: u64,
}

impl Examined {
    pub(super) fn new(message: usize) -> Self {
        Self { message: Buffer::pattern(message), offset: 0 }
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
        Ok(self.offset)
    }
}
