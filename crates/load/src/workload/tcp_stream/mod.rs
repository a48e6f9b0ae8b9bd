//! A TCP connection kept full, in each way that Linux offers.

pub(crate) mod send;
pub(crate) mod shared;

use std::net::IpAddr;
use std::os::fd::AsRawFd;

use socket2::Socket;
use words::{Kind, Reader, Sender, Traffic};

use self::send::{Copied, FromFile};
use crate::error::{Context, Result};
use crate::lane::{ABORT, Call, Lane, LaneResult, LoopStep};
use crate::message::Buffer;
use crate::{socket, sys};

// The kernel paces a TCP connection (`SO_MAX_PACING_RATE`).
pub(crate) fn send(lane: &Lane) -> Result<LaneResult> {
    let (message, begun) = (Buffer::pattern(lane.message), lane.begun());
    match lane.traffic.sender {
        Sender::Sendfile => send::send(lane, FromFile::new(lane.message, begun, lane.flow)?),
        Sender::Zerocopy => send::send_zerocopy(lane),
        _ => send::send(lane, Copied::new(message.as_ref(), begun, 0)),
    }
}

pub(crate) fn receive(lane: &Lane) -> Result<LaneResult> {
    match (lane.traffic.reader, lane.traffic.verify) {
        (Reader::Trunc, _) => receive_by::<{ libc::MSG_TRUNC }, false>(lane),
        (Reader::Spin, true) => receive_by::<{ libc::MSG_DONTWAIT }, true>(lane),
        (Reader::Spin, false) => receive_by::<{ libc::MSG_DONTWAIT }, false>(lane),
        (_, true) => receive_by::<0, true>(lane),
        (_, false) => receive_by::<0, false>(lane),
    }
}

// With `MSG_DONTWAIT` in `FLAGS` the thread never sleeps. Without `VERIFY` the last bytes are
// checked; those that the kernel discards (`MSG_TRUNC`, tcp(7)) are not seen.
fn receive_by<const FLAGS: libc::c_int, const VERIFY: bool>(lane: &Lane) -> Result<LaneResult> {
    let mut room = Buffer::room(read_size(lane.traffic.lanes()) as usize);
    let (fd, phase, mut tally) = (lane.fd, lane.phase(), lane.tally());
    let (begun, mut last) = (tally.bytes, 0);
    lane.ready();
    // The end of the stream ends this loop, not `Stop`, so that all sent data are received.
    while phase.load() < ABORT {
        let got = sys::receive(fd, room.as_mut(), FLAGS);
        if got > 0 {
            last = got as usize;
            if VERIFY {
                lane.verify(&room.as_ref()[..last], tally.bytes, lane.message)?;
            }
            tally.stream(got as u64);
        } else if got < 0 && FLAGS & libc::MSG_DONTWAIT != 0 && sys::errno() == libc::EAGAIN {
            tally.call();
        } else if lane.trouble(Call::RECV, got)? == LoopStep::End {
            break;
        }
    }
    let verified = match FLAGS {
        libc::MSG_TRUNC => 0,
        _ if VERIFY => tally.bytes - begun,
        _ => lane.verify(&room.as_ref()[..last], tally.bytes - last as u64, lane.message)?,
    };
    Ok(LaneResult { verified, ..LaneResult::default() })
}

// More do not stay in a CPU's own cache.
const ROOM: u32 = 256 << 10;
// With many flows: a segment.
const LEAST_ROOM: u32 = 64 << 10;
const ROOM_FOR_ALL: u32 = 4 << 20;

fn read_size(lanes: u32) -> u32 {
    (ROOM_FOR_ALL / lanes.max(1)).clamp(LEAST_ROOM, ROOM)
}

const LARGE: u32 = 8192;

/// Enough bytes to fill half of the receiver's room (`SO_RCVLOWAT`); `None`: no mark.
pub(crate) fn low_water_mark(traffic: &Traffic, local: IpAddr) -> Option<u32> {
    // Without a sleep there is nothing to save, and a byte may be the last of an answer.
    let sleeps = traffic.reader != Reader::Spin;
    // As fast as without a mark, or faster; over veth it made writes of 1 and 4 KiB slower
    // (`bench/README.md`). The rule does not depend on a rate, so it favours no condition of the
    // same message size.
    let helps = local.is_loopback() || traffic.message >= LARGE;
    (traffic.kind == Kind::TcpStream && sleeps && helps).then(|| read_size(traffic.lanes()) / 2)
}

// The kernel limits it with a small receive buffer (`tcp_set_rcvlowat` in net/ipv4/tcp.c).
pub(crate) fn set_low_water(socket: &Socket, bytes: u32, flow: usize) -> Result<()> {
    let bytes = libc::c_int::try_from(bytes).unwrap_or(libc::c_int::MAX);
    let set = sys::set_option(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_RCVLOWAT, bytes);
    set.or_setup("setsockopt SO_RCVLOWAT", socket::flow(flow))
}
