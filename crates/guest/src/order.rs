//! What a guest is to be.

use std::fmt;
use std::path::PathBuf;

use words::{Acceleration, Copies, Nic};

use crate::kernel::Kernel;

/// What runs the guest's instructions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Accelerated {
    /// The machine's own processor.
    Kvm,
    /// QEMU's translator.
    Emulation {
        /// Why it is not KVM.
        why: String,
    },
}

impl fmt::Display for Accelerated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kvm => f.write_str("KVM"),
            Self::Emulation { why } => write!(f, "emulation ({why})"),
        }
    }
}

/// All that is said about a guest before it starts.
#[derive(Debug, Clone)]
pub struct Order {
    /// The guest in messages, such as "transmitter".
    pub name: String,
    /// What it boots.
    pub kernel: Kernel,
    /// Appended to the kernel's command line.
    pub command_line: String,
    /// Its virtual CPUs; at least 1.
    pub vcpus: u32,
    /// Its memory in MiB.
    pub memory_mib: u32,
    /// Its network card, if it has a [`tap`](Order::tap).
    pub nic: Nic,
    /// An existing tap interface in the network namespace of [`place`](Order::place), to which the
    /// network card is joined; `None`: no network card.
    pub tap: Option<String>,
    /// The card's address.
    pub mac: [u8; 6],
    /// How many agents it has, each at a port of its own; 1 to 30.
    pub ports: usize,
    /// What is to run it.
    pub acceleration: Acceleration,
    /// Exact mode: one virtual CPU whose instructions are counted, a clock that counts with them,
    /// and no randomness from outside. It forces emulation.
    pub exact: bool,
    /// (emulation) how its kernel copies.
    pub copies: Copies,
    /// The program that becomes `/init`: netassay itself. Statically linked.
    pub program: PathBuf,
    /// Modules that the guest needs beside those of its devices, such as `veth`.
    pub modules: &'static [&'static str],
    /// Modules without which it is of no use: of each group one at least, as a file or built in.
    pub needed: &'static [&'static [&'static str]],
    /// A process in whose network namespace (and user namespace, if [`rootless`](Order::rootless))
    /// QEMU runs.
    pub place: Option<u32>,
    /// Enter the user namespace of `place` too.
    pub rootless: bool,
    /// CPUs of the host to which the threads of the virtual CPUs are pinned; empty: none.
    pub pin: Vec<u32>,
}
