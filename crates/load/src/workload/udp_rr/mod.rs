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

use words::Reader;

use crate::error::Result;
use crate::lane::{End, Lane, QUIET, STOP};
use crate::socket::answer_time;
use crate::sys;
use crate::workload::port::{Addressed, Connected, Port, Spinning};
use crate::workload::source::{Closed, Open};

/// The transmitter's thread.
pub(crate) fn send(lane: &Lane) -> Result<End> {
    through(lane, QUIET, answer_time(lane.flows()).as_nanos() as u64, Asking)
}

/// The receiver's thread.
pub(crate) fn receive(lane: &Lane) -> Result<End> {
    through(lane, STOP, u64::MAX, Answering)
}

/// A loop, to be compiled for each port.
trait Loop {
    fn run(self, lane: &Lane, port: impl Port) -> Result<End>;
}

struct Asking;

impl Loop for Asking {
    fn run(self, lane: &Lane, port: impl Port) -> Result<End> {
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
    fn run(self, lane: &Lane, port: impl Port) -> Result<End> {
        receive::receive(lane, port)
    }
}

/// Runs a loop through the port that the workload asks for; one that spins waits for `patience` ns
/// and to phase `over`.
fn through(lane: &Lane, over: u8, patience: u64, run: impl Loop) -> Result<End> {
    let spins = lane.traffic.reader == Reader::Spin;
    let phase = lane.phase();
    if lane.traffic.connected {
        let port = Connected(lane.fd);
        return if spins {
            run.run(lane, Spinning { port, phase, over, patience })
        } else {
            run.run(lane, port)
        };
    }
    let destination = lane.destination();
    let port = Addressed::new(lane, &destination);
    if spins { run.run(lane, Spinning { port, phase, over, patience }) } else { run.run(lane, port) }
}
