//! Calls that move data.

use std::os::fd::RawFd;

use super::destination::Target;

/// Sends a datagram to its destination. Returns the kernel's result: bytes, or -1 with `errno` set.
#[inline(always)]
pub(crate) fn send_to(fd: RawFd, bytes: &[u8], flags: libc::c_int, to: Target<'_>) -> isize {
    let flags = flags | libc::MSG_NOSIGNAL;
    // SAFETY: pointer and length are those of `bytes`, those of the address are `to`'s; both
    // outlive the call.
    unsafe {
        libc::syscall(libc::SYS_sendto, fd, bytes.as_ptr(), bytes.len(), flags, to.address, to.len) as isize
    }
}

/// Sends on a connected socket. Returns the kernel's result: bytes, or -1 with `errno` set.
#[inline(always)]
pub(crate) fn send(fd: RawFd, bytes: &[u8]) -> isize {
    send_flags(fd, bytes, 0)
}

/// Sends with flags.
#[inline(always)]
pub(crate) fn send_flags(fd: RawFd, bytes: &[u8], flags: libc::c_int) -> isize {
    let none = std::ptr::null::<libc::sockaddr>();
    let flags = flags | libc::MSG_NOSIGNAL;
    // SAFETY: pointer and length are those of `bytes`, which outlives the call; a connected socket
    // needs no address.
    unsafe { libc::syscall(libc::SYS_sendto, fd, bytes.as_ptr(), bytes.len(), flags, none, 0) as isize }
}

/// Receives from a connected socket. Returns the kernel's result: bytes, 0 at the end, or -1 with
/// `errno` set.
#[inline(always)]
pub(crate) fn receive(fd: RawFd, room: &mut [u8], flags: libc::c_int) -> isize {
    let none = std::ptr::null::<libc::sockaddr>();
    // SAFETY: pointer and length are those of `room`, which outlives the call; null means no
    // address.
    unsafe {
        libc::syscall(libc::SYS_recvfrom, fd, room.as_mut_ptr(), room.len(), flags, none, none) as isize
    }
}

/// Bytes of the largest address of a datagram's sender (`sockaddr_in6`).
pub(crate) const NAME: usize = size_of::<libc::sockaddr_in6>();

/// Receives a datagram and its sender's address.
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

/// Waits for ready sockets, at most `millis`. Returns their number, or -1 with `errno` set.
#[inline(always)]
pub(crate) fn epoll_wait(epoll: RawFd, events: &mut [libc::epoll_event], millis: libc::c_int) -> isize {
    let none = std::ptr::null::<libc::sigset_t>();
    let room = events.len() as libc::c_int;
    // SAFETY: pointer and length are those of `events`, which outlives the call; there is no signal
    // mask.
    unsafe {
        libc::syscall(libc::SYS_epoll_pwait, epoll, events.as_mut_ptr(), room, millis, none, 0usize) as isize
    }
}

/// Sends from a file. Returns bytes and advances `offset`, or -1 with `errno` set.
#[inline(always)]
pub(crate) fn send_file(fd: RawFd, from: RawFd, offset: &mut libc::off_t, len: usize) -> isize {
    // SAFETY: `offset` is borrowed; the rest are numbers.
    unsafe { libc::syscall(libc::SYS_sendfile, fd, from, &raw mut *offset, len) as isize }
}
