//! Bytes that a socket holds: unsent or unread ones.

use std::io;
use std::os::fd::{AsRawFd, RawFd};

use socket2::{Socket, Type};

use crate::sys::check;

/// Bytes that the socket has not sent (`SIOCOUTQ`): unacknowledged ones for TCP, queued ones for
/// UDP. A TCP connection that the peer has reset still counts bytes in transit, which nobody
/// acknowledges: use [`unsent_to_a_peer`].
fn unsent(fd: RawFd) -> io::Result<u64> {
    bytes(fd, libc::TIOCOUTQ)
}

/// As [`unsent`], and 0 for a closed TCP connection, which has no peer.
pub(crate) fn unsent_to_a_peer(socket: &Socket) -> io::Result<u64> {
    let is_gone = socket.r#type()? == Type::STREAM && socket.peer_addr().is_err();
    if is_gone { Ok(0) } else { unsent(socket.as_raw_fd()) }
}

/// Bytes that a TCP socket has received and the program has not read (`SIOCINQ`).
pub(crate) fn unread(fd: RawFd) -> io::Result<u64> {
    bytes(fd, libc::FIONREAD)
}

/// `TIOCOUTQ` and `FIONREAD` are other names of these requests.
fn bytes(fd: RawFd, request: libc::Ioctl) -> io::Result<u64> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: both requests write one int through the pointer.
    let done = unsafe { libc::ioctl(fd, request, &raw mut bytes) };
    check(done).map(|_| u64::try_from(bytes).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};
    use std::time::Duration;

    /// A transaction's end would wait for this in vain: a request to a peer that has just ended is
    /// reset.
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
}
