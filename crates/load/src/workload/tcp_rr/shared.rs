//! One transaction in flight on each of several lanes of one thread. A socket wakes it when data
//! arrive, and nothing more can come before an answer: no receive is in vain.

use crate::error::Result;
use crate::lane::{ABORT, Call, Lane, LaneResult, LoopStep, QUIET, Recorder, TAIL, Tally};
use crate::message::Buffer;
use crate::sys;
use crate::workload::shared::{self, LaneWork};
use crate::workload::source::Begun;

pub(crate) fn serve<const ASKS: bool>(lanes: &[Lane]) -> Result<Vec<LaneResult>> {
    let (over, silent) = if ASKS { (QUIET, Some(Call::RECV.silence)) } else { (ABORT, None) };
    let (message, response) = (lanes[0].message, lanes[0].response);
    let (out, into) = if ASKS { (message, response) } else { (response, message) };
    let flows = lanes.iter().map(|lane| Flow {
        tally: lane.tally(),
        sends: ASKS,
        done: 0,
        begun: Begun::default(),
        verified: 0,
    });
    let mut work = Transactions::<ASKS> {
        lanes,
        flows: flows.collect(),
        outgoing: Buffer::pattern(out),
        incoming: Buffer::room(into),
        verify: lanes[0].traffic.verify,
        latencies: Recorder::new(1),
    };
    shared::run(lanes, shared::CHANGED, over, silent, &mut work)?;
    let mut ends = shared::verified(work.flows.iter().map(|flow| flow.verified));
    ends[0].latencies.extend(ASKS.then_some(work.latencies));
    Ok(ends)
}

struct Transactions<'a, const ASKS: bool> {
    lanes: &'a [Lane],
    flows: Vec<Flow<'a>>,
    outgoing: Buffer,
    incoming: Buffer,
    verify: bool,
    latencies: Recorder,
}

struct Flow<'a> {
    tally: Tally<'a>,
    sends: bool,
    done: usize,
    begun: Begun,
    verified: u64,
}

impl<const ASKS: bool> LaneWork for Transactions<'_, ASKS> {
    fn begin(&mut self, at: usize) -> Result<()> {
        if ASKS {
            self.flows[at].begun = Begun::now(self.lanes[at].phase());
            self.serve(at)?;
        }
        Ok(())
    }

    #[inline(always)]
    fn serve(&mut self, at: usize) -> Result<LoopStep> {
        let (lane, flow) = (&self.lanes[at], &mut self.flows[at]);
        loop {
            if flow.sends {
                let rest = &self.outgoing.as_ref()[flow.done..];
                let sent = sys::send_flags(lane.fd, rest, libc::MSG_DONTWAIT);
                if sent <= 0 {
                    return lane.idle(Call::SEND, sent, &mut flow.tally);
                }
                if !flow.count(sent as usize, rest.len(), ASKS) {
                    continue;
                }
                flow.sends = false;
                if !ASKS {
                    flow.tally.transaction();
                }
                return Ok(LoopStep::Again);
            }
            let rest = &mut self.incoming.as_mut()[flow.done..];
            let got = sys::receive(lane.fd, rest, libc::MSG_DONTWAIT);
            if got <= 0 {
                return lane.idle(Call::RECV, got, &mut flow.tally);
            }
            let phase = lane.phase().load();
            // The last messages of all flows are as good a sample as each flow's last.
            if self.verify || phase >= TAIL {
                let message = flow.done + rest.len();
                flow.verified += lane.verify(&rest[..got as usize], flow.done as u64, message)?;
            }
            let wanted = rest.len();
            if !flow.count(got as usize, wanted, !ASKS) {
                continue;
            }
            flow.sends = true;
            if ASKS {
                flow.tally.transaction();
                flow.begun.next(sys::now(), phase, &mut self.latencies);
                if phase >= QUIET {
                    return Ok(LoopStep::End);
                }
            }
        }
    }
}

impl Flow<'_> {
    /// Whether the bytes are the `rest` of a message. `own`: it counts as a message of this end.
    #[inline(always)]
    fn count(&mut self, bytes: usize, rest: usize, own: bool) -> bool {
        let (whole, piece) = (bytes == rest, self.done > 0 || bytes < rest);
        match (own, piece) {
            (false, _) => self.tally.call(),
            (true, false) => self.tally.message(bytes as u64),
            (true, true) => {
                self.tally.stream(bytes as u64);
                if whole {
                    self.tally.completed();
                }
            }
        }
        self.done = if whole { 0 } else { self.done + bytes };
        whole
    }
}
