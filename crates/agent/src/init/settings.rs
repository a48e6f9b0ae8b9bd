//! What the packer of the initramfs tells init.

use serde::{Deserialize, Serialize};

/// Where in the guest's first file system [`Settings`] are.
pub const SETTINGS: &str = "netassay/settings.json";

/// What the packer of the initramfs tells init.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// How many ports there are, named `netassay.0` and so on.
    pub ports: usize,
    /// What the kernel's random numbers begin with, where they are to be the same at each boot;
    /// empty: as the kernel likes.
    pub seed: Vec<u8>,
}
