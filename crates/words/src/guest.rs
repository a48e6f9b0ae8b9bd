//! What a virtual machine can be given.

crate::vocabulary! {
    /// The network interface of a virtual machine.
    pub enum Nic: "a network interface of a guest" {
        /// Made for virtual machines: guest and host share rings, and the host takes over checksums
        /// and segmentation.
        VirtioNet = "virtio-net";
        /// A model of Intel's 82574L: every register access is a way out of the guest.
        E1000e = "e1000e";
    }
}

crate::vocabulary! {
    /// Who executes a guest's instructions.
    pub enum Acceleration: "an acceleration" {
        /// The processor where a guest boots under KVM, else software.
        Auto = "auto";
        /// The processor, or no guest at all.
        Kvm = "kvm";
        /// Software (QEMU's TCG).
        Emulation = "emulation";
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
