//! The clock, and waits by it.

use std::os::fd::RawFd;

/// `CLOCK_MONOTONIC` in ns, through the vDSO.
#[inline(always)]
pub(crate) fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid place for the answer, and this clock always exists.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Waits for `events` of `fd`, until the time `until` of [`now`], or a signal; returns whether any
/// came. The end of a connection and an entry of the error queue always count.
pub(crate) fn wait_for(fd: RawFd, events: libc::c_short, until: u64) -> bool {
    let mut polled = libc::pollfd { fd, events, revents: 0 };
    let time = timespec(until.saturating_sub(now()));
    // SAFETY: one valid pollfd and a valid time, both outlive the call; no signal mask is given.
    unsafe { libc::ppoll(&raw mut polled, 1, &raw const time, std::ptr::null()) > 0 }
}

/// Sleeps until the time `until` of [`now`], or until a signal comes.
pub(crate) fn sleep_until(until: u64) {
    let time = timespec(until);
    // SAFETY: a valid time that outlives the call; the remaining time is not requested.
    unsafe {
        libc::clock_nanosleep(
            libc::CLOCK_MONOTONIC,
            libc::TIMER_ABSTIME,
            &raw const time,
            std::ptr::null_mut(),
        )
    };
}

/// Makes the calling thread's timers precise: by default the kernel may delay them by 50 µs to
/// serve several at once (`PR_SET_TIMERSLACK`).
pub(crate) fn sharpen_timers() {
    // SAFETY: this option takes one number. A kernel that refuses it only wakes the thread later.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1 as libc::c_ulong) };
}

fn timespec(ns: u64) -> libc::timespec {
    libc::timespec { tv_sec: (ns / 1_000_000_000) as libc::time_t, tv_nsec: (ns % 1_000_000_000) as i64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;
    use std::time::Duration;

    #[test]
    fn the_clock_moves_forward() {
        let first = now();
        std::thread::sleep(Duration::from_millis(2));
        assert!(now() - first >= 2_000_000);
    }

    #[test]
    fn sleeping_and_waiting_end_when_they_should() {
        let began = now();
        sleep_until(began + 3_000_000);
        assert!(now() >= began + 3_000_000);
        sleep_until(began);
        let (near, far) = std::os::unix::net::UnixDatagram::pair().unwrap();
        let until = now() + 3_000_000;
        assert!(!wait_for(near.as_raw_fd(), libc::POLLIN, until));
        assert!(now() >= until);
        far.send(b"x").unwrap();
        assert!(wait_for(near.as_raw_fd(), libc::POLLIN, 0), "a time that is over still looks");
    }
}
