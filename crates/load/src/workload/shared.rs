//! One thread that serves several lanes and waits for all of them at once (epoll(7)).
//!
//! A thread with one lane waits in its calls; here no call on a socket waits. The state of a lane
//! between two turns is small, and the thread owns the buffers.

use std::io;
use std::os::fd::AsRawFd;
use std::time::Duration;

use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags};

use crate::error::{Context, Error, Result};
use crate::lane::{Lane, LaneResult, LoopStep, QUIET};
use crate::socket::stall;
use crate::sys;
use crate::workload::drain_with;

const TICK: Duration = Duration::from_millis(50);
// There is no room for the data of all lanes at once.
const BEGIN: usize = 64;
// Turns between two readings of the clock.
const TURNS: u32 = 256;

pub(crate) trait LaneWork {
    fn begin(&mut self, _at: usize) -> Result<()> {
        Ok(())
    }

    /// Serves a lane whose socket is ready, or may be.
    fn serve(&mut self, at: usize) -> Result<LoopStep>;

    /// Checks lanes with silent sockets, now and then until senders end.
    fn look(&mut self, _now: u64) -> Result<()> {
        Ok(())
    }
}

impl<F: FnMut(usize) -> Result<LoopStep>> LaneWork for F {
    #[inline(always)]
    fn serve(&mut self, at: usize) -> Result<LoopStep> {
        self(at)
    }
}

pub(crate) fn verified(bytes: impl Iterator<Item = u64>) -> Vec<LaneResult> {
    bytes.map(|verified| LaneResult { verified, ..LaneResult::default() }).collect()
}

pub(crate) fn run(lanes: &[Lane], wake: Wake, over: u8, work: &mut impl LaneWork) -> Result<()> {
    let phase = lanes[0].phase();
    let mut poll = Poll::new(lanes, wake)?;
    lanes[0].ready();
    let (mut fresh, mut turns) = (0..lanes.len(), 0);
    while poll.left > 0 && phase.load() < over {
        fresh.by_ref().take(BEGIN).try_for_each(|at| work.begin(at))?;
        let ready = poll.wait(if fresh.is_empty() { TICK } else { Duration::ZERO })?;
        for turn in 0..ready {
            let at = poll.events[turn].u64 as usize;
            if work.serve(at)? == LoopStep::End {
                poll.remove(at, &lanes[at]);
            }
        }
        turns += 1;
        if ready == 0 || turns % TURNS == 0 {
            if phase.load() < QUIET {
                work.look(sys::now())?;
            } else if ready == 0 {
                // The end of a stream may come with its last bytes, in one wake-up.
                for (at, lane) in lanes.iter().enumerate() {
                    if !poll.ended[at] && work.serve(at)? == LoopStep::End {
                        poll.remove(at, lane);
                    }
                }
            }
        }
    }
    Ok(())
}

pub(crate) fn drain(lanes: &[Lane], work: &mut impl LaneWork) -> Result<()> {
    drain_with(&lanes[0], || {
        let mut came = false;
        for (at, lane) in lanes.iter().enumerate() {
            let before = lane.tally().messages;
            work.serve(at)?;
            came |= lane.tally().messages > before;
        }
        Ok(came)
    })
}

/// Fails if a lane makes no progress for too long.
pub(crate) struct Patience {
    /// In ns.
    limit: u64,
    next: u64,
    /// Each lane's progress, and when it was first seen.
    seen: Vec<(u64, u64)>,
}

impl Patience {
    pub(crate) fn new(lanes: &[Lane]) -> Self {
        let limit = u64::try_from(stall(lanes[0].flows()).as_nanos()).unwrap_or(u64::MAX);
        Self { limit, next: 0, seen: vec![(u64::MAX, 0); lanes.len()] }
    }

    /// `progress`: a count that grows with every action of the peer of a lane.
    pub(crate) fn look(
        &mut self,
        lanes: &[Lane],
        now: u64,
        silent: &'static str,
        progress: impl Fn(usize) -> u64,
    ) -> Result<()> {
        if now < self.next {
            return Ok(());
        }
        self.next = now + self.limit / 8;
        for (at, seen) in self.seen.iter_mut().enumerate() {
            let progress = progress(at);
            if seen.0 != progress {
                *seen = (progress, now);
            } else if now - seen.1 >= self.limit {
                return Err(lanes[at].stalled(silent));
            }
        }
        Ok(())
    }
}

const WHAT: &str = "a thread of several flows";

// So few that the state of their lanes stays in the cache of a CPU.
const EVENTS: usize = 128;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wake {
    Readable,
    Writable,
    // A thread must have tried without success before it waits.
    Changed,
}

impl Wake {
    fn events(self) -> EpollFlags {
        match self {
            Self::Readable => EpollFlags::EPOLLIN,
            Self::Writable => EpollFlags::EPOLLOUT,
            Self::Changed => {
                EpollFlags::EPOLLIN | EpollFlags::EPOLLOUT | EpollFlags::EPOLLRDHUP | EpollFlags::EPOLLET
            }
        }
    }
}

struct Poll {
    epoll: Epoll,
    events: Box<[libc::epoll_event]>,
    ended: Box<[bool]>,
    left: usize,
}

impl Poll {
    fn new(lanes: &[Lane], wake: Wake) -> Result<Self> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC).or_setup("epoll_create1", WHAT)?;
        for (at, lane) in lanes.iter().enumerate() {
            let event = EpollEvent::new(wake.events(), at as u64);
            epoll.add(lane.socket(), event).or_setup("epoll_ctl", WHAT)?;
        }
        let none = libc::epoll_event { events: 0, u64: 0 };
        let events = vec![none; EVENTS.min(lanes.len())].into_boxed_slice();
        Ok(Self { epoll, events, ended: vec![false; lanes.len()].into_boxed_slice(), left: lanes.len() })
    }

    #[inline(always)]
    fn wait(&mut self, time: Duration) -> Result<usize> {
        let millis = libc::c_int::try_from(time.as_millis()).unwrap_or(libc::c_int::MAX);
        let ready = sys::epoll_wait(self.epoll.0.as_raw_fd(), &mut self.events, millis);
        if ready < 0 { interrupted() } else { Ok(ready as usize) }
    }

    #[cold]
    fn remove(&mut self, at: usize, lane: &Lane) {
        self.left -= usize::from(!self.ended[at]);
        self.ended[at] = true;
        // A socket that stays only wakes this thread in vain.
        let _ = self.epoll.delete(lane.socket());
    }
}

#[cold]
fn interrupted() -> Result<usize> {
    match io::Error::last_os_error() {
        error if error.kind() == io::ErrorKind::Interrupted => Ok(0),
        error => Err(Error::setup("epoll_wait", WHAT, &error)),
    }
}
