//! A new TCP connection for each request and its answer.
//!
//! The receiver closes first. The end that closes first keeps the connection's state for a minute
//! (TIME-WAIT, RFC 9293, section 3.6.1); on the connecting side each would block a local port, and
//! 28,000 ports would be used up after a second. At the receiver they share the listener's port,
//! and a new connection from the same port replaces the old state (tcp_timewait_state_process in
//! net/ipv4/tcp_minisocks.c), so ports never run out.
//!
//! All receiving threads accept from one listener, and each serves what it accepts. A thread's
//! connections cannot be reached from outside, so threads wait in short turns
//! ([`crate::socket::TICK`]) and check the phase themselves.

mod connection;
mod receive;
mod send;

pub(crate) use receive::receive;
pub(crate) use send::send;
