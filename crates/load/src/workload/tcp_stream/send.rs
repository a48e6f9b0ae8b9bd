//! Senders that write a message by one call after the other, compiled for each [`StreamWriter`].

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, RawFd};

use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::signal::{SigSet, Signal};

use crate::error::{Context, Result};
use crate::lane::{Call, Calls, Lane, LaneResult, LoopStep, QUIET};
use crate::message::Buffer;
use crate::workload::lent::LentPages;
use crate::{socket, sys};

// Writes continue partial ones, also an earlier sender's (`begun`): streams have whole messages.
pub(crate) trait StreamWriter {
    const CALL: Call;

    /// Returns bytes, or another result of the kernel.
    fn write(&mut self, calls: &mut impl Calls, fd: RawFd) -> isize;
}

pub(crate) struct Copied<'a> {
    message: &'a [u8],
    rest: &'a [u8],
    flags: libc::c_int,
}

impl<'a> Copied<'a> {
    #[inline(always)]
    pub(crate) fn new(message: &'a [u8], begun: usize, flags: libc::c_int) -> Self {
        Self { message, rest: &message[begun..], flags }
    }
}

impl StreamWriter for Copied<'_> {
    const CALL: Call = Call::SEND;

    #[inline(always)]
    fn write(&mut self, calls: &mut impl Calls, fd: RawFd) -> isize {
        let sent = calls.around(|| sys::send_flags(fd, self.rest, self.flags));
        if sent > 0 {
            self.rest = after(self.rest, sent as usize, self.message);
        }
        sent
    }
}

#[inline(always)]
fn after<'a>(rest: &'a [u8], done: usize, message: &'a [u8]) -> &'a [u8] {
    match rest.get(done..) {
        Some(rest) if !rest.is_empty() => rest,
        _ => message,
    }
}

pub(crate) struct FromFile {
    file: File,
    len: usize,
    offset: libc::off_t,
}

impl FromFile {
    pub(crate) fn new(len: usize, begun: usize, flow: usize) -> Result<Self> {
        let what = socket::flow(flow);
        let file = memfd_create(c"message", MFdFlags::MFD_CLOEXEC).or_setup("memfd_create", &what)?;
        let mut file = File::from(file);
        file.write_all(Buffer::pattern(len).as_ref()).or_setup("write of a message", &what)?;
        // The call has no flag against the signal of a closed connection. Its error is enough.
        let _ = SigSet::from(Signal::SIGPIPE).thread_block();
        Ok(Self { file, len, offset: begun as libc::off_t })
    }
}

impl StreamWriter for FromFile {
    const CALL: Call = Call::SENDFILE;

    #[inline(always)]
    fn write(&mut self, calls: &mut impl Calls, fd: RawFd) -> isize {
        let rest = self.len - self.offset as usize;
        // The call advances the offset.
        let sent = calls.around(|| sys::send_file(fd, self.file.as_raw_fd(), &mut self.offset, rest));
        if self.offset as usize == self.len {
            self.offset = 0;
        }
        sent
    }
}

pub(super) fn send<W: StreamWriter>(lane: &Lane, mut writer: W) -> Result<LaneResult> {
    let (fd, phase, mut tally) = (lane.fd, lane.phase(), lane.tally());
    lane.ready();
    while phase.load() < QUIET {
        let sent = writer.write(&mut tally, fd);
        if sent > 0 {
            tally.arrived_bytes(sent as u64);
        } else if lane.trouble(W::CALL, sent)? == LoopStep::End {
            break;
        }
    }
    Ok(LaneResult::default())
}

pub(super) fn send_zerocopy(lane: &Lane) -> Result<LaneResult> {
    let mut lent = LentPages::new(lane)?;
    let message = Buffer::pattern(lane.message);
    let message = message.as_ref();
    let (fd, phase, mut tally) = (lane.fd, lane.phase(), lane.tally());
    let mut rest = &message[lane.begun()..];
    lane.ready();
    while phase.load() < QUIET {
        let sent = sys::send_flags(fd, rest, libc::MSG_ZEROCOPY);
        if sent > 0 {
            tally.stream(sent as u64);
            lent.sent();
            if lent.is_full() {
                lent.tidy(lane)?;
            }
            rest = rest.get(sent as usize..).unwrap_or_default();
            if rest.is_empty() {
                rest = message;
            }
        } else if sent < 0 && sys::errno() == libc::ENOBUFS {
            tally.call();
            if lent.wait_for_some(lane)? == LoopStep::End {
                break;
            }
        } else if lane.trouble(Call::SEND, sent)? == LoopStep::End {
            break;
        }
    }
    Ok(LaneResult { zerocopy: Some(lent.end(lane)), ..LaneResult::default() })
}
