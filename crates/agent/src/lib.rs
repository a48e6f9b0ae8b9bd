//! The agent, the process inside a host that builds its end of the path, drives its side of the
//! traffic and counts the cost. Requests reach it over standard input: no control port listens. The
//! protocol is [`message`]; [`serve`] is the agent's side of it and [`Client`] the controller's.

mod client;
mod controller;
mod error;
mod exact;
mod frame;
#[cfg(feature = "fuzz")]
#[path = "../fuzz/conversation.rs"]
pub mod fuzz;
pub mod init;
mod interfaces;
mod interrupt;
mod keepalive;
mod launch;
mod machine;
pub mod message;
mod read_limiter;
mod relay;
mod series;
mod serve;
mod session;
mod trace;
mod turns;
mod undo_process;
mod watch;
mod workload_side;

pub use client::Client;
pub use controller::await_lease_end;
pub use error::{CallError, ServeError};
pub use frame::{
    FrameError, LineReader, MAX_FRAME, NO_REQUEST, RequestHeader, answer_line, decode, encode, read_answer,
};
pub use interrupt::{Interrupt, Wake};
pub use keepalive::repeat;
pub use launch::{Isolation, Launch};
pub use read_limiter::ReadLimiter;
pub use relay::Relay;
pub use serve::serve;
pub use watch::is_vcpu;
