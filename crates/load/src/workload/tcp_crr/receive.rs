//! The receiver's side: accept, receive the request, answer, close.

use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd;
use std::time::Duration;

use socket2::Socket;

use super::connection::{CrrConnection, Moved};
use crate::error::{Errno, Result};
use crate::lane::{ABORT, Lane, LaneResult, STOP, TAIL, Tally};
use crate::message::Buffer;
use crate::socket::{Applied, TICK, options};
use crate::sys;

/// The receiver's loop, until nothing has come for a while after the stop.
pub(crate) fn receive(lane: &Lane) -> Result<LaneResult> {
    // SAFETY: the lane's socket is open while this thread lives, and is only borrowed here, not
    // closed.
    let listener = ManuallyDrop::new(unsafe { Socket::from_raw_fd(lane.fd) });
    let mut request = Buffer::room(lane.message);
    let answer = Buffer::pattern(lane.response);
    let mut tally = lane.tally();
    let mut end = LaneResult::default();
    lane.ready();
    let mut idle_since = sys::now();
    while lane.phase().load() < ABORT {
        match listener.accept() {
            Ok((socket, peer)) => {
                if peer.as_socket().map(|peer| peer.ip()) == Some(lane.peer.ip()) {
                    let connection = CrrConnection { socket, lane, over: ABORT };
                    serve(connection, request.as_mut(), answer.as_ref(), &mut tally, &mut end)?;
                } else {
                    refuse(&socket);
                    end.rejected += 1;
                }
                idle_since = 0;
            }
            Err(error) => match error.raw_os_error() {
                Some(libc::EAGAIN) => {
                    let now = sys::now();
                    if idle_since == 0 {
                        idle_since = now;
                    }
                    if lane.phase().load() >= STOP && u128::from(now - idle_since) >= TICK.as_nanos() {
                        break;
                    }
                }
                // A connection that was reset while it waited has no request.
                Some(libc::EINTR | libc::ECONNABORTED) => {}
                _ if lane.phase().load() >= ABORT => break,
                _ => return Err(lane.failed("accept", Errno::from_error(&error).0)),
            },
        }
    }
    if tally.messages > 0 {
        end.verified = lane.verify(request.as_ref(), 0, lane.message)?;
    }
    Ok(end)
}

/// Serves one connection and closes it: the client reads until the end of the stream.
fn serve(
    connection: CrrConnection,
    request: &mut [u8],
    answer: &[u8],
    tally: &mut Tally,
    end: &mut LaneResult,
) -> Result<()> {
    let lane = connection.lane;
    if let Some(dscp) = lane.traffic.dscp {
        options::prioritize(&connection.socket, lane.local, dscp)?;
    }
    if end.applied.is_none() {
        end.applied = Some(Applied::read_as_asked(&connection.socket, &lane.traffic)?);
    }
    match connection.receive(request, tally)? {
        Moved::All => tally.arrived(1, request.len() as u64),
        Moved::Over => return Ok(()),
        Moved::Cut(0) => {
            // It sent no request: a port scanner, or a transmitter that ended after connecting.
            end.rejected += u64::from(lane.phase().load() < TAIL);
            return Ok(());
        }
        Moved::Cut(_) => return connection.cut(),
    }
    if lane.traffic.verify {
        lane.verify(request, 0, lane.message)?;
    }
    match connection.send(answer, tally)? {
        Moved::All => tally.transaction(),
        Moved::Over => return Ok(()),
        Moved::Cut(_) => return connection.cut(),
    }
    if lane.traffic.busy_poll.is_some() && !end.slept {
        end.sleeps(options::polled_nothing(&connection.socket));
    }
    Ok(())
}

/// A close with a reset informs the other process at once, and leaves no state.
fn refuse(socket: &Socket) {
    let _ = socket.set_linger(Some(Duration::ZERO));
}
