//! Requests and their answers over one TCP connection per flow.

mod pipeline;
mod plain;
pub(crate) mod shared;

use std::time::Duration;

use crate::error::Result;
use crate::lane::{ABORT, Lane, LaneResult, QUIET};
use crate::socket::stall;
use crate::workload::port::{Connected, Loop, Port, through};
use crate::workload::source::ask;

pub(crate) fn send(lane: &Lane) -> Result<LaneResult> {
    through(lane, Connected(lane.fd), (QUIET, stall(lane.flows())), Asking)
}

pub(crate) fn receive(lane: &Lane) -> Result<LaneResult> {
    through(lane, Connected(lane.fd), (ABORT, Duration::MAX), Answering)
}

struct Asking;

impl Loop for Asking {
    fn run(self, lane: &Lane, port: &impl Port) -> Result<LaneResult> {
        ask(lane, port, [pipeline::send::<true>, pipeline::send::<false>, plain::send])
    }
}

struct Answering;

impl Loop for Answering {
    fn run(self, lane: &Lane, port: &impl Port) -> Result<LaneResult> {
        if lane.traffic.rate.is_some() || lane.traffic.in_flight > 1 {
            pipeline::receive(lane, port)
        } else {
            plain::receive(lane, port)
        }
    }
}
