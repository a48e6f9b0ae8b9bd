//! One thread that serves several lanes and waits for all of them at once (epoll(7)).
//!
//! A thread with one lane waits in its calls; here no call on a socket waits. The state of a lane
//! between two turns is small, and the thread owns the buffers.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

use crate::error::{Error, Result};
use crate::lane::{Lane, LaneResult, LoopStep, QUIET};
use crate::socket::stall;
use crate::sys;
use crate::workload::drain_with;

/// The longest sleep of a thread; then it checks the phase.
const TICK: Duration = Duration::from_millis(50);
/// Lanes that begin before earlier ones are served: there is no room for the data of all.
const BEGIN: usize = 64;
/// Turns between two readings of the clock.
const TURNS: u32 = 256;

/// A thread's work for its lanes, by their index.
pub(crate) trait LaneWork {
    fn begin(&mut self, _at: usize) -> Result<()> {
        Ok(())
    }

    /// Serves a lane whose socket is ready, or may be.
    fn serve(&mut self, at: usize) -> Result<LoopStep>;

    /// Checks lanes with silent sockets; called now and then before senders end. `now` is that of
    /// [`sys::now`].
    fn look(&mut self, _now: u64) -> Result<()> {
        Ok(())
    }
}

/// The results of lanes of which only the verified bytes are known.
pub(crate) fn verified(bytes: impl Iterator<Item = u64>) -> Vec<LaneResult> {
    bytes.map(|verified| LaneResult { verified, ..LaneResult::default() }).collect()
}

pub(crate) fn run(lanes: &[Lane], wake: Wake, over: u8, work: &mut impl LaneWork) -> Result<()> {
    let phase = lanes[0].phase();
    let mut poll = Poll::new(lanes, wake)?;
    lanes[0].ready();
    let (mut fresh, mut turns) = (0..lanes.len(), 0);
    while poll.lanes() > 0 && phase.load() < over {
        fresh.by_ref().take(BEGIN).try_for_each(|at| work.begin(at))?;
        let ready = poll.wait(if fresh.is_empty() { TICK } else { Duration::ZERO })?;
        for turn in 0..ready {
            let at = poll.ready(turn);
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
                    if !poll.has_ended(at) && work.serve(at)? == LoopStep::End {
                        poll.remove(at, lane);
                    }
                }
            }
        }
    }
    Ok(())
}

/// Serves lanes whose transmitter has ended until nothing is queued; `messages` are those that a
/// lane has received.
pub(crate) fn drain<W: LaneWork>(
    lanes: &[Lane],
    work: &mut W,
    messages: impl Fn(&W, usize) -> u64,
) -> Result<()> {
    drain_with(&lanes[0], || {
        let mut came = false;
        for at in 0..lanes.len() {
            let before = messages(work, at);
            work.serve(at)?;
            came |= messages(work, at) > before;
        }
        Ok(came)
    })
}

/// Checks every lane now and then, and fails if one makes no progress for too long.
pub(crate) struct Patience {
    /// The limit, ns.
    limit: u64,
    /// The time of the next check.
    next: u64,
    /// Each lane's progress, and when it was first seen.
    seen: Vec<(u64, u64)>,
}

impl Patience {
    pub(crate) fn new(lanes: &[Lane]) -> Self {
        let limit = u64::try_from(stall(lanes[0].flows()).as_nanos()).unwrap_or(u64::MAX);
        Self { limit, next: 0, seen: vec![(u64::MAX, 0); lanes.len()] }
    }

    /// `progress` is a count that grows with every action of a lane's peer.
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

/// Sockets that one call reports at most: few enough that their lanes' state stays in a CPU's own
/// cache.
const EVENTS: usize = 128;

/// The events that wake a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wake {
    /// While there is something to receive.
    Readable,
    /// While there is room to send.
    Writable,
    /// Each time that data arrive, or that room appears: a thread must have tried without success
    /// before it waits.
    Changed,
}

impl Wake {
    fn events(self) -> u32 {
        let events = match self {
            Self::Readable => libc::EPOLLIN,
            Self::Writable => libc::EPOLLOUT,
            Self::Changed => libc::EPOLLIN | libc::EPOLLOUT | libc::EPOLLRDHUP | libc::EPOLLET,
        };
        events.cast_unsigned()
    }
}

pub(crate) struct Poll {
    epoll: OwnedFd,
    events: Box<[libc::epoll_event]>,
    ended: Box<[bool]>,
    left: usize,
}

impl Poll {
    pub(crate) fn new(lanes: &[Lane], wake: Wake) -> Result<Self> {
        let failed = |call| move |error: io::Error| Error::setup(call, "a thread of several flows", &error);
        // SAFETY: the call takes a number.
        let epoll = sys::check(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) });
        let epoll = epoll.map_err(failed("epoll_create1"))?;
        // SAFETY: the descriptor was just opened, and nothing else has it.
        let epoll = unsafe { OwnedFd::from_raw_fd(epoll) };
        for (at, lane) in lanes.iter().enumerate() {
            let mut event = libc::epoll_event { events: wake.events(), u64: at as u64 };
            // SAFETY: `event` is valid and outlives the call.
            let added =
                unsafe { libc::epoll_ctl(epoll.as_raw_fd(), libc::EPOLL_CTL_ADD, lane.fd, &raw mut event) };
            sys::check(added).map_err(failed("epoll_ctl"))?;
        }
        let none = libc::epoll_event { events: 0, u64: 0 };
        let events = vec![none; EVENTS.min(lanes.len())].into_boxed_slice();
        Ok(Self { epoll, events, ended: vec![false; lanes.len()].into_boxed_slice(), left: lanes.len() })
    }

    pub(crate) fn lanes(&self) -> usize {
        self.left
    }

    /// Waits until a socket is ready, at most `time`; returns how many are.
    #[inline(always)]
    pub(crate) fn wait(&mut self, time: Duration) -> Result<usize> {
        let millis = libc::c_int::try_from(time.as_millis()).unwrap_or(libc::c_int::MAX);
        let ready = sys::epoll_wait(self.epoll.as_raw_fd(), &mut self.events, millis);
        if ready < 0 {
            return interrupted();
        }
        Ok(ready as usize)
    }

    #[inline(always)]
    pub(crate) fn ready(&self, turn: usize) -> usize {
        self.events[turn].u64 as usize
    }

    pub(crate) fn has_ended(&self, at: usize) -> bool {
        self.ended[at]
    }

    /// Stops waiting for a lane.
    #[cold]
    pub(crate) fn remove(&mut self, at: usize, lane: &Lane) {
        self.left -= usize::from(!self.ended[at]);
        self.ended[at] = true;
        // SAFETY: removing needs no event. A socket that stays only wakes this thread in vain.
        unsafe {
            libc::epoll_ctl(self.epoll.as_raw_fd(), libc::EPOLL_CTL_DEL, lane.fd, std::ptr::null_mut())
        };
    }
}

/// Only a signal may interrupt a wait.
#[cold]
fn interrupted() -> Result<usize> {
    match sys::errno() {
        libc::EINTR => Ok(0),
        errno => {
            let error = io::Error::from_raw_os_error(errno);
            Err(Error::setup("epoll_wait", "a thread of several flows", &error))
        }
    }
}
