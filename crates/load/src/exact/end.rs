//! An end with a thread of its own: it sends its message, and takes the other one's.

use std::io;
use std::os::fd::RawFd;

use super::ends::LOST;
use super::work::{RepeatableWork, Trouble, expect_whole, is_early};
use crate::lane::Calls;
use crate::message::Buffer;
use crate::sys;

/// The message that it sends, and the message that it waits for. As work it asks, and receives the
/// answer of an end on another machine.
pub(crate) struct MessageEnd {
    socket: RawFd,
    stream: bool,
    sends: Buffer,
    /// Bytes of the other end's message.
    takes: usize,
    room: Buffer,
    /// Flags of its reads: `MSG_DONTWAIT` for a reader that never sleeps.
    flags: libc::c_int,
}

impl MessageEnd {
    /// `bytes`: those of the message that it sends, and of the one that it takes.
    pub(crate) fn new(socket: RawFd, stream: bool, bytes: [usize; 2], flags: libc::c_int) -> Self {
        let [sends, takes] = bytes;
        // One byte more than a message, to detect a larger one.
        let (sends, room) = (Buffer::pattern(sends), Buffer::room(takes + 1));
        Self { socket, stream, sends, takes, room, flags }
    }

    #[inline(always)]
    pub(super) fn send<C: Calls>(&self, calls: &mut C) -> Result<(), Trouble> {
        let message = self.sends.as_ref();
        expect_whole("send", calls.around(|| sys::send_flags(self.socket, message, 0)), message.len())
    }

    #[inline(always)]
    pub(super) fn receive<C: Calls>(&mut self, calls: &mut C) -> Result<(), Trouble> {
        let (socket, flags, room) = (self.socket, self.flags, self.room.as_mut());
        let (mut got, mut looks) = (0, 0);
        while got < self.takes {
            match calls.around(|| sys::receive(socket, room, flags)) {
                part if part > 0 && self.stream => got += part as usize,
                part if part > 0 => return expect_whole("recv", part, self.takes),
                0 => return Err(("recv", io::ErrorKind::UnexpectedEof.into())),
                _ if is_early(flags, &mut looks) => {}
                _ => return Err(("recv", io::Error::last_os_error())),
            }
        }
        expect_whole("recv", got as isize, self.takes)
    }
}

impl RepeatableWork for MessageEnd {
    fn messages(&self) -> u32 {
        1
    }

    #[inline(always)]
    fn turn<C: Calls>(&mut self, calls: &mut C) -> Result<(), Trouble> {
        self.send(calls)?;
        self.receive(calls).map_err(late)
    }
}

#[cold]
fn late((call, error): Trouble) -> Trouble {
    if error.kind() != io::ErrorKind::WouldBlock {
        return (call, error);
    }
    let seconds = LOST.as_secs();
    let why =
        format!("no answer came within {seconds} s: it is lost, or the other machine is stuck; try again");
    (call, io::Error::new(io::ErrorKind::TimedOut, why))
}
