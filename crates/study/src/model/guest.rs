//! What a condition asks of a virtual machine.

use serde::{Deserialize, Serialize};
use words::{Acceleration, Copies, Nic};

/// A virtual machine: its kernel, and what it is given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guest {
    /// Its kernel: a path to an image, a directory with `boot/` and `lib/modules/`, or the name of
    /// a package that `netassay kernel fetch` unpacked; `None`: the image of the kernel that runs
    /// here.
    pub kernel: Option<String>,
    /// What is added to its kernel's command line.
    pub command_line: String,
    /// Its CPUs.
    pub vcpus: u32,
    /// Its memory, in MiB (2^20 bytes).
    pub memory_mib: u32,
    /// Its network interface.
    pub nic: Nic,
    /// Who executes its instructions.
    pub acceleration: Acceleration,
    /// Whether its CPUs stay on the CPUs of its side.
    pub pin: bool,
    /// How an emulated one copies and clears memory.
    pub copies: Copies,
}

impl Default for Guest {
    fn default() -> Self {
        Self {
            kernel: None,
            command_line: String::new(),
            vcpus: 1,
            memory_mib: 512,
            nic: Nic::VirtioNet,
            acceleration: Acceleration::Auto,
            pin: true,
            copies: Copies::Words,
        }
    }
}
