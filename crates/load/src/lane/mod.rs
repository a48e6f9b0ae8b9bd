//! A flow for its thread, and what it shares with observers.

mod control;
mod counts;
mod histogram;
pub(crate) mod latency;

use std::cell::Cell;
use std::net::SocketAddr;
use std::os::fd::{BorrowedFd, RawFd};
use std::sync::Arc;
use std::sync::mpsc::Sender;

use serde::{Deserialize, Serialize};
use socket2::SockAddr;
use words::{Traffic, distinct};

use crate::error::{Error, Result};
use crate::message::first_difference;
use crate::note::LoadNote;
use crate::socket::{Applied, collect, stall};
use crate::spec::Spec;
use crate::sys;

pub use self::control::Phase;
pub(crate) use self::control::{ABORT, Control, Modes, PhaseCell, QUIET, STOP, TAIL, WINDOW};
pub(crate) use self::counts::Tally;
pub use self::counts::{Counts, Sample};
pub use self::histogram::{HistogramError, LatencyHistogram};
pub use self::latency::Latency;
pub(crate) use self::latency::Recorder;

// The thread borrows the socket by number: its owner outlives the thread.
pub(crate) struct Lane {
    pub(crate) flow: usize,
    pub(crate) fd: RawFd,
    pub(crate) peer: SocketAddr,
    pub(crate) spec: Arc<Spec>,
    pub(crate) message: usize,
    pub(crate) response: usize,
    pub(crate) traffic: Arc<Traffic>,
    // The bytes of the longest message; shorter messages begin with the same.
    pub(crate) expected: Arc<[u8]>,
    pub(crate) control: Arc<Control>,
    // Dropped once the thread is ready; the first lane of a thread has it.
    pub(crate) readiness: Cell<Option<Sender<()>>>,
    // The kernel's number of the next zerocopy send, and the pending ones: as long as the socket
    // lasts.
    pub(crate) lent: Cell<(u32, u32)>,
}

// Latencies of several lanes are with the first.
#[derive(Debug, Default)]
pub(crate) struct LaneResult {
    pub(crate) latencies: Vec<Recorder>,
    pub(crate) verified: u64,
    pub(crate) zerocopy: Option<Zerocopy>,
    pub(crate) unsent: u64,
    pub(crate) unanswered: u64,
    pub(crate) applied: Vec<Applied>,
    pub(crate) rejected: u64,
    pub(crate) slept: bool,
    pub(crate) notes: Vec<LoadNote>,
}

impl LaneResult {
    pub(crate) fn sleeps(&mut self, why: Option<LoadNote>) {
        self.slept |= why.is_some();
        // All flows have the same notes.
        self.notes.extend(why.filter(|why| !self.notes.contains(why)));
    }

    pub(crate) fn add(&mut self, more: Self) {
        self.latencies.extend(more.latencies);
        self.verified += more.verified;
        let zerocopy = [self.zerocopy, more.zerocopy].into_iter().flatten();
        self.zerocopy = zerocopy.reduce(|one, other| Zerocopy {
            completed: one.completed + other.completed,
            copied: one.copied + other.copied,
        });
        self.unsent += more.unsent;
        self.unanswered += more.unanswered;
        more.applied.into_iter().for_each(|one| collect(&mut self.applied, one));
        self.rejected += more.rejected;
        self.slept |= more.slept;
        self.notes = distinct(std::mem::take(&mut self.notes).into_iter().chain(more.notes));
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoopStep {
    Again,
    End,
}

impl Lane {
    pub(crate) fn socket(&self) -> BorrowedFd<'_> {
        // SAFETY: the owner of the socket outlives the lane's thread.
        unsafe { BorrowedFd::borrow_raw(self.fd) }
    }

    pub(crate) fn phase(&self) -> &PhaseCell {
        &self.control.phase
    }

    pub(crate) fn flows(&self) -> usize {
        self.control.counters.len()
    }

    pub(crate) fn tally(&self) -> Tally<'_> {
        Tally::new(&self.control.counters[self.flow])
    }

    /// The bytes of a stream's present message that an earlier sender of the flow sent.
    pub(crate) fn begun(&self) -> usize {
        (self.tally().bytes % self.message as u64) as usize
    }

    pub(crate) fn with_modes(&self, (sender, reader): Modes) -> Self {
        Self {
            spec: Arc::clone(&self.spec),
            traffic: Arc::new(Traffic { sender, reader, ..Traffic::clone(&self.traffic) }),
            expected: Arc::clone(&self.expected),
            control: Arc::clone(&self.control),
            readiness: Cell::default(),
            lent: self.lent.clone(),
            ..*self
        }
    }

