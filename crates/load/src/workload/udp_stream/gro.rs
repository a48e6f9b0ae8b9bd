//! Datagrams put together into one buffer by the kernel or the device (`UDP_GRO`).

use crate::note::Note;
use std::os::fd::{BorrowedFd, RawFd};

use socket2::SockRef;

use super::check::Check;
use crate::error::{Error, Result};
use crate::lane::{Call, End, Lane, Next, STOP};
use crate::message::Buffer;
use crate::socket;
use crate::sys::{self, headers};
use crate::workload::drain::drain_with;

/// More than any buffer of datagrams holds.
const ROOM: usize = 1 << 16;
/// One control message, as the kernel writes it for a buffer of datagrams: its header, and their
/// size.
#[repr(C)]
struct Control {
    header: libc::cmsghdr,
    size: libc::c_int,
}

/// Room for one buffer of datagrams, and for what the kernel says of it.
pub(crate) struct Merged {
    room: Buffer,
    header: libc::msghdr,
    /// What the header points to, beside the room: they stay where they are while this value moves.
    control: Vec<Control>,
    _place: Vec<libc::iovec>,
}

impl Merged {
    pub(crate) fn new() -> Self {
        let room = Buffer::room(ROOM);
        let nothing = || Control {
            // SAFETY: zeros are a header of no length.
            header: unsafe { std::mem::zeroed() },
            size: 0,
        };
        let mut control = vec![nothing(), nothing()];
        let mut place = vec![libc::iovec { iov_base: room.start().cast(), iov_len: ROOM }];
        let mut header = headers::no_message();
        header.msg_iov = place.as_mut_ptr();
        header.msg_iovlen = place.len();
        header.msg_control = control.as_mut_ptr().cast();
        Self { room, header, control, _place: place }
    }

    /// Has the kernel put together what arrives at a flow's socket.
    pub(crate) fn enable(fd: RawFd, flow: usize) -> Result<()> {
        sys::set_option(fd, libc::SOL_UDP, sys::UDP_GRO, 1)
            .map_err(|e| Error::setup("setsockopt UDP_GRO", socket::flow(flow), &e))
    }

    /// Takes one buffer. Returns its bytes, or -1 with `errno` set.
    #[inline(always)]
    pub(crate) fn receive(&mut self, fd: RawFd, flags: libc::c_int) -> isize {
        self.header.msg_controllen = size_of_val(self.control.as_slice());
        // SAFETY: the header points to this value's own place, room and control, and says how large
        // they are.
        unsafe { headers::receive_message(fd, &mut self.header, flags) }
    }

    /// The bytes of each datagram in the last buffer, which has `len`; its last datagram may have
    /// fewer.
    #[inline(always)]
    pub(crate) fn size(&self, len: usize) -> usize {
        // SAFETY: `control` is there; the kernel has written to it behind this function's back.
        let told = unsafe { self.header.msg_control.cast::<Control>().read() };
        let is_size = told.header.cmsg_level == libc::SOL_UDP && told.header.cmsg_type == sys::UDP_GRO;
        // A datagram on its own comes without a size.
        if self.header.msg_controllen >= size_of::<libc::cmsghdr>() && is_size && told.size > 0 {
            told.size as usize
        } else {
            len
        }
    }
}

pub(super) fn receive(lane: &Lane, mut check: impl Check) -> Result<End> {
    Merged::enable(lane.fd, lane.flow)?;
    let mut merged = Merged::new();
    let (fd, phase, mut tally) = (lane.fd, lane.phase(), lane.tally());
    let mut last = 0..0;
    let mut take = |merged: &mut Merged, flags| -> Result<isize> {
        let got = merged.receive(fd, flags);
        if got <= 0 {
            return Ok(got);
        }
        let len = got as usize;
        let size = merged.size(len);
        tally.batch(len.div_ceil(size) as u64, len as u64);
        for datagram in merged.room.as_ref()[..len].chunks(size) {
            check.datagram(lane, datagram)?;
        }
        last = (len - 1) / size * size..len;
        Ok(got)
    };
    lane.ready();
    while phase.load() < STOP {
        let got = take(&mut merged, 0)?;
        if got < 0 && lane.trouble(Call::Recvmsg, got)? == Next::End {
            break;
        }
    }
    drain_with(lane, || Ok(take(&mut merged, libc::MSG_DONTWAIT)? > 0))?;
    let end = super::plain::end(lane, &tally, check, &merged.room.as_ref()[last])?;
    Ok(End { notes: drops_note(lane).into_iter().collect(), ..end })
}

/// What must be known of the socket's own count of drops, if there are any.
fn drops_note(lane: &Lane) -> Option<Note> {
    // SAFETY: the flow's socket outlives its thread.
    let socket = unsafe { BorrowedFd::borrow_raw(lane.fd) };
    (socket::drops(&SockRef::from(&socket)) > 0).then_some(Note::GroCountsBuffers)
}
