//! What of a condition takes a fresh boot to change.

use serde::{Deserialize, Serialize};
use words::Family;

use crate::model::guest::Guest;

/// What a testbed is built for. Conditions that agree in it share boots; a boot measures the conditions of one state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BootState {
    /// The version of IP that carries the tunnel, in scenarios that have one.
    pub underlay_family: Family,
    /// The virtual machines, in studies that have any; they are all alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guest: Option<Guest>,
}

impl Default for BootState {
    fn default() -> Self {
        Self { underlay_family: Family::Ipv4, guest: None }
    }
}
