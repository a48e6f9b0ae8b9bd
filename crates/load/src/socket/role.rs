//! Options of a socket that depend on its direction.

use std::fmt;
use std::time::Duration;

use socket2::Socket;
use words::{Kind, Pacing, Traffic};

use super::keyed::PACING;
use super::times::{TICK, answer_time, stall};
use crate::error::{Context, Result};

/// Sets the options that depend on a socket's direction, before its thread starts. (A listener of
/// `tcp_crr` has one direction and its connections inherit it; other sockets learn it when they
/// connect.)
pub(crate) fn give_role(
    socket: &Socket,
    traffic: &Traffic,
    sends: bool,
    what: impl fmt::Display,
) -> Result<()> {
    let stall = stall(traffic.lanes() as usize);
    // How long a call may wait to send, and to receive.
    let (sending, receiving) = match traffic.kind {
        Kind::TcpStream => (Some(patience(traffic, traffic.pacing)), None),
        Kind::TcpRr => (Some(stall), sends.then_some(stall)),
        Kind::TcpCrr => (Some(TICK), Some(TICK)),
        Kind::UdpRr => (None, sends.then_some(answer_time(traffic.lanes() as usize))),
        Kind::UdpStream | Kind::Pps => (None, None),
    };
    if sending.is_some() {
        socket.set_write_timeout(sending).or_setup("setsockopt SO_SNDTIMEO", &what)?;
    }
    if receiving.is_some() {
        socket.set_read_timeout(receiving).or_setup("setsockopt SO_RCVTIMEO", &what)?;
    }
    if sends { PACING.set(socket, traffic, &what) } else { Ok(()) }
}

/// Lets a call of a stream wait for its pace, the slowest of several.
pub(crate) fn await_pace(
    socket: &Socket,
    traffic: &Traffic,
    slowest: Pacing,
    what: impl fmt::Display,
) -> Result<()> {
    let patience = Some(patience(traffic, Some(slowest)));
    socket.set_write_timeout(patience).or_setup("setsockopt SO_SNDTIMEO", what)
}

/// Longest wait of a stream's call to send.
fn patience(traffic: &Traffic, pacing: Option<Pacing>) -> Duration {
    stall(traffic.lanes() as usize) + emptying(pacing)
}

/// The time in which a full send buffer empties at a pace: until then a write may wait.
fn emptying(pacing: Option<Pacing>) -> Duration {
    // The default limit of TCP's own growth of a send buffer (`net.ipv4.tcp_wmem`).
    const BUFFER: u64 = 4 << 20;
    Duration::from_secs(pacing.map_or(0, |pace| 8 * BUFFER / pace.bits()))
}
