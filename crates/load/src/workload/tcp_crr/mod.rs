//! A new TCP connection for each request and its answer.
//!
//! The receiver closes first. The end that closes first keeps the connection's remains for a minute
//! (TIME-WAIT, RFC 9293, section 3.6.1), and on the side that connects each of them would keep a
//! local port from being used again: 28,000 ports would be gone after a second. At the receiver
//! they share the listener's port, and a newcomer from the same port takes over its predecessor's
//! remains (tcp_timewait_state_process in net/ipv4/tcp_minisocks.c), so ports never run out.
//!
//! All receiving threads accept from one listener, and each serves what it accepts. No thread's
//! connections can be reached from outside; waiting in short turns ([`crate::socket::TICK`]) they
//! look at the phase themselves.

mod connection;
mod receive;
mod send;

pub(crate) use receive::receive;
pub(crate) use send::send;
