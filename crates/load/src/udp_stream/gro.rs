//! Datagrams put together into one buffer by the kernel or the device (`UDP_GRO`).

use std::os::fd::BorrowedFd;

use socket2::SockRef;

use crate::buffer::Buffer;
use crate::call::Call;
use crate::drain::drain_with;
use crate::error::{Error, Result};
use crate::lane::{End, Lane, Next};
use crate::phase::STOP;
use crate::sequence::Check;
use crate::{headers, socket, sys};

/// More than any buffer of datagrams holds.
const ROOM: usize = 1 << 16;
/// One control message, as the kernel writes it for a buffer of datagrams: its header, and their size.
#[repr(C)]
struct Control {
    header: libc::cmsghdr,
    size: libc::c_int,
}

pub(super) fn receive(lane: &Lane, mut check: impl Check) -> Result<End> {
    sys::set_option(lane.fd, libc::SOL_UDP, sys::UDP_GRO, 1)
        .map_err(|e| Error::setup("setsockopt UDP_GRO", socket::flow(lane.flow), &e))?;
    let room = Buffer::room(ROOM);
    let mut control: [Control; 2] = std::array::from_fn(|_| Control {
        // SAFETY: zeros are a header of no length.
        header: unsafe { std::mem::zeroed() },
        size: 0,
    });
    let mut place = libc::iovec { iov_base: room.start().cast(), iov_len: ROOM };
    let mut header = headers::no_message();
    header.msg_iov = &raw mut place;
    header.msg_iovlen = 1;
    header.msg_control = control.as_mut_ptr().cast();
    let (fd, phase, mut tally) = (lane.fd, lane.phase(), lane.tally());
    let mut last = 0..0;
    let mut take = |flags| -> Result<isize> {
        header.msg_controllen = size_of::<[Control; 2]>();
        // SAFETY: the header points to `place`, `room` and `control`, which live until the end of this function, and says
        // how large they are.
        let got = unsafe { headers::receive_message(fd, &mut header, flags) };
        if got <= 0 {
            return Ok(got);
        }
        let len = got as usize;
        // SAFETY: `control` is there; the kernel has written to it behind this function's back.
        let told = unsafe { header.msg_control.cast::<Control>().read() };
        let is_size = told.header.cmsg_level == libc::SOL_UDP && told.header.cmsg_type == sys::UDP_GRO;
        // A datagram on its own comes without a size.
        let size = if header.msg_controllen >= size_of::<libc::cmsghdr>() && is_size && told.size > 0 {
            told.size as usize
        } else {
            len
        };
        tally.batch(len.div_ceil(size) as u64, len as u64);
        for datagram in room.as_ref()[..len].chunks(size) {
            check.datagram(lane, datagram)?;
        }
        last = (len - 1) / size * size..len;
        Ok(got)
    };
    lane.ready();
    while phase.load() < STOP {
        let got = take(0)?;
        if got < 0 && lane.trouble(Call::Recvmsg, got)? == Next::End {
            break;
        }
    }
    drain_with(lane, || Ok(take(libc::MSG_DONTWAIT)? > 0))?;
    let end = super::plain::end(lane, &tally, check, &room.as_ref()[last])?;
    Ok(End { notes: drops_note(lane).into_iter().collect(), ..end })
}

/// What must be known of the socket's own count of drops, if there are any.
fn drops_note(lane: &Lane) -> Option<String> {
    // SAFETY: the flow's socket outlives its thread.
    let socket = unsafe { BorrowedFd::borrow_raw(lane.fd) };
    let dropped = socket::drops(&SockRef::from(&socket)) > 0;
    dropped.then(|| {
        "with the reader `gro` the kernel counts a buffer of datagrams that found no room in the socket as one drop"
            .to_owned()
    })
}
