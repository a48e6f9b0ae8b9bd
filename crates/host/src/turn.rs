//! One measuring session at a time on a machine.

use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::sockopt::PeerCredentials;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, UnixAddr, connect, getsockopt, socket};

use crate::error::Error;

/// How often a session checks that cannot be woken, because it is not connected.
const LOOK: Duration = Duration::from_millis(500);

/// The right to measure on this machine, until it is dropped or the process ends.
///
/// It is a name in the abstract namespace of Unix sockets, for one network namespace and all users
/// in it: no file to be removed, and no port. Containers with a network namespace of their own do
/// not see each other.
#[derive(Debug)]
pub struct Turn {
    _name: UnixListener,
}

/// The session that has the turn.
#[derive(Debug)]
pub struct Holder {
    /// Its process; `None` if unknown, because its queue of connections is full.
    pub pid: Option<i32>,
    /// Its command line, without the program's directory; `None` where `/proc` hides it.
    pub command: Option<String>,
    name: String,
    connection: Option<OwnedFd>,
}

impl Turn {
    /// Takes the turn, or names the session that has it.
    ///
    /// # Errors
    /// If sockets are not available.
    pub fn take() -> Result<Result<Self, Holder>, Error> {
        Self::take_named("netassay/turn").map_err(|errno| {
            let what = "cannot find out whether another netassay session measures on this machine";
            Error::failed(what, errno, "")
        })
    }

    fn take_named(name: &str) -> io::Result<Result<Self, Holder>> {
        let address = SocketAddr::from_abstract_name(name)?;
        loop {
            match UnixListener::bind_addr(&address) {
                Ok(name) => return Ok(Ok(Self { _name: name })),
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
                Err(error) => return Err(error),
            }
            match ask(name) {
                // It ended in between.
                Err(Errno::ECONNREFUSED) => {}
                asked => return Ok(Err(Holder::at(name, asked)?)),
            }
        }
    }
}

/// Connects to the session of that name. Nobody accepts, so each connection stays in the listener's
/// queue, even closed, until the session ends; with a full queue this fails with `EAGAIN` at once.
fn ask(name: &str) -> nix::Result<OwnedFd> {
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    let connection = socket(AddressFamily::Unix, SockType::Stream, flags, None)?;
    connect(connection.as_raw_fd(), &UnixAddr::new_abstract(name.as_bytes())?)?;
    Ok(connection)
}

impl Holder {
    fn at(name: &str, asked: nix::Result<OwnedFd>) -> io::Result<Self> {
        let connection = match asked {
            Err(Errno::EAGAIN) => None,
            asked => Some(asked?),
        };
        let credentials = connection.as_ref().map(|end| getsockopt(end, PeerCredentials)).transpose()?;
        let pid = credentials.map(|session| session.pid());
        Ok(Self { pid, command: pid.and_then(command), name: name.to_owned(), connection })
    }

    /// Waits until this session has ended, `interrupt` is readable, or `patience` is over. Returns
    /// true if it has ended, or may have: request the turn again.
    #[must_use]
    pub fn ends_within(&self, patience: Duration, interrupt: BorrowedFd<'_>) -> bool {
        if let Some(connection) = &self.connection {
            // The end of the session hangs up on its connections.
            return wait(patience, [connection.as_fd(), interrupt])[0];
        }
        let begun = Instant::now();
        loop {
            if !matches!(ask(&self.name), Err(Errno::EAGAIN)) {
                return true;
            }
            let left = patience.saturating_sub(begun.elapsed());
            if left.is_zero() || wait(left.min(LOOK), [interrupt])[0] {
                return false;
            }
        }
    }
}

/// Waits until one of these is readable or hung up, for `time` at most; returns which of them.
fn wait<const N: usize>(time: Duration, fds: [BorrowedFd<'_>; N]) -> [bool; N] {
    let time = PollTimeout::try_from(time).unwrap_or(PollTimeout::MAX);
    let mut watched = fds.map(|fd| PollFd::new(fd, PollFlags::POLLIN));
    let any = poll(&mut watched, time).is_ok();
    watched.map(|fd| any && fd.any().unwrap_or(false))
}

impl std::fmt::Display for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.pid, &self.command) {
            (Some(pid), Some(command)) => write!(f, "process {pid} ({command})"),
            (Some(pid), None) => write!(f, "process {pid}"),
            (None, _) => write!(f, "an unknown process (too many others asked it for its name)"),
        }
    }
}

fn command(pid: i32) -> Option<String> {
    let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let line = String::from_utf8_lossy(&line);
    let mut words = line.split_terminator('\0');
    let program = words.next()?.rsplit('/').next()?;
    let words: Vec<&str> = std::iter::once(program).chain(words).collect();
    Some(text::line(&words.join(" ")).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    #[test]
    fn one_has_the_turn_and_the_others_learn_who() {
        let name = format!("netassay/test/{}", std::process::id());
        let take = || Turn::take_named(&name).unwrap();
        let (quiet, loud) = UnixStream::pair().unwrap();
        let turn = take().unwrap();
        let holder = take().unwrap_err();
        assert_eq!(holder.pid, i32::try_from(std::process::id()).ok());
        assert!(holder.command.as_deref().is_some_and(|command| !command.contains('/')), "{holder}");
        assert!(!holder.ends_within(Duration::ZERO, quiet.as_fd()));
        drop(turn);
        assert!(holder.ends_within(Duration::from_secs(60), quiet.as_fd()));
        let again = take().unwrap();
        let holder = take().unwrap_err();
        drop(loud);
        assert!(!holder.ends_within(Duration::from_secs(60), quiet.as_fd()));
        drop(again);
    }

    #[test]
    fn asking_does_not_wait_where_the_queue_is_full() {
        let name = format!("netassay/test/full/{}", std::process::id());
        let take = || Turn::take_named(&name).unwrap();
        let (quiet, _loud) = UnixStream::pair().unwrap();
        let turn = take().unwrap();
        // Closed connections stay in the queue.
        let full = (0..1 << 20).find_map(|_| ask(&name).err());
        assert_eq!(full, Some(Errno::EAGAIN));
        let holder = take().unwrap_err();
        assert_eq!(holder.pid, None);
        assert!(!holder.ends_within(Duration::ZERO, quiet.as_fd()));
        drop(turn);
        assert!(holder.ends_within(Duration::from_secs(60), quiet.as_fd()));
        drop(take().unwrap());
    }
}
