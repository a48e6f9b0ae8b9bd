//! The identity of a host's boot, which its kernel draws at each start.

use std::path::Path;
use std::time::{Duration, Instant};

use agent::Interrupt;

use crate::error::Error;
use crate::launcher::Launcher;
use crate::script::BOOT_ID;
use crate::session::{Session, strange};

/// It is a UUID.
const LENGTH: usize = 36;

/// The identity of a host's present boot, over the connection of this socket.
pub(crate) fn ask(
    launcher: &Launcher,
    control: &Path,
    patience: Duration,
    interrupt: &Interrupt,
) -> Result<String, Error> {
    let host = launcher.to_string();
    let mut session = Session::start(&host, launcher.command(BOOT_ID, &[], control))?;
    let line = session.line(Instant::now() + patience, patience, interrupt);
    session.end();
    read(&host, &line?)
}

/// Reads `boot ID`.
pub(crate) fn read(host: &str, line: &str) -> Result<String, Error> {
    let plain =
        |id: &&str| id.len() == LENGTH && id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let id = line.strip_prefix("boot ").filter(plain);
    id.map(str::to_owned).ok_or_else(|| strange(host, line))
}
