//! What a condition asks of a virtual machine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use words::{Word, display_as_word};

/// A virtual machine: its kernel, and what it is given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guest {
    /// Its kernel: a path to an image, a directory with `boot/` and `lib/modules/`, or the name of a package that
    /// `netassay kernel fetch` unpacked; `None`: the image of the kernel that runs here.
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

/// The network interface of a virtual machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Nic {
    /// Made for virtual machines: guest and host share rings, and the host takes over checksums and segmentation.
    VirtioNet,
    /// A model of Intel's 82574L: every register access is a way out of the guest.
    E1000e,
}

impl Word for Nic {
    const WHAT: &'static str = "a network interface of a guest";
    const WORDS: &'static [(&'static str, Self)] =
        &[("virtio-net", Self::VirtioNet), ("e1000e", Self::E1000e)];
}
display_as_word!(Nic);

/// Who executes a guest's instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Acceleration {
    /// The processor where a guest boots under KVM, else software.
    Auto,
    /// The processor, or no guest at all.
    Kvm,
    /// Software (QEMU's TCG).
    Emulation,
}

impl Word for Acceleration {
    const WHAT: &'static str = "an acceleration";
    const WORDS: &'static [(&'static str, Self)] =
        &[("auto", Self::Auto), ("kvm", Self::Kvm), ("emulation", Self::Emulation)];
}
display_as_word!(Acceleration);

/// How an emulated guest's kernel copies and clears memory, which is up to what its processor says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Copies {
    /// By eight bytes, in loops or by `rep movsq`: the processor does not say that its string instructions of bytes are fast.
    Words,
    /// By `rep movsb` and `rep stosb`, of which an emulator counts every byte as an instruction.
    Bytes,
}

impl Word for Copies {
    const WHAT: &'static str = "a way to copy";
    const WORDS: &'static [(&'static str, Self)] = &[("words", Self::Words), ("bytes", Self::Bytes)];
}
display_as_word!(Copies);
