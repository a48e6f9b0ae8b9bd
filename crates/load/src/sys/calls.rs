//! Calls that move data, and the error queue of a socket.

use std::marker::PhantomData;
use std::os::fd::RawFd;

use socket2::SockAddr;

/// Returns bytes, or -1 with `errno` set.
#[inline(always)]
pub(crate) fn send_to(fd: RawFd, bytes: &[u8], flags: libc::c_int, to: Destination<'_>) -> isize {
    // A closed connection is an error, not a signal, which would end the process.
    let flags = flags | libc::MSG_NOSIGNAL;
    // SAFETY: pointers and lengths are those of `bytes` and `to`, which outlive the call.
    unsafe {
        libc::syscall(libc::SYS_sendto, fd, bytes.as_ptr(), bytes.len(), flags, to.address, to.len) as isize
    }
}

#[inline(always)]
pub(crate) fn send_flags(fd: RawFd, bytes: &[u8], flags: libc::c_int) -> isize {
    send_to(fd, bytes, flags, Destination::NONE)
}

/// Returns bytes, 0 at the end, or -1 with `errno` set.
#[inline(always)]
pub(crate) fn receive(fd: RawFd, room: &mut [u8], flags: libc::c_int) -> isize {
    let none = std::ptr::null::<libc::sockaddr>();
    // SAFETY: pointer and length are those of `room`, which outlives the call; null: no address.
    unsafe {
        libc::syscall(libc::SYS_recvfrom, fd, room.as_mut_ptr(), room.len(), flags, none, none) as isize
    }
}

pub(crate) const NAME: usize = size_of::<libc::sockaddr_in6>();

#[inline(always)]
pub(crate) fn receive_from(fd: RawFd, room: &mut [u8], flags: libc::c_int, from: &mut [u8; NAME]) -> isize {
    let mut len = NAME as libc::socklen_t;
    // SAFETY: pointers and lengths are those of `room` and `from`, which outlive the call; the
    // kernel writes no more.
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

/// Returns the number of ready sockets, or -1 with `errno` set.
#[inline(always)]
pub(crate) fn epoll_wait(epoll: RawFd, events: &mut [libc::epoll_event], millis: libc::c_int) -> isize {
    let none = std::ptr::null::<libc::sigset_t>();
    let room = events.len() as libc::c_int;
    // SAFETY: pointer and length are those of `events`, which outlives the call; no signal mask.
    unsafe {
        libc::syscall(libc::SYS_epoll_pwait, epoll, events.as_mut_ptr(), room, millis, none, 0usize) as isize
    }
}

/// Returns bytes and advances `offset`, or -1 with `errno` set.
#[inline(always)]
pub(crate) fn send_file(fd: RawFd, from: RawFd, offset: &mut libc::off_t, len: usize) -> isize {
    // SAFETY: `offset` is borrowed; the rest are numbers.
    unsafe { libc::syscall(libc::SYS_sendfile, fd, from, &raw mut *offset, len) as isize }
}

// Null for a connected socket. Raw, so that calls have no branch for it.
#[derive(Clone, Copy)]
pub(crate) struct Destination<'a> {
    pub(crate) address: *const libc::sockaddr,
    pub(crate) len: libc::socklen_t,
    destination: PhantomData<&'a SockAddr>,
}

impl<'a> Destination<'a> {
    pub(crate) const NONE: Self = Self { address: std::ptr::null(), len: 0, destination: PhantomData };

    pub(crate) fn new(destination: Option<&'a SockAddr>) -> Self {
        destination.map_or(Self::NONE, |to| Self { address: to.as_ptr().cast(), len: to.len(), ..Self::NONE })
    }
}

/// Sends many datagrams. Returns how many the kernel accepted, or -1 with `errno` set.
///
/// # Safety
/// The memory that the headers point to is valid during the call.
#[inline(always)]
pub(crate) unsafe fn send_many(fd: RawFd, headers: &mut [libc::mmsghdr]) -> isize {
    // SAFETY: pointer and length are those of `headers`; the caller guarantees the rest.
    unsafe {
        libc::syscall(libc::SYS_sendmmsg, fd, headers.as_mut_ptr(), headers.len(), libc::MSG_NOSIGNAL)
            as isize
    }
}

/// Receives a message with its ancillary data. Returns bytes, or -1 with `errno` set.
///
/// # Safety
/// The memory that the header points to is valid and writable during the call.
#[inline(always)]
pub(crate) unsafe fn receive_message(fd: RawFd, header: &mut libc::msghdr, flags: libc::c_int) -> isize {
    // SAFETY: the header is borrowed; the caller guarantees the rest.
    unsafe { libc::syscall(libc::SYS_recvmsg, fd, &raw mut *header, flags) as isize }
}

