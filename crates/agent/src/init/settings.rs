//! The settings that the packer of the initramfs gives to init.

use serde::{Deserialize, Serialize};

/// The path of [`Settings`] in the initramfs.
pub const SETTINGS: &str = "netassay/settings.json";

/// The settings that the packer of the initramfs gives to init.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The number of ports, named `netassay.0` and so on.
    pub ports: usize,
    /// The seed of the kernel's random numbers, if they must be equal at each boot; empty for the
    /// kernel's own.
    pub seed: Vec<u8>,
}
