//! What a condition asks of the interfaces under a tunnel.

use serde::{Deserialize, Serialize};

use crate::plan::settings::SideSettings;

/// The interfaces that carry the tunnel.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Underlay {
    /// Their MTU in bytes; `None` leaves it as the scenario makes it.
    pub mtu: Option<u32>,
    /// What the transmitter's is set to.
    pub transmitter: SideSettings,
    /// What the receiver's is set to.
    pub receiver: SideSettings,
}