    pub(crate) fn destination(&self) -> Option<SockAddr> {
        (!self.traffic.connected).then(|| self.peer.into())
    }

    // Waits for all threads, because those that send already would keep the others from their CPUs.
    pub(crate) fn ready(&self) {
        self.readiness.take();
        self.control.wait_at_gate();
    }

    /// Judges a call that returned 0 or less.
    #[cold]
    #[inline(never)]
    pub(crate) fn trouble(&self, call: Call, returned: isize) -> Result<LoopStep> {
        // Before any other call, which would replace it.
        let errno = sys::errno();
        if returned == 0 {
            return if self.phase().load() < TAIL { Err(self.closed()) } else { Ok(LoopStep::End) };
        }
        self.judge(call, errno)
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn idle(&self, call: Call, returned: isize, tally: &mut Tally) -> Result<LoopStep> {
        let errno = sys::errno();
        tally.call();
        match (returned, errno) {
            (0, _) => self.trouble(call, returned),
            (_, libc::EAGAIN) => Ok(LoopStep::Again),
            (_, errno) => self.judge(call, errno),
        }
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn judge(&self, call: Call, errno: i32) -> Result<LoopStep> {
        let phase = self.phase().load();
        match errno {
            libc::EINTR => Ok(LoopStep::Again),
            _ if phase >= QUIET => Ok(LoopStep::End),
            // The socket's own timeout, which is as long as a silence may be.
            libc::EAGAIN => Err(self.stalled(call.silence)),
            // From the tail on the other end may go first.
            libc::EPIPE | libc::ECONNRESET | libc::ECONNREFUSED if phase >= TAIL => Ok(LoopStep::End),
            _ => Err(self.failed(call.name, errno)),
        }
    }

    pub(crate) fn failed(&self, call: &'static str, errno: i32) -> Error {
        Error::call(self.flow, call, self.peer, errno)
    }

    pub(crate) fn stalled(&self, silent: &'static str) -> Error {
        let (peer, seconds) = (self.peer, stall(self.flows()).as_secs());
        let remedy = "check that it runs, that it has a CPU, and that the link is up";
        Error::flow(self.flow, format!("{peer} {silent} for {seconds} s: {remedy}"))
    }

    pub(crate) fn check_heard(&self, heard: u64, now: u64) -> Result<()> {
        let silent = u128::from(now.saturating_sub(heard));
        if silent >= stall(self.flows()).as_nanos() && self.phase().load() < QUIET {
            return Err(self.stalled(Call::RECV.silence));
        }
        Ok(())
    }

    /// `offset`: the number of the first byte in the stream, of messages of `len` bytes.
    pub(crate) fn verify(&self, received: &[u8], offset: u64, len: usize) -> Result<u64> {
        match first_difference(received, offset, &self.expected[..len]) {
            None => Ok(received.len() as u64),
            Some(at) => Err(self.damaged(at, received.len())),
        }
    }

    pub(crate) fn verify_datagram(&self, datagram: &[u8]) -> Result<u64> {
        if datagram.len() == self.message {
            return self.verify(datagram, 0, self.message);
        }
        Err(self.damaged(datagram.len().min(self.message), datagram.len()))
    }

    pub(crate) fn damaged(&self, at: usize, checked: usize) -> Error {
        let what = format!("data from {} are corrupt at byte {at} of the last {checked} bytes", self.peer);
        Error::flow(self.flow, what)
    }

    pub(crate) fn closed(&self) -> Error {
        let when = "before the end of the window: find out there why";
        Error::flow(self.flow, format!("{} closed the connection {when}", self.peer))
    }
}

/// A system call, and what its timeout says about the other end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(crate) name: &'static str,
    pub(crate) silence: &'static str,
}

impl Call {
    pub(crate) const CONNECT: Self = Self { name: "connect", silence: "accepted no connection" };
    pub(crate) const SEND: Self = Self { name: "send", silence: "received nothing" };
    pub(crate) const SENDMMSG: Self = Self { name: "sendmmsg", ..Self::SEND };
    pub(crate) const SENDFILE: Self = Self { name: "sendfile", ..Self::SEND };
    pub(crate) const RECV: Self = Self { name: "recv", silence: "answered nothing" };
    pub(crate) const RECVMSG: Self = Self { name: "recvmsg", ..Self::RECV };
}

// Each loop is compiled for the code around its system calls.
pub(crate) trait Calls {
    fn around<R>(&mut self, call: impl FnOnce() -> R) -> R;
}

/// The kernel's reports on zerocopy sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Zerocopy {
    /// Sends whose pages the kernel has returned.
    pub completed: u64,
    /// Messages that the kernel copied (`SO_EE_CODE_ZEROCOPY_COPIED`), as always on loopback.
    pub copied: u64,
}
