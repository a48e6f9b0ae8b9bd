//! Many datagrams, or many buffers of them, per call.

use std::ops::Range;
use std::os::fd::RawFd;

use super::gso;
use words::Sender;

use super::check::Check;
use super::stamp::Stamp;
use crate::error::Result;
use crate::lane::{Call, End, Lane, Next, QUIET, STOP, Tally};
use crate::message::Buffer;
use crate::sys::error_queue::{self, Notice};
use crate::sys::{self, Target, headers};
use crate::workload::drain::drain_with;
use crate::workload::pace::Pace;

/// Datagrams per call: more gain nothing that can be measured.
const DATAGRAMS: usize = 64;
/// Buffers of datagrams per call: each is up to 64 KiB, and the socket's buffer holds a few of
/// them.
const BUFFERS: usize = 4;
/// What a receiver's datagrams of one call may take in memory; there are a few in any case.
const ROOM: usize = 1 << 20;
const LEAST: usize = 8;

/// How many parcels a sender hands over in one call, and how many datagrams each of them is.
pub(crate) fn shape(sender: Sender, message: usize) -> (usize, usize) {
    let count = match sender {
        Sender::Sendmmsg => DATAGRAMS,
        Sender::GsoSendmmsg => BUFFERS,
        _ => 1,
    };
    (count, if sender.segments() { gso::segments(message) } else { 1 })
}

/// What one `sendmmsg` hands over: datagrams, or buffers that are cut into datagrams.
pub(crate) struct Parcels<'d> {
    buffer: Buffer,
    headers: Vec<libc::mmsghdr>,
    /// What the headers point to, beside the buffer: they stay where they are while this value
    /// moves.
    _places: Vec<libc::iovec>,
    _to: Target<'d>,
}

impl<'d> Parcels<'d> {
    /// Of a [`shape`]. Parcels are all the same one, which stays in the CPU's cache, unless they
    /// are `apart`, because they change.
    pub(crate) fn new(message: usize, (count, each): (usize, usize), apart: bool, to: Target<'d>) -> Self {
        let buffer = Buffer::messages(message, if apart { each * count } else { each });
        let parcel = each * message;
        let mut places: Vec<libc::iovec> = (0..count)
            .map(|number| libc::iovec {
                iov_base: buffer.start().wrapping_add(if apart { number * parcel } else { 0 }).cast(),
                iov_len: parcel,
            })
            .collect();
        let mut headers = headers_of(&mut places);
        for header in &mut headers {
            header.msg_hdr.msg_name = to.address.cast_mut().cast();
            header.msg_hdr.msg_namelen = to.len;
        }
        Self { buffer, headers, _places: places, _to: to }
    }

    /// Hands them over. Returns how many were taken, or -1 with `errno` set.
    #[inline(always)]
    pub(crate) fn send(&mut self, fd: RawFd) -> isize {
        // SAFETY: the headers point to this value's own buffer and places, and to an address that
        // outlives it.
        unsafe { headers::send_many(fd, &mut self.headers) }
    }
}

/// `sendmmsg` of datagrams, or of buffers that are cut into datagrams.
pub(super) fn send<S: Stamp>(lane: &Lane, mut stamp: S, mut pace: impl Pace) -> Result<End> {
    if lane.traffic.sender.segments() {
        gso::enable(lane.fd, lane.message, lane.flow)?;
    }
    let (count, each) = shape(lane.traffic.sender, lane.message);
    let destination = lane.destination();
    let mut parcels = Parcels::new(lane.message, (count, each), S::WRITES, destination.target());
    let (fd, phase, mut tally) = (lane.fd, lane.phase(), lane.tally());
    lane.ready();
    while phase.load() < QUIET {
        pace.wait((lane.message * each * count) as u64, phase);
        stamp.stamp(parcels.buffer.as_mut(), lane.message);
        let sent = parcels.send(fd);
        if sent > 0 {
            let datagrams = sent as u64 * each as u64;
            tally.batch(datagrams, datagrams * lane.message as u64);
            stamp.advance(datagrams);
            if sent < count as isize && cut_short(lane, &mut tally, each as u64)? == Next::End {
                break;
            }
        } else if sys::errno() == libc::ENOBUFS {
            tally.call();
            tally.refused(each as u64);
        } else if gso::trouble(lane, Call::Sendmmsg, sent)? == Next::End {
            break;
        }
    }
    Ok(End::default())
}

