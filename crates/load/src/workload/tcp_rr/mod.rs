//! Requests and their answers over one TCP connection per flow.

mod outstanding;
mod pipeline;
mod plain;
pub(crate) mod shared;

use words::Reader;

use crate::error::Result;
use crate::lane::{ABORT, End, Lane, QUIET};
use crate::socket::stall;
use crate::sys;
use crate::workload::port::{Connected, Port, Spinning};
use crate::workload::source::{Closed, Open};

/// The transmitter's thread.
pub(crate) fn send(lane: &Lane) -> Result<End> {
    let port = Connected(lane.fd);
    if lane.traffic.reader == Reader::Spin {
        let patience = u64::try_from(stall(lane.flows()).as_nanos()).unwrap_or(u64::MAX);
        ask(lane, Spinning { port, phase: lane.phase(), over: QUIET, patience })
    } else {
        ask(lane, port)
    }
}

fn ask(lane: &Lane, port: impl Port) -> Result<End> {
    match lane.traffic.rate {
        Some(rate) => {
            sys::sharpen_timers();
            pipeline::send(lane, &port, |lane| Open::new(lane, rate))
        }
        None if lane.traffic.in_flight > 1 => pipeline::send(lane, &port, |_| Closed),
        None => plain::send(lane, &port),
    }
}

/// The receiver's thread.
pub(crate) fn receive(lane: &Lane) -> Result<End> {
    let port = Connected(lane.fd);
    if lane.traffic.reader == Reader::Spin {
        answer(lane, Spinning { port, phase: lane.phase(), over: ABORT, patience: u64::MAX })
    } else {
        answer(lane, port)
    }
}

fn answer(lane: &Lane, port: impl Port) -> Result<End> {
    if lane.traffic.rate.is_some() || lane.traffic.in_flight > 1 {
        pipeline::receive(lane, &port)
    } else {
        plain::receive(lane, &port)
    }
}
