//! UDP datagrams as fast as they can be sent, in each way that Linux offers.

mod check;
pub(crate) mod gro;
pub(crate) mod gso;
pub(crate) mod receive;
pub(crate) mod send;
pub(crate) mod shared;
mod stamp;
mod zerocopy;

use words::{Reader, Sender};

use crate::error::Result;
use crate::lane::{Lane, LaneResult};
use crate::workload::pace::{Pace, Paced, Unpaced};
use check::{Check, Checked, Unchecked};
use stamp::{Stamp, Stamped, Unstamped};

pub(crate) fn send(lane: &Lane) -> Result<LaneResult> {
    match lane.traffic.pacing {
        None => send_paced(lane, Unpaced),
        Some(_) => send_paced(lane, Paced::new(&lane.control.pace)),
    }
}

fn send_paced(lane: &Lane, pace: impl Pace) -> Result<LaneResult> {
    if lane.traffic.verify {
        send_stamped(lane, Stamped { next: lane.tally().messages }, pace)
    } else {
        send_stamped(lane, Unstamped, pace)
    }
}

/// Each sender's loop is compiled for datagrams with and without numbers, and with and without a
/// pace.
fn send_stamped<S: Stamp>(lane: &Lane, stamp: S, pace: impl Pace) -> Result<LaneResult> {
    let (message, destination) = (lane.message, lane.destination());
    let ((_, datagrams), to) = (send::shape(lane.traffic.sender, message), destination.target());
    match lane.traffic.sender {
        Sender::Zerocopy => zerocopy::send(lane, stamp, pace),
        Sender::Sendmmsg => send::send(lane, send::Many::new(message, S::WRITES, to), stamp, pace),
        _ => send::send(lane, send::One::new(message, datagrams, to), stamp, pace),
    }
}

pub(crate) fn receive(lane: &Lane) -> Result<LaneResult> {
    if lane.traffic.verify {
        receive_checked(lane, Checked::new(lane.message))
    } else {
        receive_checked(lane, Unchecked)
    }
}

/// Receives by one reader after the other, as conditions that take turns change it.
fn receive_checked(lane: &Lane, mut check: impl Check) -> Result<LaneResult> {
    let (mut last, mut merged) = (Vec::new(), false);
    let mut turn = None;
    loop {
        let now = turn.as_ref().unwrap_or(lane);
        let was_merged = now.traffic.reader == Reader::Gro;
        merged |= was_merged;
        let mut note_last = |came: Vec<u8>| {
            if !came.is_empty() {
                last = came;
            }
        };
        note_last(receive_by(now, &mut check)?);
        let Some(next) = lane.control.loop_switch.next() else { break };
        if was_merged && next.reader != Reader::Gro {
            note_last(gro::take_merged(lane, &mut check)?);
        }
        turn = Some(lane.with_modes(next));
    }
    let notes = if merged { gro::drops_note(lane) } else { None };
    let end = receive::account(lane, &lane.tally(), check, &last)?;
    Ok(LaneResult { notes: notes.into_iter().collect(), ..end })
}

/// Returns the last datagram.
fn receive_by(lane: &Lane, check: &mut impl Check) -> Result<Vec<u8>> {
    let message = lane.message;
    match lane.traffic.reader {
        Reader::Gro => {
            gro::Merged::enable(lane.fd, lane.flow)?;
            receive::receive::<false, _>(lane, gro::Merged::new(), check)
        }
        Reader::Spin => receive::receive::<true, _>(lane, receive::One::new(message), check),
        _ => receive::receive::<false, _>(lane, receive::One::new(message), check),
    }
}