/// Finds out why a call took only a part. The kernel forgets the error of the parcel that it
/// stopped at: what the path said is still in the error queue, and all that is not of this moment
/// meets the next call again. Else the queue was full.
#[cold]
#[inline(never)]
fn cut_short(lane: &Lane, tally: &mut Tally, datagrams: u64) -> Result<Next> {
    match error_queue::take(lane.fd) {
        Some(Notice::Failed(errno)) => lane.judge(Call::Sendmmsg, errno),
        _ => {
            tally.refused(datagrams);
            Ok(Next::Again)
        }
    }
}

/// Room for what one `recvmmsg` takes.
pub(crate) struct Arrivals {
    /// Bytes of each place: one more than a message, so that one too large shows.
    size: usize,
    room: Buffer,
    headers: Vec<libc::mmsghdr>,
    /// What the headers point to, beside the room: they stay where they are while this value moves.
    _places: Vec<libc::iovec>,
}

impl Arrivals {
    pub(crate) fn new(message: usize) -> Self {
        let (size, count) = (message + 1, Self::capacity(message));
        let room = Buffer::room(size * count);
        let mut places: Vec<libc::iovec> = (0..count)
            .map(|number| libc::iovec {
                iov_base: room.start().wrapping_add(number * size).cast(),
                iov_len: size,
            })
            .collect();
        let headers = headers_of(&mut places);
        Self { size, room, headers, _places: places }
    }

    /// How many datagrams one call takes at most.
    pub(crate) fn capacity(message: usize) -> usize {
        (ROOM / (message + 1)).clamp(LEAST, DATAGRAMS)
    }

    /// Waits for one datagram, and takes those that are there with it. Returns how many came, or -1
    /// with `errno` set.
    #[inline(always)]
    pub(crate) fn receive(&mut self, fd: RawFd, flags: libc::c_int) -> isize {
        // SAFETY: the headers point to this value's own room and places, and the kernel writes to
        // no more of it than each place has.
        unsafe { headers::receive_many(fd, &mut self.headers, flags) }
    }

    /// Where in the room the first `count` datagrams of the last call are.
    #[inline(always)]
    pub(crate) fn places(&self, count: usize) -> impl Iterator<Item = Range<usize>> {
        let place = |(number, header): (usize, &libc::mmsghdr)| {
            number * self.size..number * self.size + header.msg_len as usize
        };
        self.headers.iter().take(count).enumerate().map(place)
    }
}

/// `recvmmsg`: waits for one datagram, and takes those that are there with it.
pub(super) fn receive(lane: &Lane, mut check: impl Check) -> Result<End> {
    let mut arrivals = Arrivals::new(lane.message);
    let (fd, phase, mut tally) = (lane.fd, lane.phase(), lane.tally());
    let mut last = 0..0;
    let mut take = |arrivals: &mut Arrivals, flags| -> Result<isize> {
        let got = arrivals.receive(fd, flags);
        let mut messages = 0;
        let mut bytes = 0;
        for place in arrivals.places(got.max(0) as usize) {
            // What is empty is no datagram of ours, but the end of a socket that is shut.
            messages += u64::from(!place.is_empty());
            bytes += place.len() as u64;
            if !place.is_empty() {
                check.datagram(lane, &arrivals.room.as_ref()[place.clone()])?;
                last = place;
            }
        }
        tally.batch(messages, bytes);
        Ok(if got > 0 { messages as isize } else { got })
    };
    lane.ready();
    while phase.load() < STOP {
        let got = take(&mut arrivals, libc::MSG_WAITFORONE)?;
        if got < 0 && lane.trouble(Call::Recvmmsg, got)? == Next::End {
            break;
        }
    }
    drain_with(lane, || Ok(take(&mut arrivals, libc::MSG_DONTWAIT)? > 0))?;
    super::plain::end(lane, &tally, check, &arrivals.room.as_ref()[last])
}

/// A header for each place.
fn headers_of(places: &mut [libc::iovec]) -> Vec<libc::mmsghdr> {
    let header = |place: &mut libc::iovec| {
        let mut header = headers::no_message();
        header.msg_iov = &raw mut *place;
        header.msg_iovlen = 1;
        libc::mmsghdr { msg_hdr: header, msg_len: 0 }
    };
    places.iter_mut().map(header).collect()
}
