//! One measuring session at a time on a machine.

use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};

use crate::error::Error;

/// The right to measure on this machine, until it is dropped or the process ends, however it ends.
///
/// It is a name in the abstract namespace of Unix sockets, which holds for one network namespace, whoever the users in it are. The name is
/// no file, so nothing is left to be removed, and no port. Containers with a network namespace of their own do not see each other.
#[derive(Debug)]
pub struct Turn {
    _name: UnixListener,
}

/// The session that has the turn.
#[derive(Debug)]
pub struct Holder {
    /// Its process.
    pub pid: i32,
    /// Its command line, the program's name without its directory; `None` where `/proc` hides it.
    pub command: Option<String>,
    connection: UnixStream,
}

impl Turn {
    /// Takes the turn, or says who has it.
    ///
    /// # Errors
    /// [`Error::Turn`] if sockets cannot be had here.
    pub fn take() -> Result<Result<Self, Holder>, Error> {
        Self::take_named("netassay/turn").map_err(|errno| Error::Turn { errno })
    }

    fn take_named(name: &str) -> io::Result<Result<Self, Holder>> {
        let address = SocketAddr::from_abstract_name(name)?;
        loop {
            match UnixListener::bind_addr(&address) {
                Ok(name) => return Ok(Ok(Self { _name: name })),
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
                Err(error) => return Err(error),
            }
            match UnixStream::connect_addr(&address) {
                Ok(connection) => return Holder::at(connection).map(Err),
                // It ended in between.
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Holder {
    fn at(connection: UnixStream) -> io::Result<Self> {
        let pid = getsockopt(&connection, PeerCredentials)?.pid();
        Ok(Self { pid, command: command(pid), connection })
    }

    /// Waits until this session has ended, `interrupt` can be read, or `patience` is over. Whether it has ended.
    #[must_use]
    pub fn ends_within(&self, patience: Duration, interrupt: BorrowedFd<'_>) -> bool {
        let patience = PollTimeout::try_from(patience).unwrap_or(PollTimeout::MAX);
        // The name's end hangs up on those who connected to it.
        let mut watched = [self.connection.as_fd(), interrupt].map(|fd| PollFd::new(fd, PollFlags::POLLIN));
        poll(&mut watched, patience).is_ok() && watched[0].any().unwrap_or(false)
    }
}

impl std::fmt::Display for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.command {
            Some(command) => write!(f, "process {} ({command})", self.pid),
            None => write!(f, "process {}", self.pid),
        }
    }
}

fn command(pid: i32) -> Option<String> {
    let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let line = String::from_utf8_lossy(&line);
    let mut words = line.split_terminator('\0');
    let program = words.next()?.rsplit('/').next()?;
    let words: Vec<String> = std::iter::once(program)
        .chain(words)
        .map(|word| word.chars().filter(|letter| !letter.is_control()).collect())
        .collect();
    Some(words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_has_the_turn_and_the_others_are_told_who() {
        let name = format!("netassay/test/{}", std::process::id());
        let take = || Turn::take_named(&name).unwrap();
        let (quiet, loud) = UnixStream::pair().unwrap();
        let turn = take().unwrap();
        let holder = take().unwrap_err();
        assert_eq!(holder.pid, i32::try_from(std::process::id()).unwrap());
        assert!(holder.command.as_deref().is_some_and(|command| !command.contains('/')), "{holder}");
        assert!(!holder.ends_within(Duration::ZERO, quiet.as_fd()));
        drop(turn);
        assert!(holder.ends_within(Duration::from_secs(60), quiet.as_fd()));
        let again = take().unwrap();
        // A wait ends with an interrupt, too.
        let holder = take().unwrap_err();
        drop(loud);
        assert!(!holder.ends_within(Duration::from_secs(60), quiet.as_fd()));
        drop(again);
    }
}
