//! Pages given to a pipe, and from it to the socket.

use std::io::{PipeReader, PipeWriter};
use std::os::fd::{AsRawFd, RawFd};

use crate::error::{Error, Result};
use crate::lane::{Call, End, Lane, Next, QUIET};
use crate::message::Buffer;
use crate::socket;
use crate::sys::pages;

/// The largest pipe that needs no privilege (`fs.pipe-max-size` where nobody changed it).
const PIPE: usize = 1 << 20;

/// A pipe from a program to a socket.
pub(crate) struct Pipe {
    out: PipeReader,
    into: PipeWriter,
}

impl Pipe {
    /// For messages of a flow.
    pub(crate) fn new(message: usize, flow: usize) -> Result<Self> {
        let (out, into) = std::io::pipe().map_err(|e| Error::setup("pipe", socket::flow(flow), &e))?;
        // A smaller pipe only takes more calls.
        pages::size_pipe(into.as_raw_fd(), message.min(PIPE));
        Ok(Self { out, into })
    }

    /// Has it refer to pages. Returns bytes, or -1 with `errno` set.
    #[inline(always)]
    pub(crate) fn give(&self, bytes: &[u8]) -> isize {
        pages::give_pages(self.into.as_raw_fd(), bytes)
    }

    /// Empties it of `len` bytes. Returns bytes, or -1 with `errno` set.
    #[inline(always)]
    pub(crate) fn splice(&self, fd: RawFd, len: usize) -> isize {
        pages::splice(self.out.as_raw_fd(), fd, len)
    }
}

pub(super) fn send(lane: &Lane) -> Result<End> {
    // These calls have no flag against the signal for a connection that is gone.
    pages::block_pipe_signal();
    let message = Buffer::pattern(lane.message);
    let message = message.as_ref();
    let pipe = Pipe::new(lane.message, lane.flow)?;
    let (fd, phase, mut tally) = (lane.fd, lane.phase(), lane.tally());
    let mut rest = message;
    // Bytes in the pipe.
    let mut held = 0;
    lane.ready();
    while phase.load() < QUIET {
        if held == 0 {
            // The pages never change, and outlive the buffer where the kernel still sends from
            // them.
            let given = pipe.give(rest);
            tally.call();
            if given <= 0 {
                if lane.trouble(Call::Vmsplice, given)? == Next::End {
                    break;
                }
                continue;
            }
            held = given as usize;
            rest = rest.get(held..).unwrap_or_default();
            if rest.is_empty() {
                rest = message;
            }
        }
        let sent = pipe.splice(fd, held);
        if sent > 0 {
            tally.stream(sent as u64);
            held -= sent as usize;
        } else if lane.trouble(Call::Splice, sent)? == Next::End {
            break;
        }
    }
    Ok(End::default())
}
