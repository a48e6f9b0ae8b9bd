//! Requests and their answers over UDP, over a path that may lose either.
//!
//! The first eight bytes of a request, or as many as both directions have room for, carry its
//! number, which the answer repeats: an answer that comes after its transaction was given up is not
//! taken for another one's.

mod number;
mod pipeline;
mod plain;
mod receive;
pub(crate) mod shared;
mod slots;

use std::time::Duration;

use crate::error::Result;
use crate::lane::{End, Lane, QUIET, STOP};
use crate::socket::answer_time;
use crate::sys;
use crate::workload::port::{Addressed, Connected, Loop, Port, through};
use crate::workload::source::{Closed, Open};

pub(crate) fn send(lane: &Lane) -> Result<End> {
    run(lane, (QUIET, answer_time(lane.flows())), Asking)
}

pub(crate) fn receive(lane: &Lane) -> Result<End> {
    run(lane, (STOP, Duration::MAX), Answering)
}

fn run(lane: &Lane, end: (u8, Duration), run: impl Loop) -> Result<End> {
    if lane.traffic.connected {
        through(lane, Connected(lane.fd), end, run)
    } else {
        through(lane, Addressed::new(lane, &lane.destination()), end, run)
    }
}

struct Asking;

impl Loop for Asking {
    fn run(self, lane: &Lane, port: &impl Port) -> Result<End> {
        match lane.traffic.rate {
            Some(rate) => {
                sys::sharpen_timers();
                pipeline::send(lane, port, |lane| Open::new(lane, rate))
            }
            None if lane.traffic.in_flight > 1 => pipeline::send(lane, port, |_| Closed),
            None => plain::send(lane, port),
        }
    }
}

struct Answering;

impl Loop for Answering {
    fn run(self, lane: &Lane, port: &impl Port) -> Result<End> {
        receive::receive(lane, port)
    }
}
