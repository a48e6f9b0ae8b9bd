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
    /// Two hosts, each a network namespace, joined by a pair of virtual Ethernet interfaces.
    Veth,
}

impl Word for Scenario {
    const WHAT: &'static str = "a scenario";
    const WORDS: &'static [(&'static str, Self)] = &[("loopback", Self::Loopback), ("veth", Self::Veth)];
    const NOT_BUILT_YET: &'static [&'static str] =
        &["discard", "vxlan", "vm", "vm-vxlan", "ssh", "ssh-vxlan"];
}
display_as_word!(Scenario);
