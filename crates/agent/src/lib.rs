//! The agent: the process inside a host that builds its end of the path, sets and reads back its
//! switches, drives its side of the traffic and counts the cost. The controller's requests reach it
//! over standard input; there is no listening control port, so only the process that holds the
//! agent's two pipes can be its controller. [`message`] has the messages of the protocol,
//! [`RequestHeader`] their headers, [`LineReader`] their frame; [`serve`] is the agent's side of
//! the conversation and [`Client`] the controller's.

mod bounds;
mod call_error;
mod client;
mod controller;
mod envelope;
mod exact;
mod frame;
#[cfg(feature = "fuzz")]
pub mod fuzz;
pub mod init;
mod interfaces;
mod interrupt;
mod keepalive;
mod launch;
mod lease;
mod machine;
pub mod message;
mod output;
mod profiler;
mod read_limiter;
mod refusal;
mod relay;
mod series;
mod serve;
mod serve_error;
mod session;
mod trace;
mod turns;
mod undo_process;
mod watch;
mod workload_side;

pub use call_error::CallError;
pub use client::Client;
pub use envelope::{NO_REQUEST, RequestHeader, answer_line, read_answer};
pub use frame::{Bounded, Excess, FrameError, LineReader, MAX_FRAME, decode, encode};
pub use interrupt::Interrupt;
pub use launch::{Isolation, Launch};
pub use lease::await_lease_end;
pub use read_limiter::ReadLimiter;
pub use relay::{Relay, RelayEnd};
pub use serve::serve;
pub use serve_error::ServeError;
pub use watch::is_vcpu;
