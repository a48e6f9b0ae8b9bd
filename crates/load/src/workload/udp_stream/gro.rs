//! Datagrams that the kernel or the device merges into one buffer (`UDP_GRO`).

use crate::note::Note;
use std::os::fd::{BorrowedFd, RawFd};

use socket2::SockRef;

use super::check::Check;
use super::receive::{Came, Reader, receive_batch};
use crate::error::{Context, Result};
use crate::lane::{Call, Lane};
use crate::message::Buffer;
use crate::socket;
use crate::sys::{self, calls};

/// More than any buffer of datagrams holds.
const ROOM: usize = 1 << 16;
/// The control message of a buffer of datagrams: its header, and their size.
#[repr(C)]
struct GroControl {
    header: libc::cmsghdr,
    size: libc::c_int,
}

/// Room for one buffer of datagrams and its control message.
pub(crate) struct Merged {
    room: Buffer,
    /// The bytes of each datagram in a buffer of which the kernel tells none: those of all of it,
    /// unless they are known.
    size: Option<usize>,
    header: libc::msghdr,
    /// The header points to these and to the room; they do not move with this value.
    control: Vec<GroControl>,
    _place: Vec<libc::iovec>,
}

impl Merged {
    pub(crate) fn new() -> Self {
        let room = Buffer::room(ROOM);
        let nothing = || GroControl {
            // SAFETY: zeros are a header of no length.
            header: unsafe { std::mem::zeroed() },
            size: 0,
        };
        let mut control = vec![nothing(), nothing()];
        let mut place = vec![libc::iovec { iov_base: room.start().cast(), iov_len: ROOM }];
        let mut header = calls::no_message();
        header.msg_iov = place.as_mut_ptr();
        header.msg_iovlen = place.len();
        header.msg_control = control.as_mut_ptr().cast();
        Self { room, size: None, header, control, _place: place }
    }

    /// A reader for buffers merged before the kernel was told to stop: it no longer reports their
    /// size.
    pub(super) fn with_size(message: usize) -> Self {
        Self { size: Some(message), ..Self::new() }
    }

    /// Makes the kernel merge datagrams for a flow's socket.
    pub(crate) fn enable(fd: RawFd, flow: usize) -> Result<()> {
        sys::set_option(fd, libc::SOL_UDP, sys::UDP_GRO, 1).or_setup("setsockopt UDP_GRO", socket::flow(flow))
    }

    /// The bytes of each datagram in the last buffer, which has `len`; its last datagram may be
    /// shorter.
    #[inline(always)]
    fn size(&self, len: usize) -> usize {
        // SAFETY: `control` exists; the kernel has written to it through the header.
        let told = unsafe { self.header.msg_control.cast::<GroControl>().read() };
        let is_size = told.header.cmsg_level == libc::SOL_UDP && told.header.cmsg_type == sys::UDP_GRO;
        // A single datagram comes without a size.
        if self.header.msg_controllen >= size_of::<libc::cmsghdr>() && is_size && told.size > 0 {
            told.size as usize
        } else {
            self.size.unwrap_or(len)
        }
    }
}

impl Reader for Merged {
    const CALL: Call = Call::Recvmsg;

    #[inline(always)]
    fn receive(&mut self, fd: RawFd, flags: libc::c_int) -> isize {
        self.header.msg_controllen = size_of_val(self.control.as_slice());
        // SAFETY: the header points to this value's own place, room and control, with their sizes.
        unsafe { calls::receive_message(fd, &mut self.header, flags) }
    }

    #[inline(always)]
    fn for_each_datagram(&self, got: usize, take: impl FnMut(&[u8]) -> Result<()>) -> Result<Came> {
        let size = self.size(got);
        self.room.as_ref()[..got].chunks(size).try_for_each(take)?;
        Ok(Came {
            messages: got.div_ceil(size) as u64,
            bytes: got as u64,
            last: (got - 1) / size * size..got,
        })
    }

    fn room(&self) -> &[u8] {
        self.room.as_ref()
    }
}

/// Takes the datagrams that were merged before the kernel stopped to merge them: more than are
/// queued, or all. Gives the last one.
pub(super) fn take_merged(lane: &Lane, check: &mut impl Check) -> Result<Vec<u8>> {
    let (mut reader, mut tally, mut last) = (Merged::with_size(lane.message), lane.tally(), 0..0);
    let room = sys::option_number(lane.fd, libc::SOL_SOCKET, libc::SO_RCVBUF).unwrap_or(0);
    let most = tally.bytes + u64::from(room.unsigned_abs());
    let flags = libc::MSG_DONTWAIT;
    while tally.bytes < most && receive_batch(lane, &mut reader, flags, check, &mut tally, &mut last)? > 0 {}
    Ok(reader.room()[last].to_vec())
}

/// A note on the socket's own count of drops, if there are any.
pub(super) fn drops_note(lane: &Lane) -> Option<Note> {
    // SAFETY: the flow's socket outlives its thread.
    let socket = unsafe { BorrowedFd::borrow_raw(lane.fd) };
    (socket::drops(&SockRef::from(&socket)) > 0).then_some(Note::GroCountsBuffers)
}
