//! The system calls of the hot loops, and the few others that std and socket2 do not offer.
//!
//! Those of the loops go through `syscall(2)`: glibc's own wrappers of `send` and `recv` are cancellation points, which
//! in a program with threads costs two atomic exchanges per call.

use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::time::Duration;

use socket2::{Socket, Type};

use crate::destination::Target;

/// CPUs that an affinity mask here has room for; the kernel's own limit (`CONFIG_NR_CPUS`) on x86-64.
pub(crate) const MAX_CPUS: u32 = 8192;

/// `UDP_GRO` of linux/udp.h.
pub(crate) const UDP_GRO: libc::c_int = 104;

/// Sends a datagram to where it should go. Returns what the kernel returns: bytes, or -1 with [`errno`] set.
#[inline(always)]
pub(crate) fn send_to(fd: RawFd, bytes: &[u8], flags: libc::c_int, to: Target<'_>) -> isize {
    let flags = flags | libc::MSG_NOSIGNAL;
    // SAFETY: pointer and length are those of `bytes`, those of the address are `to`'s; both outlive the call.
    unsafe {
        libc::syscall(libc::SYS_sendto, fd, bytes.as_ptr(), bytes.len(), flags, to.address, to.len) as isize
    }
}

/// Sends on a connected socket. Returns what the kernel returns: bytes, or -1 with [`errno`] set.
#[inline(always)]
pub(crate) fn send(fd: RawFd, bytes: &[u8]) -> isize {
    send_flags(fd, bytes, 0)
}

/// The same with flags.
#[inline(always)]
pub(crate) fn send_flags(fd: RawFd, bytes: &[u8], flags: libc::c_int) -> isize {
    let none = std::ptr::null::<libc::sockaddr>();
    let flags = flags | libc::MSG_NOSIGNAL;
    // SAFETY: pointer and length are those of `bytes`, which outlives the call; a connected socket takes no address.
    unsafe { libc::syscall(libc::SYS_sendto, fd, bytes.as_ptr(), bytes.len(), flags, none, 0) as isize }
}

/// Receives from a connected socket. Returns what the kernel returns: bytes, 0 at the end, or -1 with [`errno`] set.
#[inline(always)]
pub(crate) fn receive(fd: RawFd, room: &mut [u8], flags: libc::c_int) -> isize {
    let none = std::ptr::null::<libc::sockaddr>();
    // SAFETY: pointer and length are those of `room`, which outlives the call; null asks for no address.
    unsafe {
        libc::syscall(libc::SYS_recvfrom, fd, room.as_mut_ptr(), room.len(), flags, none, none) as isize
    }
}

/// Bytes of the largest address of a datagram's sender (`sockaddr_in6`).
pub(crate) const NAME: usize = size_of::<libc::sockaddr_in6>();

/// Receives a datagram and the address that it came from.
#[inline(always)]
pub(crate) fn receive_from(fd: RawFd, room: &mut [u8], flags: libc::c_int, from: &mut [u8; NAME]) -> isize {
    let mut len = NAME as libc::socklen_t;
    // SAFETY: pointers and lengths are those of `room` and `from`, which outlive the call; the kernel writes no more.
    unsafe {
        libc::syscall(
            libc::SYS_recvfrom,
            fd,
            room.as_mut_ptr(),
            room.len(),
            flags,
            from.as_mut_ptr(),
            &raw mut len,
        ) as isize
    }
}

/// Waits for sockets that are ready, for `millis` at most. Returns how many, or -1 with [`errno`] set.
#[inline(always)]
pub(crate) fn epoll_wait(epoll: RawFd, events: &mut [libc::epoll_event], millis: libc::c_int) -> isize {
    let none = std::ptr::null::<libc::sigset_t>();
    let room = events.len() as libc::c_int;
    // SAFETY: pointer and length are those of `events`, which outlives the call; no signal mask is given.
    unsafe {
        libc::syscall(libc::SYS_epoll_pwait, epoll, events.as_mut_ptr(), room, millis, none, 0usize) as isize
    }
}

/// `CLOCK_MONOTONIC` in ns, through the vDSO.
#[inline(always)]
pub(crate) fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid place for the answer, and this clock always exists.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The error of the last system call of this thread.
pub(crate) fn errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

/// Sets a socket option that is not a number.
pub(crate) fn set_option_bytes(
    fd: RawFd,
    level: libc::c_int,
    name: libc::c_int,
    value: &[u8],
) -> io::Result<()> {
    let len = value.len() as libc::socklen_t;
    // SAFETY: pointer and length are those of `value`, which outlives the call.
    check(unsafe { libc::setsockopt(fd, level, name, value.as_ptr().cast(), len) }).map(drop)
}

