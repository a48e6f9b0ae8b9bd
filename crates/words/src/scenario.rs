//! The kind of testbed a study runs on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::word::Word;

/// The kind of testbed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scenario {
    /// One host talks to itself over `lo`: both ends share one interface and its features.
    Loopback,
    /// One host sends into an interface that throws everything away: nobody receives.
    Discard,
    /// Two hosts, each a network namespace, joined by a pair of virtual Ethernet interfaces.
    Veth,
    /// The same, and a VXLAN tunnel over the pair: the traffic uses the tunnel.
    Vxlan,
    /// Two virtual machines, joined by a bridge.
    Vm,
    /// Two virtual machines, each on a bridge of its own, and a VXLAN tunnel between the bridges: as on two nodes.
    VmVxlan,
}

/// What a VXLAN tunnel takes of the packets of its underlay, in bytes: an inner Ethernet header (14), VXLAN's (8) and UDP's (8), and
/// IPv4's (20). IPv6's is 20 more (RFC 7348, section 5).
pub const VXLAN_OVERHEAD: u32 = 50;

impl Scenario {
    /// The MTU that its interfaces come up with, in bytes: that of the kernel's `lo` and of its Ethernet devices.
    pub fn default_mtu(self) -> u32 {
        match self {
            Self::Loopback => 65_536,
            Self::Veth | Self::Discard | Self::Vm => 1_500,
            // Over IPv4, the larger of the two.
            Self::Vxlan | Self::VmVxlan => 1_500 - VXLAN_OVERHEAD,
        }
    }

    /// Does the traffic go through a tunnel?
    pub fn has_tunnel(self) -> bool {
        matches!(self, Self::Vxlan | Self::VmVxlan)
    }

    /// Are its hosts virtual machines?
    pub fn has_guests(self) -> bool {
        matches!(self, Self::Vm | Self::VmVxlan)
    }
}

impl Word for Scenario {
    const WHAT: &'static str = "a scenario";
    const WORDS: &'static [(&'static str, Self)] = &[
        ("loopback", Self::Loopback),
        ("veth", Self::Veth),
        ("discard", Self::Discard),
        ("vxlan", Self::Vxlan),
        ("vm", Self::Vm),
        ("vm-vxlan", Self::VmVxlan),
    ];
    const NOT_BUILT_YET: &'static [&'static str] = &["ssh", "ssh-vxlan"];
}
crate::display_as_word!(Scenario);
