//! One thread that serves several lanes and waits for all of them at once (epoll(7)): no call on a
//! socket waits, and the thread owns the buffers.

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

/// Serves lanes until the phase `over`. `silent`: the failure of a peer without progress, if any.
pub(crate) fn run(
    lanes: &[Lane],
    wake: EpollFlags,
    over: u8,
    silent: Option<&'static str>,
    work: &mut impl LaneWork,
) -> Result<()> {
    let phase = lanes[0].phase();
    let mut poll = Poll::new(lanes, wake)?;
    let limit = stall(lanes[0].flows()).as_nanos() as u64;
    let (mut next_look, mut seen) = (0, vec![(u64::MAX, 0); lanes.len()]);
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
                let now = sys::now();
                work.look(now)?;
                if let Some(silent) = silent
                    && now >= next_look
                {
                    next_look = now + limit / 8;
                    let mut all = lanes.iter().zip(&mut seen);
                    all.try_for_each(|(lane, seen)| check_calls(lane, seen, now, limit, silent))?;
                }
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

/// `seen`: the lane's calls, and when their number was first seen.
fn check_calls(lane: &Lane, seen: &mut (u64, u64), now: u64, limit: u64, silent: &'static str) -> Result<()> {
    // Without an action of its peer a lane is not served, and makes no call.
    let calls = lane.control.counters[lane.flow].read().calls;
    if seen.0 != calls {
        *seen = (calls, now);
    } else if now - seen.1 >= limit {
        return Err(lane.stalled(silent));
    }
    Ok(())
}

const WHAT: &str = "a thread of several flows";

// So few that the state of their lanes stays in the cache of a CPU.
const EVENTS: usize = 128;

pub(crate) const READABLE: EpollFlags = EpollFlags::EPOLLIN;
pub(crate) const WRITABLE: EpollFlags = EpollFlags::EPOLLOUT;
/// Data arrive, or room appears: a thread must have tried without success before it waits.
pub(crate) const CHANGED: EpollFlags =
    READABLE.union(WRITABLE).union(EpollFlags::EPOLLRDHUP).union(EpollFlags::EPOLLET);

struct Poll {
    epoll: Epoll,
    events: Box<[libc::epoll_event]>,
    ended: Box<[bool]>,
    left: usize,
}

impl Poll {
    fn new(lanes: &[Lane], wake: EpollFlags) -> Result<Self> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC).or_setup("epoll_create1", WHAT)?;
        for (at, lane) in lanes.iter().enumerate() {
            let event = EpollEvent::new(wake, at as u64);
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
