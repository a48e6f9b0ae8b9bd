//! System calls of the hot loops, through `syscall(2)`: glibc's `send` and `recv` are cancellation
//! points, which cost two atomic exchanges per call in a program with threads. And a few others
//! that std, nix and socket2 lack.

mod calls;

use std::ffi::c_int;
use std::io;
use std::os::fd::RawFd;

use nix::sys::prctl::set_timerslack;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::time::{ClockId, ClockNanosleepFlags, clock_nanosleep};

pub(crate) use self::calls::{
    Destination, NAME, Notice, epoll_wait, no_message, read_entry, receive, receive_from, receive_message,
    send_file, send_flags, send_many, send_to,
};

pub(crate) fn errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

pub(crate) fn check(done: c_int) -> io::Result<c_int> {
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(done) }
}

// `UDP_GRO` of linux/udp.h.
pub(crate) const UDP_GRO: c_int = 104;

pub(crate) fn set_option(fd: RawFd, level: c_int, name: c_int, value: c_int) -> io::Result<()> {
    set_option_bytes(fd, level, name, &value.to_ne_bytes())
}

pub(crate) fn set_option_bytes(fd: RawFd, level: c_int, name: c_int, value: &[u8]) -> io::Result<()> {
    let len = value.len() as libc::socklen_t;
    // SAFETY: pointer and length are those of `value`, which outlives the call.
    check(unsafe { libc::setsockopt(fd, level, name, value.as_ptr().cast(), len) }).map(drop)
}

/// Returns the number of bytes.
pub(crate) fn option(fd: RawFd, level: c_int, name: c_int, room: &mut [u8]) -> io::Result<usize> {
    let mut len = room.len() as libc::socklen_t;
    // SAFETY: pointer and length are those of `room`; the kernel writes at most that and returns
    // the length.
    let done = unsafe { libc::getsockopt(fd, level, name, room.as_mut_ptr().cast(), &raw mut len) };
    check(done).map(|_| (len as usize).min(room.len()))
}

pub(crate) fn option_number(fd: RawFd, level: c_int, name: c_int) -> io::Result<c_int> {
    let mut room = [0; size_of::<c_int>()];
    option(fd, level, name, &mut room).map(|_| c_int::from_ne_bytes(room))
}

/// `CLOCK_MONOTONIC` in ns, through the vDSO.
#[inline(always)]
pub(crate) fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid place for the answer, and this clock always exists.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// `until`: a time of [`now`].
pub(crate) fn wait_for(fd: RawFd, events: libc::c_short, until: u64) -> bool {
    // The end of a connection and an entry of the error queue count without being asked for.
    let mut polled = libc::pollfd { fd, events, revents: 0 };
    let time = timespec(until.saturating_sub(now()));
    // SAFETY: one valid pollfd and a valid time, both outlive the call; no signal mask is given.
    unsafe { libc::ppoll(&raw mut polled, 1, &raw const time, std::ptr::null()) > 0 }
}

pub(crate) fn sleep_until(until: u64) {
    let until = timespec(until).into();
    // A signal may end the sleep: loops look at the clock again.
    let _ = clock_nanosleep(ClockId::CLOCK_MONOTONIC, ClockNanosleepFlags::TIMER_ABSTIME, &until);
}

// By default the kernel may delay timers by 50 µs to serve several at once (`PR_SET_TIMERSLACK`).
pub(crate) fn sharpen_timers() {
    // A kernel that refuses it only wakes the thread later.
    let _ = set_timerslack(1);
}

fn timespec(ns: u64) -> libc::timespec {
    libc::timespec { tv_sec: (ns / 1_000_000_000) as libc::time_t, tv_nsec: (ns % 1_000_000_000) as i64 }
}

// The kernel's limit (`CONFIG_NR_CPUS`) on x86-64.
pub(crate) const MAX_CPUS: u32 = 8192;

pub(crate) fn pin(cpu: u32) -> io::Result<()> {
    // Sets of CPUs in libraries end at 1024.
    const WORD: usize = libc::c_ulong::BITS as usize;
    let mut mask = [0 as libc::c_ulong; MAX_CPUS as usize / WORD];
    let cpu = cpu as usize;
    let word = mask.get_mut(cpu / WORD).ok_or_else(|| io::Error::from_raw_os_error(libc::EINVAL))?;
    *word = 1 << (cpu % WORD);
    // SAFETY: 0 is the calling thread; pointer and size are those of `mask`, of whole words.
    check(unsafe { libc::sched_setaffinity(0, size_of_val(&mask), mask.as_ptr().cast()) }).map(drop)
}

// With a shared table every call takes and drops a reference to its file, two atomic operations;
// with its own (`fds` and the standard streams) none. A failure only costs speed.
pub(crate) fn own_descriptors(fds: impl Iterator<Item = RawFd>) {
    let mut kept: Vec<u32> = fds.filter_map(|fd| u32::try_from(fd).ok()).collect();
    kept.sort_unstable();
    let Some(last) = kept.last() else { return };
    let close_range = |first: u32, last: u32, flags: libc::c_uint| {
        // SAFETY: `close_range` takes three numbers. The first call unshares the table before it
        // closes, so nobody else loses a descriptor; the others run only if that succeeded. This
        // thread owns no other descriptor.
        unsafe { libc::syscall(libc::SYS_close_range, first, last, flags) == 0 }
    };
    if close_range(last + 1, u32::MAX, libc::CLOSE_RANGE_UNSHARE) {
        let mut next = 3;
        for fd in kept {
            if fd > next {
                close_range(next, fd - 1, 0);
            }
            next = next.max(fd + 1);
        }
    }
}

pub(crate) fn make_room_for_descriptors(more: u64) {
    // Open files of our process beside its flows, generously.
    const OTHERS: u64 = 256;
    let wanted = more + OTHERS;
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return };
    let set = |soft: u64, hard: u64| setrlimit(Resource::RLIMIT_NOFILE, soft, hard).is_ok();
    // Above the hard limit with CAP_SYS_RESOURCE, up to fs.nr_open; opening reports a failure.
    if soft < wanted && (wanted <= hard || !set(wanted, wanted)) {
        set(wanted.min(hard), hard);
    }
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

    #[test]
    fn a_thread_can_be_pinned_where_it_may_run() {
        std::thread::spawn(|| {
            // SAFETY: the call takes nothing.
            let here = unsafe { libc::sched_getcpu() };
            pin(u32::try_from(here).unwrap()).unwrap();
        })
        .join()
        .unwrap();
        assert_eq!(pin(MAX_CPUS - 1).unwrap_err().raw_os_error(), Some(libc::EINVAL));
    }

    #[test]
    fn own_descriptors_closes_only_this_threads() {
        let kept = std::fs::File::open("/proc/self/stat").unwrap();
        let other = std::fs::File::open("/proc/self/stat").unwrap();
        let far = std::fs::File::open("/proc/self/stat").unwrap();
        let (kept_fd, other_fd, far_fd) = (kept.as_raw_fd(), other.as_raw_fd(), far.as_raw_fd());
        let open = move |fd: RawFd| {
            // SAFETY: F_GETFD only asks whether the number is an open descriptor.
            unsafe { libc::fcntl(fd, libc::F_GETFD) >= 0 }
        };
        let seen = std::thread::spawn(move || {
            own_descriptors([kept_fd, far_fd].into_iter());
            (open(kept_fd), open(other_fd), open(far_fd))
        });
        assert_eq!(seen.join().unwrap(), (true, false, true));
        assert!(open(kept_fd) && open(other_fd));
    }
}
