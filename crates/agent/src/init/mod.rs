//! netassay as a guest's first process: mounts, loads modules, starts an agent at each virtio port,
//! and powers off when the last one has ended. The console tells [`SERVING`], or [`CANNOT`] and
//! why.

mod system;

use std::fmt::Display;
use std::fs;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use serde::{Deserialize, Serialize};

use self::system::say;
use crate::error::ServeError;
use crate::frame::decode;

pub use self::system::port_name;

/// The message when its agents are at their ports.
pub const SERVING: &str = "netassay-init: serving";
/// The message, before the reason, when it cannot start them.
pub const CANNOT: &str = "netassay-init: cannot serve:";
/// The directory of the modules, whose names sort in loading order.
pub const MODULES: &str = "netassay/modules";

/// Whether this process is the first of a guest that netassay packed.
pub fn is_called() -> bool {
    std::process::id() == 1
        && std::env::args_os().next().is_some_and(|name| name == "/init")
        && fs::metadata(format!("/{SETTINGS}")).is_ok()
}

/// Runs as a guest's first process. Does not return: the guest is powered off at its end.
pub fn run(version: &'static str) -> ! {
    if let Err(error) = serve_all(version) {
        say(&format!("{CANNOT} {error}"));
    }
    system::power_off()
}

fn serve_all(version: &'static str) -> Result<(), InitError> {
    system::mount_all()?;
    let settings = fs::read(format!("/{SETTINGS}")).map_err(|error| in_step(SETTINGS, error))?;
    let settings: Settings = decode(&settings).map_err(|error| in_step(SETTINGS, io::Error::other(error)))?;
    if !settings.seed.is_empty() {
        system::seed(&settings.seed)?;
        system::keep_slabs();
        system::hasten_softirqs();
    }
    for (module, error) in system::load_modules(format!("/{MODULES}").as_ref())? {
        say(&format!("netassay-init: the module {module} cannot be loaded: {error}"));
    }
    let ports = (0..settings.ports).map(|index| system::open(&port_name(index)));
    let ports = ports.collect::<Result<Vec<_>, _>>()?;
    for (index, port) in ports.into_iter().enumerate() {
        // Closes the parent's copy, so that the port closes when the agent ends.
        system::start_agent(index, port, version)?;
    }
    say(&format!("{SERVING} {} ports", settings.ports));
    while let Some((process, status)) = system::reap() {
        let status = ExitStatus::from_raw(status);
        if !status.success() {
            say(&format!("netassay-init: process {process} ended: {status}"));
        }
    }
    Ok(())
}

/// Why a guest cannot serve, or one of its agents.
#[derive(Debug, thiserror::Error)]
enum InitError {
    #[error("{step}: {source}")]
    Step { step: String, source: io::Error },
    #[error(
        "port {name} did not appear within {seconds} s: this kernel has no virtio_console or no virtio_pci, neither built in nor as modules; give the directory of its whole package, which has boot/ and lib/modules/, or the kernel that `netassay kernel fetch linux-image-cloud-amd64` brings"
    )]
    NoPort { name: String, seconds: u64 },
    #[error(transparent)]
    Port(#[from] io::Error),
    #[error(transparent)]
    Serve(#[from] ServeError),
}

fn in_step(step: impl Display, source: io::Error) -> InitError {
    InitError::Step { step: step.to_string(), source }
}

/// The path of [`Settings`] in the initramfs.
pub const SETTINGS: &str = "netassay/settings.json";

/// The settings that the packer of the initramfs gives to init.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The number of ports, named `netassay.0` and so on.
    pub ports: usize,
    /// Seeds the kernel's random numbers alike at each boot; empty for the kernel's own.
    pub seed: Vec<u8>,
}
