//! The senders whose datagrams the kernel copies: one system call after the other. Each is this
//! loop, compiled for its [`Writer`].

use std::os::fd::RawFd;

use words::Sender;

use super::gso;
use super::stamp::Stamp;
use crate::error::Result;
use crate::lane::{Call, Lane, LaneResult, LoopStep, QUIET, Tally};
use crate::message::Buffer;
use crate::sys::calls::{self, Notice};
use crate::sys::{self, Target, calls};
use crate::workload::pace::Pace;

/// Datagrams per call: more have no measurable gain.
const DATAGRAMS: usize = 64;

/// The buffers of one call, and the datagrams of each of them.
pub(crate) fn shape(sender: Sender, message: usize) -> (usize, usize) {
    match sender {
        Sender::Sendmmsg => (DATAGRAMS, 1),
        Sender::Gso => (1, gso::segments(message)),
        _ => (1, 1),
    }
}

pub(crate) trait Writer {
    const CALL: Call;

    /// The buffers of one call, and the datagrams of each of them.
    fn shape(&self) -> (usize, usize);

    fn bytes(&mut self) -> &mut [u8];

    /// Sends them. Returns the kernel's result, or -1 with `errno` set.
    fn write(&mut self, fd: RawFd) -> isize;

    /// The number of buffers that the kernel accepted when it returned `wrote`, more than 0.
    fn taken(&self, wrote: isize) -> usize;
}

/// One buffer for each `send`: a datagram, or several that the kernel or the device splits.
pub(crate) struct One<'d> {
    buffer: Buffer,
    datagrams: usize,
    to: Target<'d>,
}

impl<'d> One<'d> {
    pub(crate) fn new(message: usize, datagrams: usize, to: Target<'d>) -> Self {
        Self { buffer: Buffer::messages(message, datagrams), datagrams, to }
    }
}

impl Writer for One<'_> {
    const CALL: Call = Call::Send;

    fn shape(&self) -> (usize, usize) {
        (1, self.datagrams)
    }

    #[inline(always)]
    fn bytes(&mut self) -> &mut [u8] {
        self.buffer.as_mut()
    }

    #[inline(always)]
    fn write(&mut self, fd: RawFd) -> isize {
        sys::send_to(fd, self.buffer.as_ref(), 0, self.to)
    }

    #[inline(always)]
    fn taken(&self, _: isize) -> usize {
        1
    }
}

/// Many datagrams for each `sendmmsg`.
pub(crate) struct Many<'d> {
    buffer: Buffer,
    headers: Vec<libc::mmsghdr>,
    /// The headers point to these and to the buffer; they do not move with this value.
    _places: Vec<libc::iovec>,
    _to: Target<'d>,
}

impl<'d> Many<'d> {
    /// All datagrams are one, which stays in the CPU's cache, unless they are `apart`, because they
    /// change.
    pub(crate) fn new(message: usize, apart: bool, to: Target<'d>) -> Self {
        let buffer = Buffer::messages(message, if apart { DATAGRAMS } else { 1 });
        let place = |number: usize| libc::iovec {
            iov_base: buffer.start().wrapping_add(if apart { number * message } else { 0 }).cast(),
            iov_len: message,
        };
        let mut places: Vec<libc::iovec> = (0..DATAGRAMS).map(place).collect();
        let mut headers = calls::headers_of(&mut places);
        for header in &mut headers {
            header.msg_hdr.msg_name = to.address.cast_mut().cast();
            header.msg_hdr.msg_namelen = to.len;
        }
        Self { buffer, headers, _places: places, _to: to }
    }
}

impl Writer for Many<'_> {
    const CALL: Call = Call::Sendmmsg;

    fn shape(&self) -> (usize, usize) {
        (DATAGRAMS, 1)
    }

    #[inline(always)]
    fn bytes(&mut self) -> &mut [u8] {
        self.buffer.as_mut()
    }

    #[inline(always)]
    fn write(&mut self, fd: RawFd) -> isize {
        // SAFETY: the headers point to this value's own buffer and places, and to an address that
        // outlives it.
        unsafe { calls::send_many(fd, &mut self.headers) }
    }

    #[inline(always)]
    fn taken(&self, wrote: isize) -> usize {
        wrote as usize
    }
}

pub(super) fn send<W: Writer>(
    lane: &Lane,
    mut writer: W,
    mut stamp: impl Stamp,
    mut pace: impl Pace,
) -> Result<LaneResult> {
    if lane.traffic.sender.segments() {
        gso::enable(lane.fd, lane.message, lane.flow)?;
    }
    let (message, (count, each)) = (lane.message as u64, writer.shape());
    let (fd, phase, mut tally) = (lane.fd, lane.phase(), lane.tally());
    lane.ready();
    while phase.load() < QUIET && pace.wait((count * each) as u64 * message, phase) {
        stamp.stamp(writer.bytes(), lane.message);
        let wrote = writer.write(fd);
        if wrote > 0 {
            let taken = writer.taken(wrote);
            let datagrams = (taken * each) as u64;
            tally.batch(datagrams, datagrams * message);
            stamp.advance(datagrams);
            if taken < count && cut_short(lane, &mut tally, each as u64)? == LoopStep::End {
                break;
            }
        } else if sys::errno() == libc::ENOBUFS {
            tally.call();
            tally.refused(each as u64);
        } else if gso::trouble(lane, W::CALL, wrote)? == LoopStep::End {
            break;
        }
    }
    Ok(LaneResult::default())
}

/// Finds out why a call took only a part. The kernel forgets the error at the buffer where it
/// stopped: an error of the path is still in the error queue, and a lasting error recurs at the
/// next call. Otherwise the queue was full.
#[cold]
#[inline(never)]
fn cut_short(lane: &Lane, tally: &mut Tally, datagrams: u64) -> Result<LoopStep> {
    match calls::read_entry(lane.fd) {
        Some(Notice::Failed(errno)) => lane.judge(Call::Sendmmsg, errno),
        _ => {
            tally.refused(datagrams);
            Ok(LoopStep::Again)
        }
    }
}
