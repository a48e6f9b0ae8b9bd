//! What a virtual machine can be given.

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
