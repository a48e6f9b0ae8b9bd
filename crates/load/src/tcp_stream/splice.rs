//! Pages given to a pipe, and from it to the socket.

use std::os::fd::AsRawFd;

use crate::buffer::Buffer;
use crate::call::Call;
use crate::error::{Error, Result};
use crate::lane::{End, Lane, Next};
use crate::phase::QUIET;
use crate::{pages, socket};

/// The largest pipe that needs no privilege (`fs.pipe-max-size` where nobody changed it).
const PIPE: usize = 1 << 20;

pub(super) fn send(lane: &Lane) -> Result<End> {
    // These calls have no flag against the signal for a connection that is gone.
    pages::block_pipe_signal();
    let message = Buffer::pattern(lane.message);
    let message = message.as_ref();
    let (out, into) = std::io::pipe().map_err(|e| Error::setup("pipe", socket::flow(lane.flow), &e))?;
    // A smaller pipe only takes more calls.
    pages::size_pipe(into.as_raw_fd(), lane.message.min(PIPE));
    let (out, into) = (out.as_raw_fd(), into.as_raw_fd());
    let (fd, phase, mut tally) = (lane.fd, lane.phase(), lane.tally());
    let mut rest = message;
    // Bytes in the pipe.
    let mut held = 0;
    lane.ready();
    while phase.load() < QUIET {
        if held == 0 {
            // The pages never change, and outlive the buffer where the kernel still sends from them.
            let given = pages::give_pages(into, rest);
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
        let sent = pages::splice(out, fd, held);
        if sent > 0 {
            tally.stream(sent as u64);
            held -= sent as usize;
        } else if lane.trouble(Call::Splice, sent)? == Next::End {
            break;
        }
    }
    Ok(End::default())
}
