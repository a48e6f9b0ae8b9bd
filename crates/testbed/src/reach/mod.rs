//! Reaching a host: how the controller starts an agent on a machine where nothing is installed.
//!
//! [`RemoteHost`] is the connection to a host, which a [`Launcher`] reaches: it brings this program
//! there, has its checksum compared, starts agents, and leaves nothing behind.

mod binary;
mod boot;
mod control_socket;
mod launcher;
mod reboot;
mod remote_host;
mod script;
mod session;

use std::{panic, thread};

pub use binary::Binary;
pub use boot::HostBoot;
pub use launcher::{HostSpec, HostSpecError, Launcher};
pub(crate) use reboot::{Restart, await_all, look_all, reboot_all, restart_with_default};
pub use remote_host::{ConnectionAddresses, ProgramOutput, RemoteHost, Retention};
pub(crate) use session::{PipedCommand, TO_ANSWER, look_until};

fn in_parallel<T: Sync, R: Send>(all: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    thread::scope(|scope| {
        let threads: Vec<_> = all.iter().map(|one| scope.spawn(|| work(one))).collect();
        threads
            .into_iter()
            .map(|one| one.join().unwrap_or_else(|cause| panic::resume_unwind(cause)))
            .collect()
    })
}
