//! One connection, used by the thread that opened or accepted it.

use std::os::fd::AsRawFd;

use socket2::Socket;
use words::Reader;

use crate::error::Result;
use crate::lane::{ABORT, Call, Lane, TAIL, Tally};
use crate::socket::stall;
use crate::sys;

/// The result of moving some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moved {
    All,
    /// The other end closed, or reset the connection, after this many bytes.
    Cut(usize),
    Over,
}

/// A connection. It closes when it is dropped, which must be its last step.
pub(super) struct CrrConnection<'a> {
    pub(super) socket: Socket,
    pub(super) lane: &'a Lane,
    /// The phase that ends waiting.
    pub(super) over: u8,
}

impl CrrConnection<'_> {
    pub(super) fn send(&self, bytes: &[u8], tally: &mut Tally) -> Result<Moved> {
        let mut done = 0;
        self.repeat(Call::Send, tally, || {
            let sent = sys::send(self.socket.as_raw_fd(), &bytes[done..]);
            done += usize::try_from(sent).unwrap_or(0);
            (sent, (done == bytes.len()).then_some(Moved::All))
        })
    }

    /// Receives until `room` is full, or to the end of the stream.
    pub(super) fn receive(&self, room: &mut [u8], tally: &mut Tally) -> Result<Moved> {
        let flags = wait_flags(self.lane);
        let mut done = 0;
        let moved = self.repeat(Call::Recv, tally, || {
            let got = sys::receive(self.socket.as_raw_fd(), &mut room[done..], flags);
            done += usize::try_from(got).unwrap_or(0);
            let end =
                if done == room.len() { Some(Moved::All) } else { (got == 0).then_some(Moved::Cut(done)) };
            (got, end)
        })?;
        // A reset has no count.
        Ok(if matches!(moved, Moved::Cut(_)) { Moved::Cut(done) } else { moved })
    }

    /// The other end broke off a transaction, which is allowed after the window.
    pub(super) fn cut(&self) -> Result<()> {
        if self.lane.phase().load() < TAIL { Err(self.lane.closed()) } else { Ok(()) }
    }

    /// Repeats `call` until it is over; `moved` is its number of bytes, or -1.
    #[inline(always)]
    fn repeat(
        &self,
        name: Call,
        tally: &mut Tally,
        mut call: impl FnMut() -> (isize, Option<Moved>),
    ) -> Result<Moved> {
        let mut waiting_since = 0;
        loop {
            let (moved, end) = call();
            tally.call();
            if let Some(end) = end {
                return Ok(end);
            }
            if moved >= 0 {
                waiting_since = 0;
            } else if let Some(moved) = self.judge(name, sys::errno(), &mut waiting_since)? {
                return Ok(moved);
            }
        }
    }

    /// Judges a call that failed with `errno`; `None`: again.
    #[cold]
    pub(super) fn judge(&self, call: Call, errno: i32, waiting_since: &mut u64) -> Result<Option<Moved>> {
        match errno {
            libc::EINTR => Ok(None),
            libc::EPIPE | libc::ECONNRESET => Ok(Some(Moved::Cut(0))),
            // A timeout, or, for a thread that spins, nothing yet.
            libc::EAGAIN => {
                if self.lane.phase().load() >= self.over {
                    return Ok(Some(Moved::Over));
                }
                let now = sys::now();
                if *waiting_since == 0 {
                    *waiting_since = now;
                }
                if u128::from(now - *waiting_since) >= stall(self.lane.flows()).as_nanos() {
                    return Err(self.lane.stalled(call.silence()));
                }
                Ok(None)
            }
            _ if self.lane.phase().load() >= ABORT => Ok(Some(Moved::Over)),
            _ => Err(self.lane.failed(call.name(), errno)),
        }
    }
}

/// The flags of a thread's receive calls: it waits for all bytes, or, if it spins, receives what is
/// there.
pub(super) fn wait_flags(lane: &Lane) -> libc::c_int {
    if spins(lane) { libc::MSG_DONTWAIT } else { libc::MSG_WAITALL }
}

pub(super) fn spins(lane: &Lane) -> bool {
    lane.traffic.reader == Reader::Spin
}
