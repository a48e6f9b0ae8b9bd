//! The system calls of the hot loops, and a few others that std, nix and socket2 lack.
//!
//! Calls of the loops go through `syscall(2)`: glibc's wrappers of `send` and `recv` are
//! cancellation points, which in a program with threads costs two atomic exchanges per call.

mod calls;
mod clock;
mod descriptors;
mod destination;
pub(crate) mod error_queue;
pub(crate) mod headers;
mod option;
mod thread;

use std::io;

pub(crate) use calls::{NAME, epoll_wait, receive, receive_from, send, send_file, send_flags, send_to};
pub(crate) use clock::{now, sharpen_timers, sleep_until, wait_for};
pub(crate) use descriptors::{make_room_for_descriptors, own_descriptors};
pub(crate) use destination::{Destination, Target};
pub(crate) use option::{UDP_GRO, option, option_number, set_option, set_option_bytes};
pub(crate) use thread::{MAX_CPUS, pin, place_of};

/// The error of the last system call of this thread.
pub(crate) fn errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

pub(crate) fn check(done: libc::c_int) -> io::Result<libc::c_int> {
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(done) }
}
