//! A TCP connection kept full, in each way that Linux offers.

mod content;
mod plain;
pub(crate) mod sendfile;
pub(crate) mod shared;
pub(crate) mod splice;
mod uring;
mod zerocopy;

use content::{Content, Examined, Unexamined};
use words::{Reader, Sender};

use crate::error::Result;
use crate::lane::{End, Lane};

/// Bytes that a receiver asks for at once, at most: more do not stay in a CPU's own cache.
const ROOM: u32 = 256 << 10;
/// With many flows each asks for less, but never for less than a segment.
const LEAST_ROOM: u32 = 64 << 10;
/// What the receivers of all flows together ask for.
const ROOM_FOR_ALL: u32 = 4 << 20;

/// The sending thread of a flow. (The kernel keeps a TCP connection's pace, `SO_MAX_PACING_RATE`.)
pub(crate) fn send(lane: &Lane) -> Result<End> {
    match lane.traffic.sender {
        Sender::Sendfile => sendfile::send(lane),
        Sender::Splice => splice::send(lane),
        Sender::Zerocopy => zerocopy::send(lane),
        Sender::IoUring => uring::send(lane, false),
        Sender::IoUringZerocopy => uring::send(lane, true),
        _ => plain::send(lane),
    }
}

/// The receiving thread of a flow.
pub(crate) fn receive(lane: &Lane) -> Result<End> {
    if lane.traffic.verify {
        receive_content(lane, Examined::new(lane.message))
    } else {
        receive_content(lane, Unexamined)
    }
}

/// Each reader's loop is compiled for content that is examined, and for content that is not.
fn receive_content(lane: &Lane, content: impl Content) -> Result<End> {
    match lane.traffic.reader {
        Reader::Spin => plain::spin(lane, content),
        Reader::Trunc => plain::discard(lane),
        Reader::IoUring => uring::receive(lane, content),
        _ => plain::receive(lane, content),
    }
}

/// The bytes that each of so many receivers asks for at once.
pub(crate) fn room(lanes: u32) -> u32 {
    (ROOM_FOR_ALL / lanes.max(1)).clamp(LEAST_ROOM, ROOM)
}
