//! UDP datagrams as fast as they can be sent, in each way that Linux offers.

pub(crate) mod receive;
pub(crate) mod send;
pub(crate) mod shared;

use socket2::SockRef;
use words::{Reader, Sender};

use super::pace::Pace;
use crate::error::Result;
use crate::lane::{Lane, LaneResult};
use crate::note::LoadNote;
use crate::socket;
use crate::sys::Destination;

// Each sender's loop is compiled with and without a pace.
pub(crate) fn send(lane: &Lane) -> Result<LaneResult> {
    if lane.traffic.pacing.is_some() { send_by::<true>(lane) } else { send_by::<false>(lane) }
}

fn send_by<const PACED: bool>(lane: &Lane) -> Result<LaneResult> {
    let pace = Pace::<PACED>::new(&lane.control.pace);
    let (message, destination) = (lane.message, lane.destination());
    let datagrams = send::datagrams_in_buffer(lane.traffic.sender, message);
    let to = Destination::new(destination.as_ref());
    match lane.traffic.sender {
        Sender::Zerocopy => send::send_zerocopy(lane, pace),
        Sender::Sendmmsg => send::send(lane, send::Many::new(message, to), pace),
        _ => send::send(lane, send::SingleSend::new(message, datagrams, to), pace),
    }
}

// Each reader's loop is compiled with and without a check of all bytes.
pub(crate) fn receive(lane: &Lane) -> Result<LaneResult> {
    if lane.traffic.verify { receive_checked::<true>(lane) } else { receive_checked::<false>(lane) }
}

/// Runs one reader after the other, as conditions that take turns change it.
fn receive_checked<const ALL: bool>(lane: &Lane) -> Result<LaneResult> {
    let (mut last, mut merged, mut compared) = (Vec::new(), false, 0);
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
        note_last(receive_by::<ALL>(now, &mut compared)?);
        let Some(next) = lane.control.next_loop() else { break };
        let (_, reader) = next;
        if was_merged && reader != Reader::Gro {
            note_last(receive::take_merged::<ALL>(lane, &mut compared)?);
        }
        turn = Some(lane.with_modes(next));
    }
    let counts_buffers = merged && socket::drops(&SockRef::from(&lane.socket())) > 0;
    let notes = if counts_buffers { vec![LoadNote::GroCountsBuffers] } else { Vec::new() };
    let verified = if ALL { compared } else { lane.verify(&last, 0, lane.message)? };
    let end = receive::account(lane, &lane.tally(), verified, &last)?;
    Ok(LaneResult { notes, ..end })
}

fn receive_by<const ALL: bool>(lane: &Lane, verified: &mut u64) -> Result<Vec<u8>> {
    let message = lane.message;
    match lane.traffic.reader {
        Reader::Gro => {
            receive::Merged::enable(lane.fd, lane.flow)?;
            receive::receive::<false, ALL, _>(lane, receive::Merged::new(), verified)
        }
        Reader::Spin => {
            receive::receive::<true, ALL, _>(lane, receive::SingleReceive::new(message), verified)
        }
        _ => receive::receive::<false, ALL, _>(lane, receive::SingleReceive::new(message), verified),
    }
}
