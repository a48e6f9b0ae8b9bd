//! Requests and their answers over one TCP connection per flow.

mod pipeline;
mod plain;
pub(crate) mod shared;

use std::time::Duration;

use crate::error::Result;
use crate::lane::{ABORT, Lane, LaneResult, QUIET};
use crate::socket::stall;
use crate::workload::port::{Port, through};
use crate::workload::source::ask;

pub(crate) fn send(lane: &Lane) -> Result<LaneResult> {
    through!(lane, lane.socket(), (QUIET, stall(lane.flows())), ask_through)
}

pub(crate) fn receive(lane: &Lane) -> Result<LaneResult> {
    through!(lane, lane.socket(), (ABORT, Duration::MAX), answer_through)
}

fn ask_through(lane: &Lane, port: &impl Port) -> Result<LaneResult> {
    ask(lane, port, [pipeline::send::<true>, pipeline::send::<false>, plain::send])
}

fn answer_through(lane: &Lane, port: &impl Port) -> Result<LaneResult> {
    if lane.traffic.rate.is_some() || lane.traffic.in_flight > 1 {
        pipeline::receive(lane, port)
    } else {
        plain::receive(lane, port)
    }
}
