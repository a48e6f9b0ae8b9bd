//! Datagrams of several lanes that one thread serves, one per call.

use super::receive::account;
use super::{Check, Checked, Stamp, Unchecked};
use crate::error::Result;
use crate::lane::{Call, Lane, LaneResult, LoopStep, QUIET, STOP, TAIL, Tally};
use crate::message::Buffer;
use crate::sys;
use crate::workload::drain_with;
use crate::workload::shared::{self, LaneWork, Wake};

/// Datagrams of one turn of a lane.
const TURN: usize = 16;

pub(crate) fn send(lanes: &[Lane]) -> Result<Vec<LaneResult>> {
    if lanes[0].traffic.verify { stamped::<true>(lanes) } else { stamped::<false>(lanes) }
}

fn stamped<const WRITES: bool>(lanes: &[Lane]) -> Result<Vec<LaneResult>> {
    let mut sending = Sending {
        lanes,
        flows: lanes.iter().map(|lane| (lane.tally(), Stamp::<WRITES>::default())).collect(),
        message: Buffer::pattern(lanes[0].message),
    };
    shared::run(lanes, Wake::Writable, QUIET, &mut sending)?;
    Ok(lanes.iter().map(|_| LaneResult::default()).collect())
}

struct Sending<'a, const WRITES: bool> {
    lanes: &'a [Lane],
    flows: Vec<(Tally<'a>, Stamp<WRITES>)>,
    message: Buffer,
}

impl<const WRITES: bool> LaneWork for Sending<'_, WRITES> {
    fn serve(&mut self, at: usize) -> Result<LoopStep> {
        let (lane, (tally, stamp)) = (&self.lanes[at], &mut self.flows[at]);
        for _ in 0..TURN {
            if lane.phase().load() >= QUIET {
                break;
            }
            stamp.stamp(self.message.as_mut(), lane.message);
            let sent = sys::send_flags(lane.fd, self.message.as_ref(), libc::MSG_DONTWAIT);
            if sent > 0 {
                tally.message(sent as u64);
                stamp.advance(1);
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
    let message = lanes[0].message;
    if lanes[0].traffic.verify {
        checked(lanes, || Checked::new(message))
    } else {
        checked(lanes, || Unchecked)
    }
}

fn checked<C: Check>(lanes: &[Lane], check: impl Fn() -> C) -> Result<Vec<LaneResult>> {
    let mut receiving = Receiving {
        lanes,
        flows: lanes.iter().map(|lane| Flow { tally: lane.tally(), check: check(), verified: 0 }).collect(),
        // One byte more than a message, to detect a larger one.
        room: Buffer::room(lanes[0].message + 1),
        expected: Buffer::pattern(lanes[0].message),
    };
    shared::run(lanes, Wake::Readable, STOP, &mut receiving)?;
    drain_with(&lanes[0], || {
        let mut came = false;
        for at in 0..lanes.len() {
            let before = receiving.flows[at].tally.messages;
            receiving.serve(at)?;
            came |= receiving.flows[at].tally.messages > before;
        }
        Ok(came)
    })?;
    let ends = lanes.iter().zip(receiving.flows).map(|(lane, flow)| {
        let end = account(lane, &flow.tally, flow.check, &[])?;
        Ok(LaneResult { verified: end.verified + flow.verified, ..end })
    });
    ends.collect()
}

struct Receiving<'a, C> {
    lanes: &'a [Lane],
    flows: Vec<Flow<'a, C>>,
    room: Buffer,
    expected: Buffer,
}

struct Flow<'a, C> {
    tally: Tally<'a>,
    check: C,
    /// Verified bytes beside those of the check.
    verified: u64,
}

impl<C: Check> LaneWork for Receiving<'_, C> {
    fn serve(&mut self, at: usize) -> Result<LoopStep> {
        let (lane, flow) = (&self.lanes[at], &mut self.flows[at]);
        for _ in 0..TURN {
            let got = sys::receive(lane.fd, self.room.as_mut(), libc::MSG_DONTWAIT);
            if got <= 0 {
                return lane.idle(Call::RECV, got, &mut flow.tally);
            }
            flow.tally.message(got as u64);
            let datagram = &self.room.as_ref()[..got as usize];
            flow.check.datagram(lane, datagram)?;
            // Without `verify` the last datagrams of all lanes are the sample, since they share the
            // room.
            if !lane.traffic.verify && lane.phase().load() >= TAIL {
                flow.verified += lane.compare(datagram, self.expected.as_ref())?;
            }
        }
        Ok(LoopStep::Again)
    }
}
