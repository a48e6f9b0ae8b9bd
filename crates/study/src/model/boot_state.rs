//! What of a condition takes a fresh boot to change.

use serde::{Deserialize, Serialize};
use words::{Family, Scenario};

use crate::model::guest::Guest;

/// What a testbed is built for. Conditions that agree in it share boots; a boot measures the
/// conditions of one state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BootState {
    /// The kind of testbed.
    pub scenario: Scenario,
    /// The version of IP that carries the tunnel, in scenarios that have one.
    pub underlay_family: Family,
    /// The virtual machines, where there are any; they are all alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guest: Option<Guest>,
}

impl Default for BootState {
    fn default() -> Self {
        Self { scenario: Scenario::Veth, underlay_family: Family::Ipv4, guest: None }
    }
}

impl From<Scenario> for BootState {
    /// The scenario with nothing special.
    fn from(scenario: Scenario) -> Self {
        Self { scenario, ..Self::default() }
    }
}

impl BootState {
    /// Drops what its scenario has nothing of, so that combinations which differ in nothing else
    /// are one state. `inside_guest`: the whole testbed stands inside one virtual machine.
    pub(crate) fn without_the_absent(&mut self, inside_guest: bool) {
        if !self.scenario.has_guests() && !inside_guest {
            self.guest = None;
        }
        if !self.scenario.has_tunnel() {
            self.underlay_family = Self::default().underlay_family;
        }
    }
}
