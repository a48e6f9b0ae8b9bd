//! The present boot of a host: its identity, which the kernel draws at each start, and the kernel.

use std::path::Path;
use std::time::{Duration, Instant};

use agent::Interrupt;

use crate::reach::error::Error;
use crate::reach::launcher::Launcher;
use crate::reach::script::BOOT;
use crate::reach::session::{ScriptSession, unexpected_answer};

/// A boot of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostBoot {
    /// Its identity, a UUID.
    pub id: String,
    /// The release of its kernel, as `uname -r` tells it.
    pub release: String,
    /// The release of the kernel that it boots by default: another one if that was noted there
    /// before this one was chosen for a boot.
    pub default: String,
}

impl HostBoot {
    /// Whether the kernel that runs is the default one.
    #[must_use]
    pub fn is_of_default(&self) -> bool {
        self.release == self.default
    }
}

const LENGTH: usize = 36;

/// A host's present boot, over the connection of this socket. `by_sudo`: the login is not root.
pub(crate) fn present_boot(
    launcher: &Launcher,
    by_sudo: bool,
    control: &Path,
    patience: Duration,
    interrupt: &Interrupt,
) -> Result<HostBoot, Error> {
    let host = launcher.to_string();
    let mut session =
        ScriptSession::start(&host, launcher.command(BOOT, &[sudo_argument(by_sudo)], control))?;
    read(&host, &session.line(Instant::now() + patience, patience, interrupt)?)
}

/// The first argument of a script that needs root.
pub(crate) fn sudo_argument(by_sudo: bool) -> &'static str {
    if by_sudo { "yes" } else { "no" }
}

/// Reads `boot ID RELEASE DEFAULT`, the last of which may be missing.
pub(crate) fn read(host: &str, line: &str) -> Result<HostBoot, Error> {
    let plain =
        |id: &str| id.len() == LENGTH && id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let parts: Vec<&str> = line.trim_end().split(' ').collect();
    let (id, release, default) = match parts[..] {
        ["boot", id, release] => (id, release, release),
        ["boot", id, release, noted] => (id, release, noted),
        _ => return Err(unexpected_answer(host, line)),
    };
    if !plain(id) || !is_release(release) || !is_release(default) {
        return Err(unexpected_answer(host, line));
    }
    Ok(HostBoot { id: id.to_owned(), release: release.to_owned(), default: default.to_owned() })
}

/// Whether this can be the release of a kernel (`utsname` has 64 bytes for it), and is no path.
pub(crate) fn is_release(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._+~-".contains(&byte);
    (1..=64).contains(&text.len()) && !text.starts_with(['.', '-']) && text.bytes().all(plain)
}
