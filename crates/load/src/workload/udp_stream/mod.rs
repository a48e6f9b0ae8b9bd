//! UDP datagrams as fast as they can be sent, in each way that Linux offers.

pub(crate) mod batch;
mod check;
pub(crate) mod gro;
pub(crate) mod gso;
mod plain;
pub(crate) mod shared;
mod stamp;
mod uring;
mod zerocopy;

use words::{Reader, Sender};

use crate::error::Result;
use crate::lane::{End, Lane};
use crate::workload::pace::{Pace, Paced, Unpaced};
use check::{Check, Checked, Unchecked};
use stamp::{Stamp, Stamped, Unstamped};

/// The sending thread of a flow.
pub(crate) fn send(lane: &Lane) -> Result<End> {
    match lane.traffic.pacing {
        None => send_paced(lane, Unpaced),
        Some(pace) => send_paced(lane, Paced::new(pace.bits())),
    }
}

fn send_paced(lane: &Lane, pace: impl Pace) -> Result<End> {
    if lane.traffic.verify {
        send_stamped(lane, Stamped::default(), pace)
    } else {
        send_stamped(lane, Unstamped, pace)
    }
}

/// Each sender's loop is compiled for datagrams with and without numbers, and with and without a
/// pace.
fn send_stamped(lane: &Lane, stamp: impl Stamp, pace: impl Pace) -> Result<End> {
    match lane.traffic.sender {
        Sender::Sendmmsg | Sender::GsoSendmmsg => batch::send(lane, stamp, pace),
        Sender::Gso => gso::send(lane, stamp, pace),
        Sender::Zerocopy => zerocopy::send(lane, stamp, pace),
        Sender::IoUring => uring::send::<false, _, _>(lane, stamp, pace),
        Sender::IoUringZerocopy => uring::send::<true, _, _>(lane, stamp, pace),
        _ => plain::send(lane, stamp, pace),
    }
}

/// The receiving thread of a flow.
pub(crate) fn receive(lane: &Lane) -> Result<End> {
    if lane.traffic.verify {
        receive_checked(lane, Checked::new(lane.message))
    } else {
        receive_checked(lane, Unchecked)
    }
}

fn receive_checked(lane: &Lane, check: impl Check) -> Result<End> {
    match lane.traffic.reader {
        Reader::Recvmmsg => batch::receive(lane, check),
        Reader::Gro => gro::receive(lane, check),
        Reader::Spin => plain::spin(lane, check),
        Reader::IoUring => uring::receive(lane, check),
        _ => plain::receive(lane, check),
    }
}
