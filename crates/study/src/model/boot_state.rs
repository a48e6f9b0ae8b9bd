//! State that only a fresh boot can change.

use serde::{Deserialize, Serialize};
use words::{Acceleration, Copies, Family, Field, Nic, Scenario, Value};

use crate::model::factor::release;

/// The state for which a testbed is built. Conditions with the same state share boots.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BootState {
    /// The kind of testbed.
    pub scenario: Scenario,
    /// The version of IP that carries the tunnel, in scenarios that have one.
    pub underlay_family: Family,
    /// The virtual machines, where there are any. All are alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guest: Option<Guest>,
    /// The kernel's release on the user's machines; none: their default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
}

impl Default for BootState {
    fn default() -> Self {
        Self { scenario: Scenario::Veth, underlay_family: Family::Ipv4, guest: None, kernel: None }
    }
}

impl From<Scenario> for BootState {
    fn from(scenario: Scenario) -> Self {
        Self { scenario, ..Self::default() }
    }
}

impl BootState {
    /// `inside_guest`: the whole testbed is in one guest.
    pub(crate) fn without_the_absent(&mut self, inside_guest: bool) {
        // Equal testbeds must have equal states: conditions with the same state share boots.
        if !self.scenario.has_guests() && !inside_guest {
            let guest = self.guest.take();
            // Of the settings of guests this is the one that machines have too.
            let kernel = guest.and_then(|guest| guest.kernel).filter(|_| self.scenario.has_machines());
            self.kernel = kernel.map(|kernel| release(&kernel).to_owned());
        }
        if !self.scenario.has_tunnel() {
            self.underlay_family = Self::default().underlay_family;
        }
    }
}

/// A virtual machine: its kernel and its resources.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guest {
    /// Its kernel: a path to an image, a directory with `boot/` and `lib/modules/`, or the name of
    /// a package that `netassay kernel fetch` unpacked; `None`: the image of the kernel that runs
    /// here.
    pub kernel: Option<String>,
    /// Options to add to its kernel's command line.
    pub command_line: String,
    /// Its CPUs.
    pub vcpus: u32,
    /// Its memory, in MiB (2^20 bytes).
    pub memory_mib: u32,
    /// Its network interface.
    pub nic: Nic,
    /// The accelerator of its processors.
    pub acceleration: Acceleration,
    /// Whether its CPUs stay on the CPUs of its side.
    pub pin: bool,
    /// The instructions with which an emulated guest copies and clears memory.
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

const RUNNING: &str = "running";

impl Guest {
    pub(crate) fn set(&mut self, key: &str, value: &Value) {
        let text = || value.to_string();
        match key {
            "kernel" => self.kernel = Some(text()).filter(|kernel| kernel != RUNNING),
            "command_line" if *value == Value::Default => self.command_line.clear(),
            "command_line" => self.command_line = text(),
            "vcpus" => self.vcpus.set(value),
            "memory" => self.memory_mib.set(value),
            "nic" => self.nic.set(value),
            "acceleration" => self.acceleration.set(value),
            "pin" => self.pin.set(value),
            "copies" => self.copies.set(value),
            key => unreachable!("`{key}` is in the table of keys and has no field"),
        }
    }
}
