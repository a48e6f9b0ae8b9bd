//! The kind of testbed a study runs on.

use serde::{Deserialize, Serialize};

crate::vocabulary! {
    /// The kind of testbed.
    pub enum Scenario: "a scenario" {
        /// One host sends to itself over `lo`. Both ends share one interface and its features.
        Loopback = "loopback";
        /// Two network namespaces, joined by a pair of virtual Ethernet interfaces.
        Veth = "veth";
        /// One host sends into an interface that discards every packet. There is no receiver.
        Discard = "discard";
        /// Two network namespaces and a VXLAN tunnel (RFC 7348) over a pair of virtual Ethernet
        /// interfaces. The tunnel carries Ethernet frames in UDP, which adds 50 bytes to a packet
        /// over IPv4 and 70 over IPv6.
        Vxlan = "vxlan";
        /// Two virtual machines, joined by a bridge; on two machines by one on each, and their
        /// network.
        Vm = "vm";
        /// Two virtual machines, each on its own bridge, and a VXLAN tunnel between the bridges.
        VmVxlan = "vm-vxlan";
        /// Two machines, joined by their own network.
        Ssh = "ssh";
        /// Two machines, and a VXLAN tunnel over their own network.
        SshVxlan = "ssh-vxlan";
    }
}

/// The bytes that a VXLAN tunnel adds to a packet: an inner Ethernet header (14), VXLAN's (8),
/// UDP's (8) and IPv4's (20). IPv6's is 20 more (RFC 7348, section 5).
pub const VXLAN_OVERHEAD: u32 = 50;

impl Scenario {
    /// The default MTU of its interfaces, in bytes: that of the kernel's `lo` and of its Ethernet
    /// devices. A machine's interface may have another, which it keeps unless a study sets one.
    pub fn default_mtu(self) -> u32 {
        match self {
            Self::Loopback => 65_536,
            Self::Veth | Self::Discard | Self::Vm | Self::Ssh => 1_500,
            // Over IPv4, the larger of the two.
            Self::Vxlan | Self::VmVxlan | Self::SshVxlan => 1_500 - VXLAN_OVERHEAD,
        }
    }

    /// Does the traffic go through a tunnel?
    pub fn has_tunnel(self) -> bool {
        matches!(self, Self::Vxlan | Self::VmVxlan | Self::SshVxlan)
    }

    /// Whether its hosts are virtual machines.
    pub fn has_guests(self) -> bool {
        matches!(self, Self::Vm | Self::VmVxlan)
    }

    /// Whether its hosts are existing machines, which stay.
    pub fn has_machines(self) -> bool {
        matches!(self, Self::Ssh | Self::SshVxlan)
    }

    /// Whether its hosts are namespaces of one machine.
    pub fn is_of_namespaces(self) -> bool {
        !self.has_guests() && !self.has_machines()
    }

    /// The scenario that measures the same between machines, over their network.
    pub fn between_machines(self) -> Option<Self> {
        match self {
            Self::Veth | Self::Ssh => Some(Self::Ssh),
            Self::Vxlan | Self::SshVxlan => Some(Self::SshVxlan),
            Self::Vm => Some(Self::Vm),
            Self::VmVxlan => Some(Self::VmVxlan),
            Self::Loopback | Self::Discard => None,
        }
    }
}

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
    /// The execution of the instructions of a guest.
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
// It is no error: thiserror gives each variant its words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Accelerated {
    /// The machine's own processor.
    #[error("KVM")]
    Kvm,
    /// QEMU's translator.
    #[error("emulation ({why})")]
    Emulation {
        /// Why it is not KVM.
        why: String,
    },
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

crate::vocabulary! {
    /// The version of the Internet Protocol that carries the traffic.
    pub enum Family: "a family" {
        /// IP version 4.
        Ipv4 = "ipv4";
        /// IP version 6.
        Ipv6 = "ipv6";
    }
}

impl Family {
    /// IPv6, or else IPv4.
    pub fn from_ipv6(ipv6: bool) -> Self {
        if ipv6 { Self::Ipv6 } else { Self::Ipv4 }
    }

    /// The digit of file names: `udp4`, `tcp6`.
    pub fn digit(self) -> char {
        if self == Self::Ipv4 { '4' } else { '6' }
    }

    /// The bytes of the IP header (RFC 791, section 3.1; RFC 8200, section 3) and of UDP's (RFC
    /// 768).
    pub fn udp_headers(self) -> u32 {
        if self == Self::Ipv4 { 20 + 8 } else { 40 + 8 }
    }

    /// The most payload, in bytes, that one UDP datagram can carry over this version: the 16 bits
    /// of UDP's length (RFC 768) less its header of 8, and for IPv4 less 20 for the IP header,
    /// which its total length includes (RFC 791) and the payload length of IPv6 does not (RFC 8200,
    /// section 3).
    pub fn most_udp_payload(self) -> u32 {
        if self == Self::Ipv4 { 65_535 - 20 - 8 } else { 65_535 - 8 }
    }
}
