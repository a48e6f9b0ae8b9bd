//! The description of a guest before it starts.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use words::{Acceleration, Copies, Nic};

use crate::guest::kernel::Kernel;

/// A guest before it starts. Sent to another machine, it lacks [`packed`](GuestOrder::packed).
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct GuestOrder {
    /// The guest in messages, such as "transmitter".
    pub name: String,
    pub kernel: Kernel,
    pub command_line: String,
    pub vcpus: u32,
    pub memory_mib: u32,
    pub nic: Nic,
    /// An existing tap in the network namespace of `place`; `None`: no network card.
    pub tap: Option<String>,
    pub mac: [u8; 6],
    /// Its agents, each at its own port; 1 to 30.
    pub ports: usize,
    pub acceleration: Acceleration,
    /// Emulates one virtual CPU, counts its instructions as time, and has no outside randomness.
    pub exact: bool,
    /// (emulation) how its kernel copies.
    pub copies: Copies,
    /// The program that becomes `/init`: netassay itself. Statically linked.
    #[serde(skip)]
    pub program: PathBuf,
    /// Optional modules beside those of its devices, such as `veth`.
    #[serde(skip)]
    pub modules: &'static [&'static str],
    /// The initramfs, already packed; `None`: it is packed at the start.
    pub packed: Option<PathBuf>,
    /// QEMU enters the network namespace of this process (if `rootless`, its user namespace too).
    #[serde(skip)]
    pub place: Option<u32>,
    #[serde(skip)]
    pub rootless: bool,
    /// CPUs of the host for the threads of the virtual CPUs; empty: not pinned.
    pub pin: Vec<u32>,
}
