//! A socket's error queue: errors of the path, and completed zerocopy sends.

use std::os::fd::RawFd;

use super::headers;

/// Room for one error with an address behind it, aligned as control messages are.
const ROOM: usize = 32;

/// `SO_EE_ORIGIN_ZEROCOPY` and `SO_EE_CODE_ZEROCOPY_COPIED` of linux/errqueue.h.
const ORIGIN_ZEROCOPY: u8 = 5;
const CODE_COPIED: u8 = 1;

/// An entry of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Notice {
    /// The sends numbered `first` to `last` (modulo 2^32, counted by the kernel) are done, and
    /// whether it copied them.
    Done { first: u32, last: u32, copied: bool },
    /// An error of the path.
    Failed(i32),
}

/// Reads one entry, without waiting; `None` if there is none.
pub(crate) fn read_entry(fd: RawFd) -> Option<Notice> {
    let mut control = [0u64; ROOM];
    let mut header = headers::no_message();
    header.msg_control = control.as_mut_ptr().cast();
    header.msg_controllen = size_of_val(&control);
    // SAFETY: the header points to `control`, which outlives the call, and to nothing else.
    let got = unsafe { headers::receive_message(fd, &mut header, libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT) };
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
            // SAFETY: the message's length guarantees a whole such structure, which has no invalid
            // bits.
            let error: libc::sock_extended_err =
                unsafe { libc::CMSG_DATA(message).cast::<libc::sock_extended_err>().read_unaligned() };
            return Some(Notice::from_kernel(&error));
        }
        // SAFETY: both are of the same call.
        message = unsafe { libc::CMSG_NXTHDR(&raw const header, message) };
    }
    // An entry without an error says nothing.
    Some(Notice::Failed(0))
}

impl Notice {
    /// A range and its flag, as in Linux's Documentation/networking/msg_zerocopy.rst; else an
    /// error.
    fn from_kernel(error: &libc::sock_extended_err) -> Self {
        if error.ee_origin == ORIGIN_ZEROCOPY {
            let copied = error.ee_code & CODE_COPIED != 0;
            Self::Done { first: error.ee_info, last: error.ee_data, copied }
        } else {
            Self::Failed(i32::try_from(error.ee_errno).unwrap_or(libc::EIO))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys;
    use std::net::UdpSocket;
    use std::os::fd::AsRawFd;
    use std::time::{Duration, Instant};

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
