//! Socket options that a workload may request, and the fallbacks.

use crate::note::Note;
use std::net::IpAddr;
use std::os::fd::AsRawFd;
use std::time::Duration;

use socket2::Socket;

use super::keyed::mark;
use crate::error::Result;
use crate::sys;

/// The most packets of one poll of the device's queue (`SO_BUSY_POLL_BUDGET`): those of an ordinary
/// one (`NAPI_POLL_WEIGHT` of linux/netdevice.h). The kernel's default of 8 for busy polling leaves
/// bursts to interrupts.
const BUDGET: libc::c_int = 64;

/// Sets the priority of an accepted socket's mark: it inherits only the mark (`sk_clone_lock` in
/// net/core/sock.c). Over IPv6 a mark has no priority.
pub(crate) fn prioritize(socket: &Socket, local: IpAddr, dscp: u8) -> Result<()> {
    if local.is_ipv6() {
        return Ok(());
    }
    // The kernel ignores a mark that is set already.
    mark(socket, 0, &"an accepted connection")?;
    mark(socket, dscp, &"an accepted connection")
}

/// Makes waits for data poll the device's queue for `time` before the thread sleeps. Returns a note
/// if that was not applied, with the reason and the fallback.
pub(crate) fn poll_busily(socket: &Socket, time: Duration) -> Option<Note> {
    let fd = socket.as_raw_fd();
    let micros = libc::c_int::try_from(time.as_micros()).unwrap_or(libc::c_int::MAX);
    let options = [
        ("SO_BUSY_POLL", libc::SO_BUSY_POLL, micros),
        ("SO_PREFER_BUSY_POLL", libc::SO_PREFER_BUSY_POLL, 1),
        ("SO_BUSY_POLL_BUDGET", libc::SO_BUSY_POLL_BUDGET, BUDGET),
    ];
    for (name, option, value) in options {
        if let Err(error) = sys::set_option(fd, libc::SOL_SOCKET, option, value) {
            // All or nothing: a part of it would be another mode.
            let _ = sys::set_option(fd, libc::SOL_SOCKET, libc::SO_BUSY_POLL, 0);
            let reason = match error.raw_os_error() {
                Some(libc::EPERM) => "it needs the privilege CAP_NET_ADMIN".to_owned(),
                Some(libc::ENOPROTOOPT) => "this kernel was built without it".to_owned(),
                _ => error.to_string(),
            };
            return Some(Note::NoBusyPolling { option: name.to_owned(), why: reason });
        }
    }
    None
}

/// Why active busy polling had no effect for a socket that has received something.
pub(crate) fn polled_nothing(socket: &Socket) -> Option<Note> {
    if matches!(sys::option_number(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_BUSY_POLL), Ok(0)) {
        return None;
    }
    match sys::option_number(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_INCOMING_NAPI_ID) {
        Ok(0) => Some(Note::NothingToPoll),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use socket2::{Domain, Type};

    #[test]
    fn a_socket_that_received_nothing_has_no_queue() {
        let socket = Socket::new(Domain::IPV4, Type::DGRAM, None).unwrap();
        assert_eq!(polled_nothing(&socket), None, "it was not asked to poll");
        match poll_busily(&socket, Duration::from_micros(50)) {
            None => assert_eq!(polled_nothing(&socket), Some(Note::NothingToPoll)),
            Some(note) => {
                assert!(note.to_string().contains("CAP_NET_ADMIN"), "{note}");
                assert_eq!(polled_nothing(&socket), None);
            }
        }
    }
}
