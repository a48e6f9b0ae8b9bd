//! A TCP connection kept full, in each way that Linux offers.

mod content;
pub(crate) mod low_water;
mod plain;
mod room;
pub(crate) mod sendfile;
pub(crate) mod shared;
pub(crate) mod splice;
mod uring;
mod zerocopy;

use content::{Content, Examined, Unexamined};
use words::{Reader, Sender};

use crate::error::Result;
use crate::lane::{End, Lane};

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
