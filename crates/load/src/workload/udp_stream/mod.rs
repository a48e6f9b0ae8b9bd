//! UDP datagrams as fast as they can be sent, in each way that Linux offers.

mod check;
pub(crate) mod gro;
pub(crate) mod gso;
pub(crate) mod receive;
pub(crate) mod send;
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

pub(crate) fn send(lane: &Lane) -> Result<End> {
    match lane.traffic.pacing {
        None => send_paced(lane, Unpaced),
        Some(_) => send_paced(lane, Paced::new(&lane.control.pace)),
    }
}

fn send_paced(lane: &Lane, pace: impl Pace) -> Result<End> {
    if lane.traffic.verify {
        send_stamped(lane, Stamped { next: lane.tally().messages }, pace)
    } else {
        send_stamped(lane, Unstamped, pace)
    }
}

/// Each sender's loop is compiled for datagrams with and without numbers, and with and without a
/// pace.
fn send_stamped<S: Stamp>(lane: &Lane, stamp: S, pace: impl Pace) -> Result<End> {
    let (message, destination) = (lane.message, lane.destination());
    let (shape, to) = (send::shape(lane.traffic.sender, message), destination.target());
    match lane.traffic.sender {
        Sender::Zerocopy => zerocopy::send(lane, stamp, pace),
        Sender::IoUring => uring::send::<false, _, _>(lane, stamp, pace),
        Sender::IoUringZerocopy => uring::send::<true, _, _>(lane, stamp, pace),
        Sender::Sendmmsg | Sender::GsoSendmmsg => {
            send::send(lane, send::Many::new(message, shape, S::WRITES, to), stamp, pace)
        }
        _ => send::send(lane, send::One::new(message, shape.1, to), stamp, pace),
    }
}

pub(crate) fn receive(lane: &Lane) -> Result<End> {
    if lane.traffic.verify {
        receive_checked(lane, Checked::new(lane.message))
    } else {
        receive_checked(lane, Unchecked)
    }
}

fn receive_checked(lane: &Lane, check: impl Check) -> Result<End> {
    match lane.traffic.reader {
        Reader::Recvmmsg => receive::receive::<false, _>(lane, receive::Many::new(lane.message), check),
        Reader::Gro => {
            gro::Merged::enable(lane.fd, lane.flow)?;
            let end = receive::receive::<false, _>(lane, gro::Merged::new(), check)?;
            Ok(End { notes: gro::drops_note(lane).into_iter().collect(), ..end })
        }
        Reader::IoUring => uring::receive(lane, check),
        Reader::Spin => receive::receive::<true, _>(lane, receive::One::new(lane.message), check),
        _ => receive::receive::<false, _>(lane, receive::One::new(lane.message), check),
    }
}