pub(crate) fn no_message() -> libc::msghdr {
    // SAFETY: zeros are null pointers and lengths of 0, and its padding.
    unsafe { std::mem::zeroed() }
}

// Room for one error with an address behind it, aligned as control messages are.
const ROOM: usize = 32;

// `SO_EE_ORIGIN_ZEROCOPY` and `SO_EE_CODE_ZEROCOPY_COPIED` of linux/errqueue.h.
const ORIGIN_ZEROCOPY: u8 = 5;
const CODE_COPIED: u8 = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Notice {
    // Sends by number, modulo 2^32, as the kernel counts them.
    Done { first: u32, last: u32, copied: bool },
    Failed(i32),
}

/// Reads an entry of the error queue, without waiting.
pub(crate) fn read_entry(fd: RawFd) -> Option<Notice> {
    let mut control = [0u64; ROOM];
    let mut header = no_message();
    header.msg_control = control.as_mut_ptr().cast();
    header.msg_controllen = size_of_val(&control);
    // SAFETY: the header points to `control`, which outlives the call, and to nothing else.
    let got = unsafe { receive_message(fd, &mut header, libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT) };
    if got < 0 {
        return None;
    }
    // SAFETY: the kernel has written whole control messages into `control` and their length into
    // the header.
    let mut message = unsafe { libc::CMSG_FIRSTHDR(&raw const header) };
    while !message.is_null() {
        // SAFETY: not null, so a whole header lies there; `control` is aligned for it.
        let (level, kind, len) =
            unsafe { ((*message).cmsg_level, (*message).cmsg_type, (*message).cmsg_len) };
        let is_error =
            matches!((level, kind), (libc::SOL_IP, libc::IP_RECVERR) | (libc::SOL_IPV6, libc::IPV6_RECVERR));
        // SAFETY: the call computes from a size only.
        let whole = unsafe { libc::CMSG_LEN(size_of::<libc::sock_extended_err>() as u32) };
        if is_error && len >= whole as usize {
            // SAFETY: the length guarantees a whole such structure, which has no invalid bits.
            let error: libc::sock_extended_err =
                unsafe { libc::CMSG_DATA(message).cast::<libc::sock_extended_err>().read_unaligned() };
            // As in Linux's Documentation/networking/msg_zerocopy.rst; else an error.
            return Some(if error.ee_origin == ORIGIN_ZEROCOPY {
                let copied = error.ee_code & CODE_COPIED != 0;
                Notice::Done { first: error.ee_info, last: error.ee_data, copied }
            } else {
                Notice::Failed(i32::try_from(error.ee_errno).unwrap_or(libc::EIO))
            });
        }
        // SAFETY: both are of the same call.
        message = unsafe { libc::CMSG_NXTHDR(&raw const header, message) };
    }
    // An entry without an error says nothing.
    Some(Notice::Failed(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;
    use std::os::fd::AsRawFd;
    use std::time::{Duration, Instant};

    use crate::sys;

    /// Waits for an entry: loopback answers soon, but perhaps on another CPU.
    fn wait(fd: RawFd) -> Notice {
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            if let Some(notice) = read_entry(fd) {
                return notice;
            }
            assert!(Instant::now() < deadline, "nothing came");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn a_port_that_refuses_is_reported() {
        let gone = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let fd = socket.as_raw_fd();
        sys::set_option(fd, libc::SOL_IP, libc::IP_RECVERR, 1).unwrap();
        socket.connect(gone).unwrap();
        assert_eq!(read_entry(fd), None);
        socket.send(&[1]).unwrap();
        assert_eq!(wait(fd), Notice::Failed(libc::ECONNREFUSED));
        assert_eq!(read_entry(fd), None);
    }

    #[test]
    fn a_send_without_copying_is_reported_when_it_is_done() {
        for local in ["127.0.0.1:0", "[::1]:0"] {
            let socket = UdpSocket::bind(local).unwrap();
            let fd = socket.as_raw_fd();
            sys::set_option(fd, libc::SOL_SOCKET, libc::SO_ZEROCOPY, 1).unwrap();
            socket.connect(socket.local_addr().unwrap()).unwrap();
            let bytes = crate::message::Buffer::pattern(1400);
            assert_eq!(sys::send_flags(fd, bytes.as_ref(), libc::MSG_ZEROCOPY), 1400);
            assert_eq!(wait(fd), Notice::Done { first: 0, last: 0, copied: true });
        }
    }
}
