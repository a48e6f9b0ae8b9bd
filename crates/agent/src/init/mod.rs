//! netassay as a guest's first process: mounts what an agent needs, loads the modules that it was packed with, starts an agent at
//! each virtio port, and switches the guest off when the last one has ended.
//!
//! What it has to say goes to the console, where the controller reads it: [`SERVING`], or [`CANNOT`] and the reason.

mod ports;
mod system;

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use self::system::Console;
use crate::frame::decode;

/// What init says when its agents are at their ports.
pub const SERVING: &str = "netassay-init: serving";
/// What it says, before the reason, when it cannot bring them there.
pub const CANNOT: &str = "netassay-init: cannot serve:";
/// Where in the guest's first file system [`Settings`] are.
pub const SETTINGS: &str = "netassay/settings.json";
/// Where in it the modules are, named so that they sort in the order in which they are to be loaded.
pub const MODULES: &str = "netassay/modules";

/// What the packer of the initramfs tells init.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// How many ports there are, named `netassay.0` and so on.
    pub ports: usize,
    /// What the kernel's random numbers begin with, where they are to be the same at each boot; empty: as the kernel likes.
    pub seed: Vec<u8>,
}

/// The name that the guest's device gives the port `index`.
#[must_use]
pub fn port_name(index: usize) -> String {
    format!("netassay.{index}")
}

/// Why there is no agent.
#[derive(Debug, Error)]
pub(crate) enum InitError {
    #[error("{step}: {source}")]
    System { step: String, source: std::io::Error },
    #[error("/{SETTINGS}: {0}")]
    Settings(String),
    #[error(
        "port {name} did not appear within {seconds} s: this kernel has no virtio_console or no virtio_pci, neither built in nor \
         as modules; `netassay kernel fetch linux-image-cloud-amd64` brings one that has"
    )]
    NoPort { name: String, seconds: u64 },
}

impl InitError {
    fn at(step: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let step = step.into();
        move |source| Self::System { step, source }
    }
}

/// Is this process the first of a guest that was packed by netassay?
#[must_use]
pub fn is_called() -> bool {
    std::process::id() == 1
        && std::env::args_os().next().is_some_and(|name| name == "/init")
        && fs::metadata(format!("/{SETTINGS}")).is_ok()
}

/// Lives the life of a guest's first process. It does not come back: the guest is switched off at its end.
pub fn run(version: &'static str) -> ! {
    let console = Console;
    if let Err(error) = serve_all(version, &console) {
        console.say(&format!("{CANNOT} {error}"));
    }
    system::power_off()
}

fn serve_all(version: &'static str, console: &Console) -> Result<(), InitError> {
    system::mount_all()?;
    let settings =
        fs::read(format!("/{SETTINGS}")).map_err(|error| InitError::Settings(error.to_string()))?;
    let settings: Settings = decode(&settings).map_err(|error| InitError::Settings(error.to_string()))?;
    if !settings.seed.is_empty() {
        system::seed(&settings.seed)?;
    }
    for (module, error) in system::load_modules(format!("/{MODULES}").as_ref())? {
        console.say(&format!("netassay-init: the module {module} cannot be loaded: {error}"));
    }
    let ports = ports::open_all(settings.ports)?;
    for (index, port) in ports.into_iter().enumerate() {
        // The parent's copy of the port closes here, so that the agent's end is the port's end.
        ports::start_agent(index, port, version, console)?;
    }
    console.say(&format!("{SERVING} {} ports", settings.ports));
    while let Some((process, status)) = system::reap() {
        let status = ExitStatus::from_raw(status);
        if !status.success() {
            console.say(&format!("netassay-init: process {process} ended: {status}"));
        }
    }
    Ok(())
}
