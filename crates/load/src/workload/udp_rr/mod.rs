//! Requests and their answers over UDP, over a path that may lose either.
//!
//! The first eight bytes of a request, or as many as both directions have room for, carry its
//! number, which the answer repeats: so a late answer is not mistaken for that to another request.

mod number;
mod pipeline;
mod plain;
mod receive;
pub(crate) mod shared;
mod slots;

use std::time::Duration;

use crate::error::Result;
use crate::lane::{Lane, LaneResult, QUIET, STOP};
use crate::socket::answer_time;
use crate::workload::port::{Addressed, Connected, Loop, Port, through};
use crate::workload::source::{Closed, Open, ask};

pub(crate) fn send(lane: &Lane) -> Result<LaneResult> {
    run(lane, (QUIET, answer_time(lane.flows())), Asking)
}

pub(crate) fn receive(lane: &Lane) -> Result<LaneResult> {
    run(lane, (STOP, Duration::MAX), Answering)
}

fn run(lane: &Lane, end: (u8, Duration), run: impl Loop) -> Result<LaneResult> {
    if lane.traffic.connected {
        through(lane, Connected(lane.fd), end, run)
    } else {
        through(lane, Addressed::new(lane, &lane.destination()), end, run)
    }
}

struct Asking;

impl Loop for Asking {
    fn run(self, lane: &Lane, port: &impl Port) -> Result<LaneResult> {
        ask(lane, port, [pipeline::send::<Open>, pipeline::send::<Closed>, plain::send])
    }
}

struct Answering;

impl Loop for Answering {
    fn run(self, lane: &Lane, port: &impl Port) -> Result<LaneResult> {
        receive::receive(lane, port)
    }
}
