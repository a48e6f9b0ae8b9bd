//! Datagrams of several lanes that one thread serves, one per call.

use super::receive::account;
use crate::error::Result;
use crate::lane::{Call, Lane, LaneResult, LoopStep, QUIET, STOP, TAIL, Tally};
use crate::message::Buffer;
use crate::sys;
use crate::workload::shared::{self, LaneWork, Wake};

/// Datagrams of one turn of a lane.
const TURN: usize = 16;

pub(crate) fn send(lanes: &[Lane]) -> Result<Vec<LaneResult>> {
    let tallies = lanes.iter().map(Lane::tally).collect();
    let mut sending = Sending { lanes, tallies, message: Buffer::pattern(lanes[0].message) };
    shared::run(lanes, Wake::Writable, QUIET, &mut sending)?;
    Ok(lanes.iter().map(|_| LaneResult::default()).collect())
}

struct Sending<'a> {
    lanes: &'a [Lane],
    tallies: Vec<Tally<'a>>,
    message: Buffer,
}

impl LaneWork for Sending<'_> {
    fn serve(&mut self, at: usize) -> Result<LoopStep> {
        let (lane, tally) = (&self.lanes[at], &mut self.tallies[at]);
        for _ in 0..TURN {
            if lane.phase().load() >= QUIET {
                break;
            }
            let sent = sys::send_flags(lane.fd, self.message.as_ref(), libc::MSG_DONTWAIT);
            if sent > 0 {
                tally.message(sent as u64);
            } else if sys::errno() == libc::ENOBUFS {
                tally.no_buffers();
            } else {
                return lane.idle(Call::SEND, sent, tally);
            }
        }
        Ok(LoopStep::Again)
    }
}

pub(crate) fn receive(lanes: &[Lane]) -> Result<Vec<LaneResult>> {
    let mut receiving = Receiving {
        lanes,
        flows: lanes.iter().map(|lane| (lane.tally(), 0)).collect(),
        // One byte more than a message, to detect a larger one.
        room: Buffer::room(lanes[0].message + 1),
        expected: Buffer::pattern(lanes[0].message),
    };
    shared::run(lanes, Wake::Readable, STOP, &mut receiving)?;
    shared::drain(lanes, &mut receiving, |work, at| work.flows[at].0.messages)?;
    let flows = lanes.iter().zip(receiving.flows);
    flows.map(|(lane, (tally, verified))| account(lane, &tally, verified, &[])).collect()
}

struct Receiving<'a> {
    lanes: &'a [Lane],
    /// The counts and the verified bytes of each lane.
    flows: Vec<(Tally<'a>, u64)>,
    room: Buffer,
    expected: Buffer,
}

impl LaneWork for Receiving<'_> {
    fn serve(&mut self, at: usize) -> Result<LoopStep> {
        let (lane, (tally, verified)) = (&self.lanes[at], &mut self.flows[at]);
        for _ in 0..TURN {
            let got = sys::receive(lane.fd, self.room.as_mut(), libc::MSG_DONTWAIT);
            if got <= 0 {
                return lane.idle(Call::RECV, got, tally);
            }
            tally.message(got as u64);
            // Without `verify` the last datagrams of all lanes are the sample, since they share the
            // room.
            if lane.traffic.verify || lane.phase().load() >= TAIL {
                *verified += lane.compare(&self.room.as_ref()[..got as usize], self.expected.as_ref())?;
            }
        }
        Ok(LoopStep::Again)
    }
}
