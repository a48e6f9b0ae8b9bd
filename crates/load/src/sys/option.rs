//! Socket options.

use std::io;
use std::os::fd::RawFd;

use super::check;

/// `UDP_GRO` of linux/udp.h.
pub(crate) const UDP_GRO: libc::c_int = 104;

pub(crate) fn set_option(
    fd: RawFd,
    level: libc::c_int,
    name: libc::c_int,
    value: libc::c_int,
) -> io::Result<()> {
    set_option_bytes(fd, level, name, &value.to_ne_bytes())
}

/// Sets a socket option of another type than `int`.
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

/// Reads a socket option into `room`; returns the number of bytes.
pub(crate) fn option(fd: RawFd, level: libc::c_int, name: libc::c_int, room: &mut [u8]) -> io::Result<usize> {
    let mut len = room.len() as libc::socklen_t;
    // SAFETY: pointer and length are those of `room`; the kernel writes at most that and returns
    // the length.
    let done = unsafe { libc::getsockopt(fd, level, name, room.as_mut_ptr().cast(), &raw mut len) };
    check(done).map(|_| (len as usize).min(room.len()))
}

/// Reads a socket option that is a number.
pub(crate) fn option_number(fd: RawFd, level: libc::c_int, name: libc::c_int) -> io::Result<libc::c_int> {
    let mut room = [0; size_of::<libc::c_int>()];
    option(fd, level, name, &mut room).map(|_| libc::c_int::from_ne_bytes(room))
}
