//! Many datagrams, or many buffers of them, per call.

use super::gso;
use crate::buffer::Buffer;
use crate::call::Call;
use crate::counts::Tally;
use crate::destination::Destination;
use crate::drain::drain_with;
use crate::error::Result;
use crate::error_queue::{self, Notice};
use crate::lane::{End, Lane, Next};
use crate::pace::Pace;
use crate::phase::{QUIET, STOP};
use crate::sequence::{Check, Stamp};
use crate::{headers, sys};

/// Datagrams per call: more gain nothing that can be measured.
const DATAGRAMS: usize = 64;
/// Buffers of datagrams per call: each is up to 64 KiB, and the socket's buffer holds a few of them.
const BUFFERS: usize = 4;
/// What a receiver's datagrams of one call may take in memory; there are a few in any case.
const ROOM: usize = 1 << 20;
const LEAST: usize = 8;

/// `sendmmsg` of datagrams.
pub(super) fn send(lane: &Lane, stamp: impl Stamp, pace: impl Pace) -> Result<End> {
    send_parcels(lane, stamp, pace, 1, DATAGRAMS)
}

/// `sendmmsg` of buffers that are cut into datagrams.
pub(super) fn send_gso(lane: &Lane, stamp: impl Stamp, pace: impl Pace) -> Result<End> {
    gso::enable(lane)?;
    send_parcels(lane, stamp, pace, gso::segments(lane.message), BUFFERS)
}

/// Sends `count` parcels per call, of `each` datagrams.
fn send_parcels<S: Stamp>(
    lane: &Lane,
    mut stamp: S,
    mut pace: impl Pace,
    each: usize,
    count: usize,
) -> Result<End> {
    // Parcels that do not change are all the same one, which stays in the CPU's cache.
    let mut buffer = Buffer::messages(lane.message, if S::WRITES { each * count } else { each });
    let destination = Destination::of(lane);
    let to = destination.target();
    let parcel = each * lane.message;
    let mut places: Vec<libc::iovec> = (0..count)
        .map(|number| libc::iovec {
            iov_base: buffer.start().wrapping_add(if S::WRITES { number * parcel } else { 0 }).cast(),
            iov_len: parcel,
        })
        .collect();
    let mut headers = parcels(&mut places);
    for header in &mut headers {
        header.msg_hdr.msg_name = to.address.cast_mut().cast();
        header.msg_hdr.msg_namelen = to.len;
    }
    let (fd, phase, mut tally) = (lane.fd, lane.phase(), lane.tally());
    lane.ready();
    while phase.load() < QUIET {
        pace.wait((parcel * count) as u64, phase);
        stamp.stamp(buffer.as_mut(), lane.message);
        // SAFETY: the headers point to `buffer`, `places` and `destination`, which live until the end of this function.
        let sent = unsafe { headers::send_many(fd, &mut headers) };
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

/// Finds out why a call took only a part. The kernel forgets the error of the parcel that it stopped at: what the path said
/// is still in the error queue, and all that is not of this moment meets the next call again. Else the queue was full.
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

/// `recvmmsg`: waits for one datagram, and takes those that are there with it.
pub(super) fn receive(lane: &Lane, mut check: impl Check) -> Result<End> {
    // One byte more than a message, so that one too large shows.
    let size = lane.message + 1;
    let count = (ROOM / size).clamp(LEAST, DATAGRAMS);
    let room = Buffer::room(size * count);
    let mut places: Vec<libc::iovec> = (0..count)
        .map(|number| libc::iovec {
            iov_base: room.start().wrapping_add(number * size).cast(),
            iov_len: size,
        })
        .collect();
    let mut headers = parcels(&mut places);
    let (fd, phase, mut tally) = (lane.fd, lane.phase(), lane.tally());
    let mut last = 0..0;
    let mut take = |headers: &mut [libc::mmsghdr], flags| -> Result<isize> {
        // SAFETY: the headers point to `room` and `places`, which live until the end of this function; the kernel writes
        // to no more of `room` than each place has.
        let got = unsafe { headers::receive_many(fd, headers, flags) };
        let mut messages = 0;
        let mut bytes = 0;
        for (number, header) in headers.iter().take(got.max(0) as usize).enumerate() {
            let len = header.msg_len as usize;
            // What is empty is no datagram of ours, but the end of a socket that is shut.
            messages += u64::from(len > 0);
            bytes += len as u64;
            if len > 0 {
                last = number * size..number * size + len;
                check.datagram(lane, &room.as_ref()[last.clone()])?;
            }
        }
        tally.batch(messages, bytes);
        Ok(if got > 0 { messages as isize } else { got })
    };
    lane.ready();
    while phase.load() < STOP {
        let got = take(&mut headers, libc::MSG_WAITFORONE)?;
        if got < 0 && lane.trouble(Call::Recvmmsg, got)? == Next::End {
            break;
        }
    }
    drain_with(lane, || Ok(take(&mut headers, libc::MSG_DONTWAIT)? > 0))?;
    super::plain::end(lane, &tally, check, &room.as_ref()[last])
}

/// A header for each place.
fn parcels(places: &mut [libc::iovec]) -> Vec<libc::mmsghdr> {
    let header = |place: &mut libc::iovec| {
        let mut header = headers::no_message();
        header.msg_iov = &raw mut *place;
        header.msg_iovlen = 1;
        libc::mmsghdr { msg_hdr: header, msg_len: 0 }
    };
    places.iter_mut().map(header).collect()
}
