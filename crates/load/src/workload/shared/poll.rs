//! Waits for many sockets at once.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

use crate::error::{Error, Result};
use crate::lane::Lane;
use crate::sys;

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
