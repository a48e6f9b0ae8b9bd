//! Several connections kept full, or emptied, by one thread. Each turn of a lane is bounded, so
//! that none waits long for the others.

use super::read_size;
use crate::error::Result;
use crate::lane::{ABORT, Call, Lane, LaneResult, LoopStep, QUIET, TAIL, Tally};
use crate::message::Buffer;
use crate::sys;
use crate::workload::shared;

// A connection whose write of so many bytes was acknowledged before its next turn never waits for
// the timer of a congestion control that paces (`bench/README.md`, many flows).
const WHOLE_TURN: usize = 16 << 10;
const WRITES: usize = 64;

// Many small writes make up for the cost of waiting for all connections.
fn writes(bytes: usize) -> usize {
    match bytes {
        0..4096 => WRITES,
        4096.. => (WHOLE_TURN / bytes).max(1),
    }
}

pub(crate) fn send(lanes: &[Lane]) -> Result<Vec<LaneResult>> {
    let (message, writes) = (Buffer::pattern(lanes[0].message), writes(lanes[0].message));
    // The counts and the sent bytes of the current message of each lane.
    let mut flows: Vec<(Tally, usize)> = lanes.iter().map(|lane| (lane.tally(), 0)).collect();
    let mut serve = |at: usize| {
        let (lane, (tally, done)) = (&lanes[at], &mut flows[at]);
        for _ in 0..writes {
            if lane.phase().load() >= QUIET {
                break;
            }
            let rest = &message.as_ref()[*done..];
            let sent = sys::send_flags(lane.fd, rest, libc::MSG_DONTWAIT);
            if sent <= 0 {
                return lane.idle(Call::SEND, sent, tally);
            }
            tally.stream(sent as u64);
            // A partial write continues where it ended, so that the stream has whole messages.
            *done = if sent as usize == rest.len() { 0 } else { *done + sent as usize };
        }
        Ok(LoopStep::Again)
    };
    shared::run(lanes, shared::WRITABLE, QUIET, Some(Call::SEND.silence), &mut serve)?;
    Ok(lanes.iter().map(|_| LaneResult::default()).collect())
}

pub(crate) fn receive(lanes: &[Lane]) -> Result<Vec<LaneResult>> {
    let traffic = &lanes[0].traffic;
    // The counts and the verified bytes of each lane.
    let mut flows: Vec<(Tally, u64)> = lanes.iter().map(|lane| (lane.tally(), 0)).collect();
    let mut room = Buffer::room(read_size(traffic.lanes()) as usize);
    let mut serve = |at: usize| {
        let (lane, (tally, verified)) = (&lanes[at], &mut flows[at]);
        let got = sys::receive(lane.fd, room.as_mut(), libc::MSG_DONTWAIT);
        if got <= 0 {
            return lane.idle(Call::RECV, got, tally);
        }
        // Without `verify` the last bytes of all lanes are the sample, since they share the room.
        if traffic.verify || lane.phase().load() >= TAIL {
            *verified += lane.verify(&room.as_ref()[..got as usize], tally.bytes, lane.message)?;
        }
        tally.stream(got as u64);
        Ok(LoopStep::Again)
    };
    // The ends of the streams end this, not `Stop`, so that all sent data are received.
    shared::run(lanes, shared::READABLE, ABORT, None, &mut serve)?;
    Ok(shared::verified(flows.iter().map(|(_, verified)| *verified)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_one_large_write_or_several_small_ones() {
        assert_eq!([1, 4095, 4096, 16_383, 16_384, 1 << 20].map(writes), [64, 64, 4, 1, 1, 1]);
    }
}
