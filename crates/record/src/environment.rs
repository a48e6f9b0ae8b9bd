//! The environment in which a boot's runs were measured.

use std::collections::BTreeMap;
use std::ops::Index;

use serde::{Deserialize, Serialize};
use words::{Accelerated, BySide, Family, Scenario, Side};

use crate::note::Note;

/// Both hosts, as they describe themselves, and the testbed between them, at one edge of a boot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Environment {
    pub scenario: Scenario,
    pub rootless: bool,
    pub underlay_family: Option<Family>,
    pub discard_device: Option<host::DiscardDevice>,
    pub discard_devices_lacking: Option<Vec<String>>,
    pub cpus: CpuSplit,
    pub guests: Option<BTreeMap<String, GuestEnvironment>>,
    /// The hosts of virtual machines, where there are any.
    pub nodes: Option<Vec<host::HostEnvironment>>,
    pub notes: Vec<Note>,
    pub transmitter: host::HostEnvironment,
    pub receiver: Option<host::HostEnvironment>,
    /// The machines of the user's by side, where it lies between them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machines: Option<BySide<NamedMachine>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<host::journal::Change>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedMachine {
    /// Its name as the user gave it: `root@a`.
    pub host: String,
    /// The interface that carries the traffic, or the tunnel.
    #[serde(deserialize_with = "words::names::interfaces")]
    pub interface: String,
    /// Changes of the machine made for the study, beside the switches of its conditions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<host::journal::Change>,
}

/// A virtual machine. The agent in it reports its kernel and its start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuestEnvironment {
    pub kernel_image: String,
    pub kernel_release: Option<String>,
    pub vcpus: u32,
    pub memory_mib: u32,
    pub nic: Option<String>,
    /// Its accelerator. Emulated rates compare with each other, not with those of hardware.
    pub acceleration: Accelerated,
    /// The CPUs that its virtual CPUs keep to; empty: wherever the scheduler puts them.
    pub pinned_to: Vec<u32>,
    pub modules_absent: Vec<String>,
    /// Whether it counts instructions.
    pub exact: bool,
    /// From its start until its agents answered.
    pub boot_ms: f64,
    /// Why its first boot failed, if it did.
    pub failed_first: Option<String>,
}

/// The CPUs of each host, and the controller's, by number. Where hosts are machines, each number is
/// one of its own machine's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CpuSplit {
    pub transmitter: Vec<u32>,
    pub receiver: Vec<u32>,
    /// Empty if there are too few.
    pub controller: Vec<u32>,
}

impl CpuSplit {
    /// The split of a testbed with one host, which has the CPUs of both.
    pub fn for_one_host(&self) -> Self {
        let mut transmitter = self.transmitter.clone();
        transmitter.extend(self.receiver.iter().filter(|cpu| !self.transmitter.contains(cpu)));
        transmitter.sort_unstable();
        Self { transmitter, receiver: Vec::new(), controller: self.controller.clone() }
    }

    /// Do both hosts run on the same CPUs? Then their CPU use cannot be separated.
    pub fn is_shared(&self) -> bool {
        self.transmitter == self.receiver
    }
}

impl Index<Side> for CpuSplit {
    type Output = Vec<u32>;

    fn index(&self, side: Side) -> &Vec<u32> {
        if side == Side::Transmitter { &self.transmitter } else { &self.receiver }
    }
}
