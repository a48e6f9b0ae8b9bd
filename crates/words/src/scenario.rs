//! The kind of testbed a study runs on.

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

    /// Whether all of its hosts are namespaces of one machine, with nothing between two machines to
    /// measure: then it can run on any machine.
    pub fn is_of_one_machine(self) -> bool {
        matches!(self, Self::Loopback | Self::Discard)
    }

    /// The scenario that measures the same between machines, over their network. `None`: there is
    /// none.
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
