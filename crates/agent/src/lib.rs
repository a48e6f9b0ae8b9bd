//! The agent: the process inside a host that builds its end of the wire, sets and reads back its
//! switches, drives its side of the traffic and counts what that cost, as the controller asks over
//! standard input.
//!
//! [`message`] holds the words of the protocol, [`LineReader`] how they travel, [`serve`] is the
//! agent's side of the conversation and [`Client`] the controller's. There is no listening control
//! port anywhere: the process that holds the agent's two pipes is its controller, and no other can
//! be.

mod bounded;
mod bounds;
mod call_error;
mod client;
mod controller;
mod exact;
mod frame;
#[cfg(feature = "fuzz")]
pub mod fuzz;
pub mod init;
mod interrupt;
mod launch;
mod machine;
pub mod message;
mod refusal;
mod series;
mod serve;
mod session;
mod traffic;
mod watch;

pub use bounded::{Bounded, Excess};
pub use call_error::CallError;
pub use client::Client;
pub use frame::{FrameError, LineReader, MAX_FRAME, decode, encode};
pub use interrupt::Interrupt;
pub use launch::{Isolation, Launch};
pub use serve::{ServeError, serve};
