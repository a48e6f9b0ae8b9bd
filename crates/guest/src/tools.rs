//! What of this machine makes guests, so that tests can take it away.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

use crate::error::Error;
use crate::memory::Memory;

/// The program.
const QEMU: &str = "qemu-system-x86_64";
/// A firmware that does little and is quick at it; it comes with QEMU.
const FIRMWARE: &str = "qboot.rom";

/// Where QEMU and KVM are looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tools {
    /// Directories with programs, as in `PATH`.
    pub path: OsString,
    /// KVM's device.
    pub kvm: PathBuf,
    /// What earlier sessions found out by trying.
    pub memory: Memory,
}

impl Tools {
    /// Those of this machine.
    #[must_use]
    pub fn here() -> Self {
        Self { path: env::var_os("PATH").unwrap_or_default(), kvm: "/dev/kvm".into(), memory: Memory::here() }
    }

    /// QEMU's path.
    ///
    /// # Errors
    /// [`Error::NoQemu`], [`Error::Machine`].
    pub fn qemu(&self) -> Result<PathBuf, Error> {
        if env::consts::ARCH != "x86_64" {
            return Err(Error::Machine(env::consts::ARCH));
        }
        self.program(QEMU).ok_or(Error::NoQemu(QEMU))
    }

    /// The quick firmware's path; `None`: QEMU's usual one does too.
    pub(crate) fn firmware(&self) -> Option<PathBuf> {
        // Beside the program: /usr/bin and /usr/share/qemu.
        let qemu = self.program(QEMU)?.canonicalize().ok()?;
        let firmware = qemu.parent()?.parent()?.join("share/qemu").join(FIRMWARE);
        firmware.is_file().then_some(firmware)
    }

    pub(crate) fn program(&self, name: &str) -> Option<PathBuf> {
        env::split_paths(&self.path).map(|directory| directory.join(name)).find(|path| path.is_file())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_qemu_its_package_is_named() {
        let empty = Tools { path: "/nonexistent".into(), ..Tools::here() };
        let error = empty.qemu().unwrap_err().to_string();
        assert!(
            error.contains("qemu-system-x86_64")
                && error.ends_with("--no-install-recommends qemu-system-x86"),
            "{error}"
        );
        assert_eq!(empty.firmware(), None);
    }
}