/// Sets a socket option.
pub(crate) fn set_option(
    fd: RawFd,
    level: libc::c_int,
    name: libc::c_int,
    value: libc::c_int,
) -> io::Result<()> {
    let len = size_of_val(&value) as libc::socklen_t;
    // SAFETY: pointer and length are those of `value`, which outlives the call.
    let done = unsafe { libc::setsockopt(fd, level, name, (&raw const value).cast(), len) };
    check(done).map(drop)
}

/// The options of a buffer's size: beyond the machine's limit, and within it.
pub(crate) type Buffer = (libc::c_int, libc::c_int);
pub(crate) const SEND_BUFFER: Buffer = (libc::SO_SNDBUFFORCE, libc::SO_SNDBUF);
pub(crate) const RECEIVE_BUFFER: Buffer = (libc::SO_RCVBUFFORCE, libc::SO_RCVBUF);

/// Sizes a socket's buffer, beyond the machine's limit (`net.core.wmem_max`, `net.core.rmem_max`) where that is allowed.
pub(crate) fn size_buffer(fd: RawFd, (force, plain): Buffer, bytes: libc::c_int) -> io::Result<()> {
    set_option(fd, libc::SOL_SOCKET, force, bytes).or_else(|_| set_option(fd, libc::SOL_SOCKET, plain, bytes))
}

/// Reads a socket option into `room`; returns how many bytes the kernel wrote.
pub(crate) fn option(fd: RawFd, level: libc::c_int, name: libc::c_int, room: &mut [u8]) -> io::Result<usize> {
    let mut len = room.len() as libc::socklen_t;
    // SAFETY: pointer and length are those of `room`; the kernel writes no more than that and says how much.
    let done = unsafe { libc::getsockopt(fd, level, name, room.as_mut_ptr().cast(), &raw mut len) };
    check(done).map(|_| (len as usize).min(room.len()))
}

/// Reads a socket option that is a number.
pub(crate) fn option_number(fd: RawFd, level: libc::c_int, name: libc::c_int) -> io::Result<libc::c_int> {
    let mut room = [0; size_of::<libc::c_int>()];
    option(fd, level, name, &mut room).map(|_| libc::c_int::from_ne_bytes(room))
}

/// Bytes that the socket still holds to be sent (`SIOCOUTQ`): for TCP unacknowledged ones, for UDP those in queues. A TCP connection
/// that the peer has reset goes on counting what was on its way, which nobody will acknowledge: [`unsent_to_a_peer`].
fn unsent(fd: RawFd) -> io::Result<u64> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: SIOCOUTQ, the socket's name of TIOCOUTQ, writes one int through the pointer.
    let done = unsafe { libc::ioctl(fd, libc::TIOCOUTQ, &raw mut bytes) };
    check(done).map(|_| u64::try_from(bytes).unwrap_or(0))
}

/// As [`unsent`], and nothing for a TCP connection that is gone: it has no peer any more.
pub(crate) fn unsent_to_a_peer(socket: &Socket) -> io::Result<u64> {
    let is_gone = socket.r#type()? == Type::STREAM && socket.peer_addr().is_err();
    if is_gone { Ok(0) } else { unsent(socket.as_raw_fd()) }
}

/// Bytes that a TCP socket has received and nobody has read (`SIOCINQ`).
pub(crate) fn unread(fd: RawFd) -> io::Result<u64> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: SIOCINQ, the socket's name of FIONREAD, writes one int through the pointer.
    let done = unsafe { libc::ioctl(fd, libc::FIONREAD, &raw mut bytes) };
    check(done).map(|_| u64::try_from(bytes).unwrap_or(0))
}

/// Waits until `fd` can be read, the time is over, or a signal comes.
pub(crate) fn wait_readable(fd: RawFd, time: Duration) {
    wait(fd, libc::POLLIN, time);
}

fn wait(fd: RawFd, events: libc::c_short, time: Duration) {
    let mut polled = libc::pollfd { fd, events, revents: 0 };
    let millis = libc::c_int::try_from(time.as_millis()).unwrap_or(libc::c_int::MAX);
    // SAFETY: one valid pollfd that outlives the call.
    unsafe { libc::poll(&raw mut polled, 1, millis) };
}

/// Waits for `events` of `fd`, until the time `until` of [`now`], or until a signal comes; whether there are any. An end
/// that was shut is one, whatever was asked for.
pub(crate) fn wait_for(fd: RawFd, events: libc::c_short, until: u64) -> bool {
    let mut polled = libc::pollfd { fd, events, revents: 0 };
    let time = timespec(until.saturating_sub(now()));
    // SAFETY: one valid pollfd and a valid time, both outlive the call; no signal mask is given.
    unsafe { libc::ppoll(&raw mut polled, 1, &raw const time, std::ptr::null()) > 0 }
}

