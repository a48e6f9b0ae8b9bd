//! State that only a fresh boot can change.

use serde::{Deserialize, Serialize};
use words::{Family, Scenario};

use crate::model::factor::release;
use crate::model::guest::Guest;

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
    /// The release of the kernel that the user's machines run; none: the one that each boots by
    /// default.
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
    /// Removes settings that its scenario does not have, so that equal testbeds have equal states.
    /// `inside_guest`: the whole testbed is inside one virtual machine.
    pub(crate) fn without_the_absent(&mut self, inside_guest: bool) {
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
