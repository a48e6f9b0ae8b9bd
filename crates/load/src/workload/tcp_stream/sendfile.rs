//! Writes from a file in memory.

use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;

use crate::error::{Error, Result};
use crate::lane::{Call, End, Lane, Next, QUIET};
use crate::message::Buffer;
use crate::socket;
use crate::sys::pages;

pub(super) fn send(lane: &Lane) -> Result<End> {
    // These calls have no flag against the signal for a connection that is gone.
    pages::block_pipe_signal();
    let file = message_file(lane.message, lane.flow)?;
    let (from, message) = (file.as_raw_fd(), lane.message);
    let (fd, phase, mut tally) = (lane.fd, lane.phase(), lane.tally());
    let mut offset: libc::off_t = 0;
    lane.ready();
    while phase.load() < QUIET {
        let rest = message - offset as usize;
        // The call moves the offset on: a write cut short is taken up where it ended.
        let sent = pages::send_file(fd, from, &mut offset, rest);
        if sent > 0 {
            tally.stream(sent as u64);
            if offset as usize == message {
                offset = 0;
            }
        } else if lane.trouble(Call::Sendfile, sent)? == Next::End {
            break;
        }
    }
    Ok(End::default())
}

/// A file that holds one message of a flow, and has no name.
pub(crate) fn message_file(message: usize, flow: usize) -> Result<File> {
    let failed = |call, error| Error::setup(call, socket::flow(flow), &error);
    let mut file = pages::memory_file(c"message").map_err(|e| failed("memfd_create", e))?;
    file.write_all(Buffer::pattern(message).as_ref()).map_err(|e| failed("write of a message", e))?;
    Ok(file)
}
