//! One transaction in flight on each of several lanes that one thread serves.

use std::cell::Cell;

use super::plain::answered;
use super::{NUMBER, number_mask, read_number, verify_number, write_number};
use crate::error::Result;
use crate::lane::{Call, Lane, LaneResult, LoopStep, QUIET, Recorder, STOP, TAIL, Tally};
use crate::message::Buffer;
use crate::socket::{answer_time, stall};
use crate::sys;
use crate::workload::shared::{self, LaneWork};
use crate::workload::source::Begun;

pub(crate) fn send(lanes: &[Lane]) -> Result<Vec<LaneResult>> {
    let lane = &lanes[0];
    let flows = lanes.iter().map(|lane| SentRequest {
        tally: lane.tally(),
        number: 0,
        begun: Begun::default(),
        // It is not lost before its lane begins.
        sent: Some(u64::MAX),
        lost_in_a_row: 0,
        verified: 0,
    });
    let mut asking = Asking {
        lanes,
        flows: flows.collect(),
        request: Buffer::pattern(lane.message.max(NUMBER)),
        answer: Buffer::room((lane.response + 1).max(NUMBER)),
        mask: number_mask(lane.message.min(lane.response)),
        verify: lane.traffic.verify,
        latencies: Recorder::new(1),
        patience: [answer_time(lane.flows()), stall(lane.flows())].map(|time| time.as_nanos() as u64),
        look: 0,
    };
    shared::run(lanes, shared::READABLE, QUIET, None, &mut asking)?;
    let mut ends = shared::verified(asking.flows.iter().map(|flow| flow.verified));
    ends[0].latencies.push(asking.latencies);
    Ok(ends)
}

struct Asking<'a> {
    lanes: &'a [Lane],
    flows: Vec<SentRequest<'a>>,
    request: Buffer,
    answer: Buffer,
    mask: u64,
    verify: bool,
    latencies: Recorder,
    // For an answer, and for silence, in ns.
    patience: [u64; 2],
    look: u64,
}

struct SentRequest<'a> {
    tally: Tally<'a>,
    number: u64,
    begun: Begun,
    // When the request was sent; `None`: the queue of this end rejected it, so it cannot be lost.
    sent: Option<u64>,
    lost_in_a_row: u32,
    verified: u64,
}

impl Asking<'_> {
    #[inline(always)]
    fn ask(&mut self, at: usize, now: u64) -> Result<LoopStep> {
        let (lane, flow) = (&self.lanes[at], &mut self.flows[at]);
        write_number(self.request.as_mut(), flow.number);
        let sent = sys::send_flags(lane.fd, &self.request.as_ref()[..lane.message], libc::MSG_DONTWAIT);
        if sent > 0 {
            flow.tally.message(sent as u64);
            flow.sent = Some(now);
            return Ok(LoopStep::Again);
        }
        flow.sent = None;
        if sys::errno() == libc::ENOBUFS {
            flow.tally.no_buffers();
            return Ok(LoopStep::Again);
        }
        lane.idle(Call::SEND, sent, &mut flow.tally)
    }
}

impl LaneWork for Asking<'_> {
    fn begin(&mut self, at: usize) -> Result<()> {
        self.flows[at].begun = Begun::now(self.lanes[at].phase());
        self.ask(at, self.flows[at].begun.at).map(drop)
    }

    #[inline(always)]
    fn serve(&mut self, at: usize) -> Result<LoopStep> {
        let (lane, flow) = (&self.lanes[at], &mut self.flows[at]);
        let got = sys::receive(lane.fd, self.answer.as_mut(), libc::MSG_DONTWAIT);
        if got <= 0 {
            return lane.idle(Call::RECV, got, &mut flow.tally);
        }
        flow.tally.call();
        let answer = self.answer.as_ref();
        if got != lane.response as isize || (read_number(answer) ^ flow.number) & self.mask != 0 {
            flow.tally.late();
            return Ok(LoopStep::Again);
        }
        let (end, phase) = (sys::now(), lane.phase().load());
        if self.verify || phase >= TAIL {
            flow.verified += verify_number(lane, answer, lane.response)?;
        }
        flow.tally.transaction();
        flow.lost_in_a_row = 0;
        flow.begun.next(end, phase, &mut self.latencies);
        flow.number = flow.number.wrapping_add(1);
        if phase >= QUIET {
            return Ok(LoopStep::End);
        }
        self.ask(at, end)
    }

    /// Sends rejected requests again. Gives up transactions with late answers, and begins others.
    fn look(&mut self, now: u64) -> Result<()> {
        if now < self.look {
            return Ok(());
        }
        let [answer, stall] = self.patience;
        self.look = now + answer / 8;
        for at in 0..self.lanes.len() {
            let (lane, flow) = (&self.lanes[at], &mut self.flows[at]);
            let Some(sent) = flow.sent else {
                self.ask(at, now)?;
                continue;
            };
            if now.saturating_sub(sent) < answer {
                continue;
            }
            flow.tally.timeout();
            flow.lost_in_a_row += 1;
            if u64::from(flow.lost_in_a_row) * answer >= stall {
                return Err(lane.stalled(Call::RECV.silence));
            }
            flow.number = flow.number.wrapping_add(1);
            // One byte has only 256 numbers, so late answers are discarded.
            while sys::receive(lane.fd, self.answer.as_mut(), libc::MSG_DONTWAIT) > 0 {
                flow.tally.late();
            }
            flow.begun = Begun { at: now, phase: lane.phase().load() };
            self.ask(at, now)?;
        }
        Ok(())
    }
}

pub(crate) fn receive(lanes: &[Lane]) -> Result<Vec<LaneResult>> {
    let lane = &lanes[0];
    // The counts and the verified bytes of each lane.
    let mut flows: Vec<(Tally, u64)> = lanes.iter().map(|lane| (lane.tally(), 0)).collect();
    let mut request = Buffer::room((lane.message + 1).max(NUMBER));
    let mut answer = Buffer::pattern(lane.response.max(NUMBER));
    let answers = Cell::new(true);
    let mut serve = |at: usize| {
        let (lane, (tally, verified)) = (&lanes[at], &mut flows[at]);
        let got = sys::receive(lane.fd, request.as_mut(), libc::MSG_DONTWAIT);
        if got <= 0 {
            return lane.idle(Call::RECV, got, tally);
        }
        tally.message(got as u64);
        if got as usize != lane.message {
            return Err(lane.damaged(lane.message.min(got as usize), got as usize));
        }
        if lane.traffic.verify || lane.phase().load() >= TAIL {
            *verified += verify_number(lane, request.as_ref(), lane.message)?;
        }
        if !answers.get() {
            return Ok(LoopStep::Again);
        }
        write_number(answer.as_mut(), read_number(request.as_ref()));
        answered(lane, sys::send_flags(lane.fd, &answer.as_ref()[..lane.response], 0), tally)
    };
    shared::run(lanes, shared::READABLE, STOP, None, &mut serve)?;
    // After the transmitter has ended, queued requests are counted.
    answers.set(false);
    shared::drain(lanes, &mut serve)?;
    Ok(shared::verified(flows.iter().map(|(_, verified)| *verified)))
}
