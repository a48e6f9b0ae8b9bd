//! Senders whose datagrams the kernel copies, call after call, compiled for each
//! [`DatagramWriter`].

use std::os::fd::RawFd;

use words::Sender;

use crate::error::{Context, Error, Result, error_text};
use crate::lane::{Call, Lane, LaneResult, LoopStep, QUIET};
use crate::message::Buffer;
use crate::sys::{self, Destination};
use crate::workload::lent::LentPages;
use crate::workload::pace::Pace;

// More have no measurable gain.
const DATAGRAMS: usize = 64;

pub(crate) fn datagrams_in_buffer(sender: Sender, message: usize) -> usize {
    if sender == Sender::Gso { gso_segments(message) } else { 1 }
}

pub(crate) trait DatagramWriter {
    const CALL: Call;

    /// The most buffers that a call sends.
    const BUFFERS: usize;

    /// Sends `buffers` of them. Returns the result of the kernel, or -1 with `errno` set.
    fn write(&mut self, fd: RawFd, buffers: usize) -> isize;
}

pub(crate) struct SingleSend<'d> {
    buffer: Buffer,
    to: Destination<'d>,
}

impl<'d> SingleSend<'d> {
    pub(crate) fn new(message: usize, datagrams: usize, to: Destination<'d>) -> Self {
        Self { buffer: Buffer::messages(message, datagrams), to }
    }
}

impl DatagramWriter for SingleSend<'_> {
    const CALL: Call = Call::SEND;
    const BUFFERS: usize = 1;

    #[inline(always)]
    fn write(&mut self, fd: RawFd, _: usize) -> isize {
        sys::send_to(fd, self.buffer.as_ref(), 0, self.to)
    }
}

pub(crate) struct Many<'d> {
    headers: Vec<libc::mmsghdr>,
    // The headers point to these, which do not move with this value.
    _buffer: Buffer,
    _places: Vec<libc::iovec>,
    _to: Destination<'d>,
}

impl<'d> Many<'d> {
    // All datagrams are one, which stays in the cache of the CPU.
    pub(crate) fn new(message: usize, to: Destination<'d>) -> Self {
        let buffer = Buffer::pattern(message);
        let mut places = vec![libc::iovec { iov_base: buffer.start().cast(), iov_len: message }; DATAGRAMS];
        let header = |place: &mut libc::iovec| {
            let mut header = sys::no_message();
            (header.msg_iov, header.msg_iovlen) = (&raw mut *place, 1);
            (header.msg_name, header.msg_namelen) = (to.address.cast_mut().cast(), to.len);
            libc::mmsghdr { msg_hdr: header, msg_len: 0 }
        };
        let headers = places.iter_mut().map(header).collect();
        Self { headers, _buffer: buffer, _places: places, _to: to }
    }
}

impl DatagramWriter for Many<'_> {
    const CALL: Call = Call::SENDMMSG;
    const BUFFERS: usize = DATAGRAMS;

    #[inline(always)]
    fn write(&mut self, fd: RawFd, buffers: usize) -> isize {
        // SAFETY: the headers point to this value's own buffer and places, and to an address that
        // outlives it.
        unsafe { sys::send_many(fd, &mut self.headers[..buffers]) }
    }
}

pub(super) fn send<W: DatagramWriter, const PACED: bool>(
    lane: &Lane,
    mut writer: W,
    mut pace: Pace<'_, PACED>,
) -> Result<LaneResult> {
    if lane.traffic.sender.segments() {
        enable_gso(lane.fd, lane.message, lane.flow)?;
    }
    let (message, each) = (lane.message as u64, datagrams_in_buffer(lane.traffic.sender, lane.message));
    let (fd, phase, mut tally) = (lane.fd, lane.phase(), lane.tally());
    lane.ready();
    let mut buffers = W::BUFFERS;
    while phase.load() < QUIET && pace.wait((buffers * each) as u64 * message, phase) {
        let wrote = writer.write(fd, buffers);
        if wrote > 0 {
            let taken = if W::BUFFERS > 1 { wrote as usize } else { 1 };
            let datagrams = (taken * each) as u64;
            tally.batch(datagrams, datagrams * message);
            if taken == buffers {
                buffers = W::BUFFERS;
            } else {
                // The queue was full, or the path reported an error, which a call that has sent
                // anything does not return. If each datagram brings one, as over loopback to a
                // closed port, only the call after a single datagram fails.
                tally.refused(each as u64);
                buffers = 1;
            }
        } else if sys::errno() == libc::ENOBUFS {
            tally.call();
            tally.refused(each as u64);
        } else if gso_trouble(lane, W::CALL, wrote)? == LoopStep::End {
            break;
        }
    }
    Ok(LaneResult::default())
}

