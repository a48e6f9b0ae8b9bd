//! The description of a guest before it starts.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use words::{Acceleration, Copies, Nic};

use crate::guest::kernel::Kernel;

/// The description of a guest before it starts. Sent to another machine, it lacks the inputs of the
/// initramfs ([`packed`](GuestOrder::packed)).
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
    /// An existing tap interface in the network namespace of [`place`](GuestOrder::place), to which
    /// the network card is connected; `None`: no network card.
    pub tap: Option<String>,
    pub mac: [u8; 6],
    /// Its agents, each at its own port; 1 to 30.
    pub ports: usize,
    pub acceleration: Acceleration,
    /// Exact mode: one virtual CPU whose instructions are counted, a clock that counts with them,
    /// and no outside randomness. It forces emulation.
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
    /// QEMU runs in the network namespace of this process (and in its user namespace, if
    /// [`rootless`](GuestOrder::rootless)).
    #[serde(skip)]
    pub place: Option<u32>,
    #[serde(skip)]
    pub rootless: bool,
    /// CPUs of the host for the threads of the virtual CPUs; empty: not pinned.
    pub pin: Vec<u32>,
}
