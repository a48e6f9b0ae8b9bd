//! The settings that the packer of the initramfs gives to init.

use serde::{Deserialize, Serialize};

/// Where [`Settings`] are in the initramfs.
pub const SETTINGS: &str = "netassay/settings.json";

/// The settings that the packer of the initramfs gives to init.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The number of ports, named `netassay.0` and so on.
    pub ports: usize,
    /// The seed of the kernel's random numbers, where they must be the same at each boot; empty:
    /// the kernel's own.
    pub seed: Vec<u8>,
}
