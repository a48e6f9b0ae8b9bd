//! Datagrams of several lanes that one thread serves, one per call.

use super::receive::account;
use crate::error::Result;
use crate::lane::{Call, Lane, LaneResult, LoopStep, QUIET, STOP, TAIL, Tally};
use crate::message::Buffer;
use crate::sys;
use crate::workload::shared;

// Datagrams of one turn of a lane.
const TURN: usize = 16;

pub(crate) fn send(lanes: &[Lane]) -> Result<Vec<LaneResult>> {
    let message = Buffer::pattern(lanes[0].message);
    let mut tallies: Vec<Tally> = lanes.iter().map(Lane::tally).collect();
    let mut serve = |at: usize| {
        let (lane, tally) = (&lanes[at], &mut tallies[at]);
        for _ in 0..TURN {
            if lane.phase().load() >= QUIET {
                break;
            }
            let sent = sys::send_flags(lane.fd, message.as_ref(), libc::MSG_DONTWAIT);
            if sent > 0 {
                tally.message(sent as u64);
            } else if sys::errno() == libc::ENOBUFS {
                tally.no_buffers();
            } else {
                return lane.idle(Call::SEND, sent, tally);
            }
        }
        Ok(LoopStep::Again)
    };
    shared::run(lanes, shared::WRITABLE, QUIET, None, &mut serve)?;
    Ok(lanes.iter().map(|_| LaneResult::default()).collect())
}

pub(crate) fn receive(lanes: &[Lane]) -> Result<Vec<LaneResult>> {
    // The counts and the verified bytes of each lane.
    let mut flows: Vec<(Tally, u64)> = lanes.iter().map(|lane| (lane.tally(), 0)).collect();
    // One byte more than a message, to detect a larger one.
    let mut room = Buffer::room(lanes[0].message + 1);
    let mut serve = |at: usize| {
        let (lane, (tally, verified)) = (&lanes[at], &mut flows[at]);
        for _ in 0..TURN {
            let got = sys::receive(lane.fd, room.as_mut(), libc::MSG_DONTWAIT);
            if got <= 0 {
                return lane.idle(Call::RECV, got, tally);
            }
            tally.message(got as u64);
            // Without `verify` the last datagrams of all lanes are the sample, since they share the
            // room.
            if lane.traffic.verify || lane.phase().load() >= TAIL {
                *verified += lane.verify_datagram(&room.as_ref()[..got as usize])?;
            }
        }
        Ok(LoopStep::Again)
    };
    shared::run(lanes, shared::READABLE, STOP, None, &mut serve)?;
    shared::drain(lanes, &mut serve)?;
    let flows = lanes.iter().zip(flows);
    flows.map(|(lane, (tally, verified))| account(lane, &tally, verified, &[])).collect()
}
