//! Choices for a virtual machine.

use std::fmt;

use serde::{Deserialize, Serialize};

crate::vocabulary! {
    /// The network interface of a virtual machine.
    pub enum Nic: "a network interface of a guest" {
        /// Made for virtual machines: guest and host share rings, and the host does checksums and
        /// segmentation.
        VirtioNet = "virtio-net";
        /// A model of Intel's 82574L: every register access exits the guest.
        E1000e = "e1000e";
    }
}

crate::vocabulary! {
    /// How the instructions of a guest are executed.
    pub enum Acceleration: "an acceleration" {
        /// By the processor where a guest boots under KVM, else by software.
        Auto = "auto";
        /// By the processor (KVM); without KVM the guest does not boot.
        Kvm = "kvm";
        /// By software (QEMU's TCG).
        Emulation = "emulation";
    }
}

/// The accelerator that executed a guest's instructions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
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

crate::vocabulary! {
    /// How an emulated guest's kernel copies and clears memory, which is up to what its processor
    /// says of itself.
    pub enum Copies: "a way to copy" {
        /// By eight bytes, in loops or by `rep movsq`: the processor does not say that its string
        /// instructions of bytes are fast.
        Words = "words";
        /// By `rep movsb` and `rep stosb`, of which an emulator counts every byte as an
        /// instruction.
        Bytes = "bytes";
    }
}
