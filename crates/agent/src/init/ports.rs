//! The ports of a guest's virtio serial device, and the agents at them.

use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use super::error::InitError;
use super::system::{self, Console};
use crate::serve::serve;

// The time between two looks for a device after its driver was loaded; on an idle machine it
// appears within a millisecond. The wait is counted in steps: on a busy machine the guest takes
// few of them.
const STEP: Duration = Duration::from_millis(1);
const STEPS: u32 = 10_000;

/// The name that the guest's device gives the port `index`.
#[must_use]
pub fn port_name(index: usize) -> String {
    format!("netassay.{index}")
}

/// Opens the ports by their names.
pub(super) fn open_all(count: usize) -> Result<Vec<OwnedFd>, InitError> {
    (0..count).map(|index| open(&port_name(index))).collect()
}

fn open(name: &str) -> Result<OwnedFd, InitError> {
    for _ in 0..STEPS {
        if let Some(device) = device(Path::new("/sys/class/virtio-ports"), name) {
            let path = Path::new("/dev").join(device);
            let file = File::options().read(true).write(true).open(&path);
            return file.map(Into::into).map_err(InitError::in_step(format!("open {}", path.display())));
        }
        std::thread::sleep(STEP);
    }
    Err(InitError::NoPort { name: name.to_owned(), seconds: (STEP * STEPS).as_secs() })
}

fn device(class: &Path, name: &str) -> Option<String> {
    fs::read_dir(class).ok()?.flatten().find_map(|entry| {
        let found = fs::read_to_string(entry.path().join("name")).ok()?;
        (found.trim() == name).then(|| entry.file_name().to_string_lossy().into_owned())
    })
}

pub(super) fn start_agent(
    index: usize,
    port: OwnedFd,
    version: &'static str,
    console: &Console,
) -> Result<(), InitError> {
    if system::fork().map_err(InitError::in_step("start a process"))? {
        return Ok(());
    }
    let code = match live(port, version) {
        Ok(()) => 0,
        Err(why) => {
            console.say(&format!("netassay-init: the agent at {}: {why}", port_name(index)));
            1
        }
    };
    std::process::exit(code)
}

fn live(port: OwnedFd, version: &'static str) -> Result<(), String> {
    system::await_connection(&port, STEP, STEPS).map_err(|error| error.to_string())?;
    system::become_standard_streams(&port).map_err(|error| error.to_string())?;
    drop(port);
    serve(version).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_found_by_its_name() {
        let class = std::env::temp_dir().join(format!("netassay-ports-{}", std::process::id()));
        for (device, name) in [("vport1p1", "netassay.0\n"), ("vport1p2", "netassay.1\n")] {
            fs::create_dir_all(class.join(device)).unwrap();
            fs::write(class.join(device).join("name"), name).unwrap();
        }
        assert_eq!(device(&class, "netassay.1").as_deref(), Some("vport1p2"));
        assert_eq!(device(&class, "netassay"), None);
        fs::remove_dir_all(&class).unwrap();
        assert_eq!(device(&class, "netassay.0"), None);
    }
}
