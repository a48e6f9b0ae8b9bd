//! Requests and answers over UDP, which may lose either. The first eight bytes of a request, or as
//! many as both directions have room for, are its number, which the answer repeats.

mod pipeline;
mod plain;
pub(crate) mod shared;

use std::time::Duration;

use super::port::{Addressed, Port, through};
use super::source::ask;
use crate::error::Result;
use crate::lane::{Lane, LaneResult, QUIET, STOP};
use crate::socket::answer_time;

pub(crate) fn send(lane: &Lane) -> Result<LaneResult> {
    let patience = answer_time(lane.flows());
    match lane.destination() {
        None => through!(lane, lane.socket(), (QUIET, patience), ask_through),
        Some(to) => through!(lane, Addressed::new(lane, &to), (QUIET, patience), ask_through),
    }
}

pub(crate) fn receive(lane: &Lane) -> Result<LaneResult> {
    match lane.destination() {
        None => through!(lane, lane.socket(), (STOP, Duration::MAX), plain::receive),
        Some(to) => through!(lane, Addressed::new(lane, &to), (STOP, Duration::MAX), plain::receive),
    }
}

fn ask_through(lane: &Lane, port: &impl Port) -> Result<LaneResult> {
    ask(lane, port, [pipeline::send::<true>, pipeline::send::<false>, plain::send])
}

pub(super) const NUMBER: usize = 8;

pub(super) fn number_mask(bytes: usize) -> u64 {
    if bytes >= NUMBER { u64::MAX } else { (1 << (8 * bytes)) - 1 }
}

#[inline(always)]
pub(super) fn write_number(message: &mut [u8], number: u64) {
    if let Some(place) = message.first_chunk_mut::<NUMBER>() {
        *place = number.to_le_bytes();
    }
}

#[inline(always)]
pub(super) fn read_number(message: &[u8]) -> u64 {
    message.first_chunk::<NUMBER>().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

pub(super) fn verify_number(lane: &Lane, received: &[u8], len: usize) -> Result<u64> {
    lane.verify(received.get(NUMBER..len).unwrap_or_default(), NUMBER as u64, len)
}