// `UDP_MAX_SEGMENTS` of linux/udp.h before 6.9, which doubled it.
const MOST_SEGMENTS: usize = 64;
// A datagram over IPv4.
const MOST_BYTES: usize = 65_507;

pub(crate) fn gso_segments(message: usize) -> usize {
    (MOST_BYTES / message).clamp(1, MOST_SEGMENTS)
}

pub(crate) fn enable_gso(fd: RawFd, message: usize, flow: usize) -> Result<()> {
    let size = libc::c_int::try_from(message).unwrap_or(libc::c_int::MAX);
    sys::set_option(fd, libc::SOL_UDP, libc::UDP_SEGMENT, size)
        .or_setup("setsockopt UDP_SEGMENT", crate::socket::flow(flow))
}

#[cold]
#[inline(never)]
fn gso_trouble(lane: &Lane, call: Call, returned: isize) -> Result<LoopStep> {
    let (errno, segmenting) = (sys::errno(), returned < 0 && lane.traffic.sender.segments());
    let remedy = match errno {
        libc::EIO if segmenting => {
            "the device does not compute UDP checksums, or IPsec is on the path: turn transmit checksumming \
             on, or use the sender `send` or `sendmmsg`"
        }
        // Datagrams of a split buffer are never fragmented.
        libc::EINVAL | libc::EMSGSIZE if segmenting => {
            "each must fit the path's MTU: use a smaller `message`, a larger MTU, or the sender `send`"
        }
        _ => return lane.trouble(call, returned),
    };
    let (call, message, peer, why) = (call.name, lane.message, lane.peer, error_text(errno));
    let what = format!(
        "{call} of datagrams of {message} bytes, split from one buffer (UDP_SEGMENT), with {peer}: {why}; {remedy}"
    );
    Err(Error::flow(lane.flow, what))
}

pub(super) fn send_zerocopy<const PACED: bool>(lane: &Lane, mut pace: Pace<'_, PACED>) -> Result<LaneResult> {
    let mut lent = LentPages::new(lane)?;
    let datagram = Buffer::pattern(lane.message);
    let destination = lane.destination();
    let to = Destination::new(destination.as_ref());
    let (fd, phase, mut tally) = (lane.fd, lane.phase(), lane.tally());
    lane.ready();
    while phase.load() < QUIET {
        if lent.is_full() && lent.wait(lane, |lent| !lent.is_full())? == LoopStep::End {
            break;
        }
        if !pace.wait(lane.message as u64, phase) {
            break;
        }
        let sent = sys::send_to(fd, datagram.as_ref(), libc::MSG_ZEROCOPY, to);
        if sent > 0 {
            tally.message(sent as u64);
            lent.sent();
        } else if sys::errno() != libc::ENOBUFS {
            if lane.trouble(Call::SEND, sent)? == LoopStep::End {
                break;
            }
        } else if lent.is_refused_by_queue(lane)? {
            tally.no_buffers();
        } else {
            tally.call();
            if lent.wait_for_some(lane)? == LoopStep::End {
                break;
            }
        }
    }
    Ok(LaneResult { zerocopy: Some(lent.end(lane)), ..LaneResult::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_holds_what_the_kernel_takes() {
        assert_eq!(gso_segments(18), 64);
        assert_eq!(gso_segments(1472), 44);
        assert_eq!(gso_segments(32_753), 2);
        assert_eq!(gso_segments(32_754), 1);
        assert_eq!(gso_segments(65_527), 1);
    }
}
