//! Reaching a host: how the controller starts an agent on a machine where nothing is installed.
//!
//! A host is anything that gives an agent's standard input and output ([`Launcher`]): OpenSSH's
//! `ssh`, or any command that runs a shell elsewhere. [`Reached`] is the connection to one: it
//! brings this program there, has its checksum compared, starts agents, and leaves nothing behind.

mod binary;
mod boot;
mod control;
mod error;
mod kernels;
mod launcher;
mod lines;
mod reached;
mod reboot;
mod said;
mod script;
mod session;
mod spec;
mod start;

pub use binary::Binary;
pub use boot::Boot;
pub use error::Error;
pub use kernels::Kernels;
pub use launcher::Launcher;
pub use reached::{Connection, Ran, Reached, Stay};
pub use reboot::{Restart, reboot_all, to_default};
pub use said::Said;
pub use spec::{HostSpec, SpecError};
pub use start::{Start, Started};
