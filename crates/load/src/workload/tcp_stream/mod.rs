//! A TCP connection kept full, in each way that Linux offers.

mod content;
pub(crate) mod low_water;
mod read_size;
mod receive;
pub(crate) mod send;
pub(crate) mod shared;
mod zerocopy;

use content::{Content, Discarded, Examined, Unexamined};
use send::{Copied, FromFile};
use words::{Reader, Sender};

use crate::error::Result;
use crate::lane::{Lane, LaneResult};
use crate::message::Buffer;

/// The sending thread of a flow. (The kernel paces a TCP connection, `SO_MAX_PACING_RATE`.)
pub(crate) fn send(lane: &Lane) -> Result<LaneResult> {
    let (message, begun) = (Buffer::pattern(lane.message), lane.begun());
    match lane.traffic.sender {
        Sender::Sendfile => send::send(lane, FromFile::new(lane.message, begun, lane.flow)?),
        Sender::Zerocopy => zerocopy::send(lane),
        _ => send::send(lane, Copied::new(message.as_ref(), begun, 0)),
    }
}

pub(crate) fn receive(lane: &Lane) -> Result<LaneResult> {
    if lane.traffic.verify {
        receive_content(lane, Examined::new(lane.message, lane.tally().bytes))
    } else {
        receive_content(lane, Unexamined)
    }
}

/// Each reader's loop is compiled with and without checks of the content.
fn receive_content(lane: &Lane, content: impl Content) -> Result<LaneResult> {
    match lane.traffic.reader {
        Reader::Spin => receive::receive::<{ libc::MSG_DONTWAIT }>(lane, content),
        Reader::Trunc => receive::receive::<{ libc::MSG_TRUNC }>(lane, Discarded),
        _ => receive::receive::<0>(lane, content),
    }
}
