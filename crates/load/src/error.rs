//! Errors of workloads, with remedies.

use std::net::SocketAddr;
use std::{fmt, io};

/// The result of everything here that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a workload could not be opened, or ended early.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The traffic does not support a key's value.
    #[error(transparent)]
    Misfit(#[from] words::Misfit),
    /// A [`crate::Spec`] is invalid, a step is out of order, or sockets could not be opened, set up
    /// or joined with their peers: the problem and the remedy.
    #[error("{0}")]
    Setup(String),
    /// A flow, or the thread that serves it, failed.
    #[error("flow {flow}: {what}")]
    Flow {
        /// The flow; of several of a thread, the first.
        flow: u32,
        /// The failure, and the remedy.
        what: String,
    },
}

impl Error {
    #[cold]
    pub(crate) fn setup(call: &'static str, what: impl fmt::Display, error: &io::Error) -> Self {
        let errno = Errno::from_error(error);
        Self::Setup(format!("{call} for {what}: {errno}{}", errno.way_out()))
    }

    /// The addresses that `peer`, the receiver or the transmitter, sent do not fit this end's
    /// workload.
    pub(crate) fn mismatch(peer: &str, got: impl fmt::Display, wanted: impl fmt::Display) -> Self {
        Self::Setup(format!("the {peer} sent {got}, but {wanted}: start both ends with the same workload"))
    }

    pub(crate) fn flow(flow: usize, what: impl Into<String>) -> Self {
        Self::Flow { flow: u32::try_from(flow).unwrap_or(u32::MAX), what: what.into() }
    }

    pub(crate) fn call(flow: usize, call: &'static str, peer: SocketAddr, errno: Errno) -> Self {
        Self::flow(flow, format!("{call} with {peer}: {errno}{}", errno.way_out()))
    }

    pub(crate) fn no_port(flow: usize, peer: SocketAddr) -> Self {
        Self::flow(flow, format!("no local port is free to connect to {peer}: {MORE_PORTS}"))
    }
}

pub(crate) const MORE_PORTS: &str = "widen the sysctl net.ipv4.ip_local_port_range or use fewer flows";

pub(crate) trait Context<T> {
    fn or_setup(self, call: &'static str, what: impl fmt::Display) -> Result<T>;
}

impl<T, E: Into<io::Error>> Context<T> for std::result::Result<T, E> {
    #[inline]
    fn or_setup(self, call: &'static str, what: impl fmt::Display) -> Result<T> {
        self.map_err(|error| Error::setup(call, what, &error.into()))
    }
}

/// An error number of the kernel. Displays as its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Errno(pub(crate) i32);

impl Errno {
    pub(crate) fn from_error(error: &io::Error) -> Self {
        // Errors of std, such as a connect that timed out, have no number.
        let timed_out = error.kind() == io::ErrorKind::TimedOut;
        Self(error.raw_os_error().unwrap_or(if timed_out { libc::ETIMEDOUT } else { libc::EINVAL }))
    }

    /// The remedy of an error, ready to be appended to it.
    fn way_out(self) -> &'static str {
        match self.0 {
            libc::EMFILE | libc::ENFILE => {
                "; each flow is an open file at either end: raise the limit of open files (`ulimit -n`, `ulimit -Hn`) or use fewer flows"
            }
            libc::EADDRNOTAVAIL => {
                "; no interface that is up has this address: assign it to an interface, or correct it"
            }
            libc::EACCES => "; a port below 1024 needs a privilege, a firewall may refuse: use another port",
            libc::EADDRINUSE => "; use another port or leave `port` out of the workload",
            libc::ENETUNREACH | libc::EHOSTUNREACH => {
                "; no route: check both ends' addresses, that the link is up, and the MTU"
            }
            libc::ECONNREFUSED => "; nothing listens there: the receiver has ended or was never started",
            libc::ETIMEDOUT => "; no answer: check that the receiver runs and the link is up",
            libc::ECONNRESET | libc::EPIPE => "; the other end closed the connection: find out there why",
            libc::EMSGSIZE => {
                "; the message is too large for the path: use a smaller `message` or a larger MTU"
            }
            libc::ENETDOWN | libc::ENODEV | libc::ENXIO => "; the interface went down or vanished",
            libc::EPERM => "; a firewall rule or a missing privilege forbids it",
            libc::ENOBUFS | libc::ENOMEM => {
                "; the kernel is short of memory: use fewer flows or smaller buffers"
            }
            libc::EAFNOSUPPORT => "; this kernel does not support this address family: use the other one",
            _ => "",
        }
    }
}

impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = io::Error::from_raw_os_error(self.0).to_string();
        let text = text.split(" (os error").next().unwrap_or(&text);
        let mut letters = text.chars();
        if let Some(first) = letters.next() {
            write!(f, "{}{}", first.to_lowercase(), letters.as_str())?;
        }
        write!(f, " (errno {})", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_the_thing_the_place_and_the_way_out() {
        let peer = "192.0.2.1:5201".parse().unwrap();
        let error = Error::call(3, "send", peer, Errno(libc::ECONNREFUSED));
        assert_eq!(
            error.to_string(),
            "flow 3: send with 192.0.2.1:5201: connection refused (errno 111); nothing listens there: the receiver has ended or was never started"
        );
    }

    #[test]
    fn a_timeout_without_a_number_is_still_a_timeout() {
        assert_eq!(Errno::from_error(&io::ErrorKind::TimedOut.into()), Errno(libc::ETIMEDOUT));
    }
}
