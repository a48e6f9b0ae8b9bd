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
    pub(crate) fn setup(call: &str, what: impl fmt::Display, error: &io::Error) -> Self {
        let errno = errno_of(error);
        Self::Setup(format!("{call} for {what}: {}{}", error_text(errno), remedy(errno)))
    }

    pub(crate) fn mismatch(peer: &str, got: impl fmt::Display, wanted: impl fmt::Display) -> Self {
        Self::Setup(format!("the {peer} sent {got}, but {wanted}: start both ends with the same workload"))
    }

    pub(crate) fn flow(flow: usize, what: impl Into<String>) -> Self {
        Self::Flow { flow: u32::try_from(flow).unwrap_or(u32::MAX), what: what.into() }
    }

    pub(crate) fn call(flow: usize, call: &'static str, peer: SocketAddr, errno: i32) -> Self {
        Self::flow(flow, format!("{call} with {peer}: {}{}", error_text(errno), remedy(errno)))
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

pub(crate) fn errno_of(error: &io::Error) -> i32 {
    // Errors of std, such as a connect that timed out, have no number.
    let timed_out = error.kind() == io::ErrorKind::TimedOut;
    error.raw_os_error().unwrap_or(if timed_out { libc::ETIMEDOUT } else { libc::EINVAL })
}

pub(crate) fn error_text(errno: i32) -> String {
    // The number that std appends is told once, by the name that manual pages have for it.
    let text = io::Error::from_raw_os_error(errno).to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    // It stands within a sentence.
    let (first, rest) = text.split_at(text.len().min(1));
    format!("{}{rest} (errno {errno})", first.to_lowercase())
}

fn remedy(errno: i32) -> &'static str {
    match errno {
        libc::EMFILE | libc::ENFILE => {
            "; each flow is an open file at either end: raise the limit of open files (`ulimit -n`, `ulimit -Hn`) or use fewer flows"
        }
        libc::EADDRNOTAVAIL => {
            "; no interface that is up has this address: assign it to an interface, or correct it"
        }
        libc::EACCES => "; a port below 1024 needs a privilege, a firewall may refuse: use another port",
        libc::ENETUNREACH | libc::EHOSTUNREACH => {
            "; no route: check both ends' addresses, that the link is up, and the MTU"
        }
        libc::ECONNREFUSED => "; nothing listens there: the receiver has ended or was never started",
        libc::ETIMEDOUT => "; no answer: check that the receiver runs and the link is up",
        libc::ECONNRESET | libc::EPIPE => "; the other end closed the connection: find out there why",
        libc::EMSGSIZE => "; the message is too large for the path: use a smaller `message` or a larger MTU",
        libc::EPERM => "; a firewall rule or a missing privilege forbids it",
        libc::ENOBUFS | libc::ENOMEM => "; the kernel is short of memory: use fewer flows or smaller buffers",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_the_thing_the_place_and_the_way_out() {
        let peer = "192.0.2.1:5201".parse().unwrap();
        let error = Error::call(3, "send", peer, libc::ECONNREFUSED);
        assert_eq!(
            error.to_string(),
            "flow 3: send with 192.0.2.1:5201: connection refused (errno 111); nothing listens there: the receiver has ended or was never started"
        );
    }

    #[test]
    fn a_timeout_without_a_number_is_still_a_timeout() {
        assert_eq!(errno_of(&io::ErrorKind::TimedOut.into()), libc::ETIMEDOUT);
    }
}
