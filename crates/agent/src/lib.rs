//! The agent: the process inside a host that builds its end of the path, sets and reads back its
//! switches, drives its side of the traffic and counts the cost. The controller's requests reach it
//! over standard input; there is no listening control port, so only the process that holds the
//! agent's two pipes can be its controller. [`message`] has the messages of the protocol,
//! [`RequestHeader`] their headers, [`LineReader`] their frame; [`serve`] is the agent's side of
//! the conversation and [`Client`] the controller's.

mod bounded;
mod bounds;
mod call_error;
mod client;
mod controller;
mod envelope;
mod exact;
mod frame;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod guardian;
mod hold;
pub mod init;
mod interfaces;
mod interrupt;
mod keeper;
mod launch;
mod machine;
pub mod message;
mod neighbours;
mod output;
mod pace;
mod profiler;
mod refusal;
mod relay;
mod series;
mod serve;
mod serve_error;
mod session;
mod trace;
mod traffic;
mod turns;
mod watch;

pub use bounded::{Bounded, Excess};
pub use call_error::CallError;
pub use client::Client;
pub use envelope::{Asked, NO_REQUEST, answer_line, read_answer};
pub use frame::{FrameError, LineReader, MAX_FRAME, decode, encode};
pub use hold::hold;
pub use interrupt::Interrupt;
pub use launch::{Isolation, Launch};
pub use pace::Pace;
pub use relay::{Ended, Relay};
pub use serve::serve;
pub use serve_error::ServeError;
pub use watch::is_vcpu;