/// Sleeps until the time `until` of [`now`], or until a signal comes.
pub(crate) fn sleep_until(until: u64) {
    let time = timespec(until);
    // SAFETY: a valid time that outlives the call; nothing is asked of what is left of it.
    unsafe {
        libc::clock_nanosleep(
            libc::CLOCK_MONOTONIC,
            libc::TIMER_ABSTIME,
            &raw const time,
            std::ptr::null_mut(),
        )
    };
}

/// Lets the calling thread's timers go off when they are due: by default the kernel may make them 50 µs late, so that it
/// can serve several at once (`PR_SET_TIMERSLACK`).
pub(crate) fn sharpen_timers() {
    // SAFETY: this option takes one number. A kernel that refuses it only wakes the thread later.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1 as libc::c_ulong) };
}

fn timespec(ns: u64) -> libc::timespec {
    libc::timespec { tv_sec: (ns / 1_000_000_000) as libc::time_t, tv_nsec: (ns % 1_000_000_000) as i64 }
}

/// Waits until there is something in the error queue of `fd`, the time is over, or a signal comes.
pub(crate) fn wait_error(fd: RawFd, time: Duration) {
    // Errors are always told, whatever was asked for.
    wait(fd, 0, time);
}

/// The calling thread's id in the kernel.
pub(crate) fn thread_id() -> u32 {
    // SAFETY: the call takes nothing and cannot fail.
    unsafe { libc::gettid() }.unsigned_abs()
}

/// Lets the calling thread run on `cpu` only.
pub(crate) fn pin(cpu: u32) -> io::Result<()> {
    const WORD: usize = libc::c_ulong::BITS as usize;
    let mut mask = [0 as libc::c_ulong; MAX_CPUS as usize / WORD];
    let cpu = cpu as usize;
    let word = mask.get_mut(cpu / WORD).ok_or_else(|| io::Error::from_raw_os_error(libc::EINVAL))?;
    *word = 1 << (cpu % WORD);
    // SAFETY: 0 is the calling thread; pointer and size are those of `mask`, a bit mask of whole words as the kernel
    // wants it.
    check(unsafe { libc::sched_setaffinity(0, size_of_val(&mask), mask.as_ptr().cast()) }).map(drop)
}

/// Gives the calling thread a descriptor table of its own that holds `fds` and the standard streams only.
///
/// With a shared table every call on a descriptor takes and drops a reference to its file, two atomic operations; with
/// one's own it takes none. Whether it worked makes no difference but to speed.
pub(crate) fn own_descriptors(fds: impl Iterator<Item = RawFd>) {
    let mut kept: Vec<u32> = fds.filter_map(|fd| u32::try_from(fd).ok()).collect();
    kept.sort_unstable();
    let Some(last) = kept.last() else { return };
    let close_range = |first: u32, last: u32, flags: libc::c_uint| {
        // SAFETY: `close_range` takes three numbers. The first call unshares the table before it closes, so nobody
        // else loses a descriptor; the others run only if that succeeded. This thread owns no other descriptor.
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

/// Raises the limit of open files so that `more` fit, as far as the hard limit, or a privilege, allows.
pub(crate) fn make_room_for_descriptors(more: u64) {
    // What a process of ours has open besides its flows, generously.
    const OTHERS: u64 = 256;
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is a valid place for the answer.
    if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) } != 0 || limit.rlim_cur >= more + OTHERS
    {
        return;
    }
    // SAFETY: `limit` is a valid limit. A failure shows when the sockets are opened, and is named there.
    let set = |limit: libc::rlimit| unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) } == 0;
    let wanted = more + OTHERS;
    // Beyond the hard limit only with a privilege (CAP_SYS_RESOURCE), and up to the sysctl fs.nr_open.
    if wanted <= limit.rlim_max || !set(libc::rlimit { rlim_cur: wanted, rlim_max: wanted }) {
        set(libc::rlimit { rlim_cur: wanted.min(limit.rlim_max), rlim_max: limit.rlim_max });
    }
}

pub(crate) fn check(done: libc::c_int) -> io::Result<libc::c_int> {
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(done) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn the_clock_moves_forward() {
        let first = now();
        std::thread::sleep(Duration::from_millis(2));
        assert!(now() - first >= 2_000_000);
    }

    /// An end of transactions that waited for this waited in vain: a request that meets a peer which has just ended is answered by a reset.
    #[test]
    fn a_connection_that_was_reset_has_nothing_left_to_send() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut here = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        drop(listener.accept().unwrap());
        std::thread::sleep(Duration::from_millis(20));
        here.write_all(&[1]).unwrap();
        std::thread::sleep(Duration::from_millis(20));
        let here = Socket::from(here);
        assert_eq!((unsent(here.as_raw_fd()).unwrap(), unsent_to_a_peer(&here).unwrap()), (1, 0));
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
}
