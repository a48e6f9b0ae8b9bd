//! netassay as a guest's first process: mounts what an agent needs, loads its modules, starts an
//! agent at each virtio port, and powers the guest off when the last one has ended.
//!
//! Its messages go to the console, where the controller reads them: [`SERVING`], or [`CANNOT`] and
//! the reason.

mod error;
mod ports;
mod settings;
mod system;

pub use ports::port_name;
pub use settings::{SETTINGS, Settings};

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use self::error::InitError;
use self::system::Console;
use crate::frame::decode;

/// The message when its agents are at their ports.
pub const SERVING: &str = "netassay-init: serving";
/// The message, before the reason, when it cannot start them.
pub const CANNOT: &str = "netassay-init: cannot serve:";
/// The directory of the modules, whose names sort in loading order.
pub const MODULES: &str = "netassay/modules";

/// Whether this process is the first of a guest that netassay packed.
#[must_use]
pub fn is_called() -> bool {
    std::process::id() == 1
        && std::env::args_os().next().is_some_and(|name| name == "/init")
        && fs::metadata(format!("/{SETTINGS}")).is_ok()
}

/// Runs as a guest's first process. Does not return: the guest is powered off at its end.
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
        system::keep_slabs();
        system::hasten_softirqs();
    }
    for (module, error) in system::load_modules(format!("/{MODULES}").as_ref())? {
        console.say(&format!("netassay-init: the module {module} cannot be loaded: {error}"));
    }
    let ports = ports::open_all(settings.ports)?;
    for (index, port) in ports.into_iter().enumerate() {
        // Closes the parent's copy, so that the port closes when the agent ends.
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
