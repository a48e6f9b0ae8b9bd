//! The kind of testbed a study runs on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::word::{Word, display_as_word};

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
}

impl Scenario {
    /// The MTU that its interfaces come up with, in bytes: that of the kernel's `lo` and of its Ethernet devices.
    pub fn default_mtu(self) -> u32 {
        match self {
            Self::Loopback => 65_536,
            Self::Veth | Self::Discard => 1_500,
        }
    }
}

impl Word for Scenario {
    const WHAT: &'static str = "a scenario";
    const WORDS: &'static [(&'static str, Self)] =
        &[("loopback", Self::Loopback), ("veth", Self::Veth), ("discard", Self::Discard)];
    const NOT_BUILT_YET: &'static [&'static str] = &["vxlan", "vm", "vm-vxlan", "ssh", "ssh-vxlan"];
}
display_as_word!(Scenario);
