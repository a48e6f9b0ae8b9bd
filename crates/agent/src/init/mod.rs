//! netassay as a guest's first process: mounts what an agent needs, loads the modules that it was
//! packed with, starts an agent at each virtio port, and switches the guest off when the last one
//! has ended.
//!
//! What it has to say goes to the console, where the controller reads it: [`SERVING`], or
//! [`CANNOT`] and the reason.

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

/// What init says when its agents are at their ports.
pub const SERVING: &str = "netassay-init: serving";
/// What it says, before the reason, when it cannot bring them there.
pub const CANNOT: &str = "netassay-init: cannot serve:";
/// Where in it the modules are, named so that they sort in the order in which they are to be
/// loaded.
pub const MODULES: &str = "netassay/modules";

/// Is this process the first of a guest that was packed by netassay?
#[must_use]
pub fn is_called() -> bool {
    std::process::id() == 1
        && std::env::args_os().next().is_some_and(|name| name == "/init")
        && fs::metadata(format!("/{SETTINGS}")).is_ok()
}

/// Lives the life of a guest's first process. It does not come back: the guest is switched off at
/// its end.
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
