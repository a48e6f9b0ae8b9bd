//! Receivers that make one system call after the other, compiled for each [`DatagramReader`].

use std::ops::Range;
use std::os::fd::RawFd;

use crate::error::{Context, Result};
use crate::lane::{Call, Lane, LaneResult, LoopStep, STOP, Tally};
use crate::message::Buffer;
use crate::socket;
use crate::sys;
use crate::workload::drain_with;

/// The number of datagrams, and the place of the last one.
pub(crate) type Datagrams = (u64, Range<usize>);

pub(crate) trait DatagramReader {
    const CALL: Call;

    /// Returns bytes, or -1 with `errno` set.
    fn receive(&mut self, fd: RawFd, flags: libc::c_int) -> isize;

    /// Shows each datagram of the last call, which returned `got` bytes.
    fn for_each_datagram(&self, got: usize, take: impl FnMut(&[u8]) -> Result<()>) -> Result<Datagrams>;

    fn room(&self) -> &[u8];
}

pub(crate) struct SingleReceive(Buffer);

impl SingleReceive {
    pub(crate) fn new(message: usize) -> Self {
        // One byte more than a message, to detect a larger one.
        Self(Buffer::room(message + 1))
    }
}

impl DatagramReader for SingleReceive {
    const CALL: Call = Call::RECV;

    #[inline(always)]
    fn receive(&mut self, fd: RawFd, flags: libc::c_int) -> isize {
        sys::receive(fd, self.0.as_mut(), flags)
    }

    #[inline(always)]
    fn for_each_datagram(&self, got: usize, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<Datagrams> {
        // The compiler removes it where nobody reads the datagram: it cannot panic.
        take(self.0.as_ref().get(..got).unwrap_or_default())?;
        Ok((1, 0..got))
    }

    fn room(&self) -> &[u8] {
        self.0.as_ref()
    }
}

/// Returns the last datagram.
pub(super) fn receive<const SPINS: bool, const ALL: bool, R: DatagramReader>(
    lane: &Lane,
    mut reader: R,
    verified: &mut u64,
) -> Result<Vec<u8>> {
    let flags = if SPINS { libc::MSG_DONTWAIT } else { 0 };
    let (phase, mut tally, mut last) = (lane.phase(), lane.tally(), 0..0);
    lane.ready();
    while phase.load() < STOP {
        let got = receive_batch::<ALL>(lane, &mut reader, flags, verified, &mut tally, &mut last)?;
        if got <= 0 {
            if SPINS {
                tally.call();
                if sys::errno() == libc::EAGAIN {
                    continue;
                }
            }
            if got < 0 && lane.trouble(R::CALL, got)? == LoopStep::End {
                break;
            }
        }
    }
    drain::<ALL>(lane, reader, verified, tally, last)
}

fn drain<const ALL: bool>(
    lane: &Lane,
    mut reader: impl DatagramReader,
    verified: &mut u64,
    mut tally: Tally,
    mut last: Range<usize>,
) -> Result<Vec<u8>> {
    let flags = libc::MSG_DONTWAIT;
    // Queued data are left to another reader that continues.
    if !lane.control.loop_state().held {
        drain_with(lane, || {
            Ok(receive_batch::<ALL>(lane, &mut reader, flags, verified, &mut tally, &mut last)? > 0)
        })?;
    }
    Ok(reader.room()[last].to_vec())
}

/// Returns the number of datagrams of one call, or another result of the kernel.
#[inline(always)]
fn receive_batch<const ALL: bool>(
    lane: &Lane,
    reader: &mut impl DatagramReader,
    flags: libc::c_int,
    verified: &mut u64,
    tally: &mut Tally,
    last: &mut Range<usize>,
) -> Result<isize> {
    let got = reader.receive(lane.fd, flags);
    if got <= 0 {
        return Ok(got);
    }
    let (messages, came) = reader.for_each_datagram(got as usize, |datagram| {
        if ALL {
            *verified += lane.verify_datagram(datagram)?;
        }
        Ok(())
    })?;
    tally.batch(messages, got as u64);
    if messages > 0 {
        *last = came;
    }
    Ok(messages as isize)
}

pub(super) fn account(lane: &Lane, tally: &Tally, verified: u64, last: &[u8]) -> Result<LaneResult> {
    if tally.bytes != tally.messages * lane.message as u64 {
        return Err(lane.damaged(last.len().min(lane.message), last.len()));
    }
    Ok(LaneResult { verified, ..LaneResult::default() })
}

const ROOM: usize = 1 << 16;
#[repr(C)]
struct GroControl {
    header: libc::cmsghdr,
    size: libc::c_int,
}

pub(crate) struct Merged {
    room: Buffer,
    // The size of datagrams where the kernel reports none; else the whole buffer is one.
    size: Option<usize>,
    header: libc::msghdr,
    // The header points to these and to the room; they do not move with this value.
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
        let mut header = sys::no_message();
        header.msg_iov = place.as_mut_ptr();
        header.msg_iovlen = place.len();
        header.msg_control = control.as_mut_ptr().cast();
        Self { room, size: None, header, control, _place: place }
    }

    pub(crate) fn enable(fd: RawFd, flow: usize) -> Result<()> {
        sys::set_option(fd, libc::SOL_UDP, sys::UDP_GRO, 1).or_setup("setsockopt UDP_GRO", socket::flow(flow))
    }

    // That of all datagrams of a buffer but the last, which may be shorter.
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

impl DatagramReader for Merged {
    const CALL: Call = Call::RECVMSG;

    #[inline(always)]
    fn receive(&mut self, fd: RawFd, flags: libc::c_int) -> isize {
        self.header.msg_controllen = size_of_val(self.control.as_slice());
        // SAFETY: the header points to this value's own place, room and control, with their sizes.
        unsafe { sys::receive_message(fd, &mut self.header, flags) }
    }

    #[inline(always)]
    fn for_each_datagram(&self, got: usize, take: impl FnMut(&[u8]) -> Result<()>) -> Result<Datagrams> {
        let size = self.size(got);
        self.room.as_ref()[..got].chunks(size).try_for_each(take)?;
        Ok((got.div_ceil(size) as u64, (got - 1) / size * size..got))
    }

    fn room(&self) -> &[u8] {
        self.room.as_ref()
    }
}

/// Receives datagrams that were merged before the kernel stopped to merge them. Returns the last.
pub(super) fn take_merged<const ALL: bool>(lane: &Lane, verified: &mut u64) -> Result<Vec<u8>> {
    // The kernel no longer reports the size.
    let mut reader = Merged { size: Some(lane.message), ..Merged::new() };
    let (mut tally, mut last) = (lane.tally(), 0..0);
    let room = sys::option_number(lane.fd, libc::SOL_SOCKET, libc::SO_RCVBUF).unwrap_or(0);
    // The buffer holds no more: datagrams beyond it came later, unmerged.
    let most = tally.bytes + u64::from(room.unsigned_abs());
    let flags = libc::MSG_DONTWAIT;
    while tally.bytes < most
        && receive_batch::<ALL>(lane, &mut reader, flags, verified, &mut tally, &mut last)? > 0
    {}
    Ok(reader.room()[last].to_vec())
}
