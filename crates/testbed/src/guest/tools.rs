//! The machine's means to run guests, which tests can replace.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::guest::sandbox::{self, ProcessUser};

const QEMU: &str = "qemu-system-x86_64";
/// A small and quick firmware, which comes with QEMU.
const FIRMWARE: &str = "qboot.rom";

/// The places of QEMU and KVM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tools {
    /// Directories with programs, as in `PATH`.
    pub path: OsString,
    /// KVM's device.
    pub kvm: PathBuf,
}

impl Tools {
    /// This machine's tools.
    #[must_use]
    pub fn of_this_machine() -> Self {
        Self { path: env::var_os("PATH").unwrap_or_default(), kvm: "/dev/kvm".into() }
    }

    /// QEMU's path.
    ///
    /// # Errors
    /// There is none, or this machine is no x86-64 one.
    pub fn qemu(&self) -> Result<PathBuf, Error> {
        if env::consts::ARCH != "x86_64" {
            return Err(format!("guests need an x86-64 machine, and this is {}", env::consts::ARCH).into());
        }
        self.program(QEMU).ok_or_else(|| {
            Error::Failed(format!(
                "no {QEMU} in the PATH: guests need it; on Debian: apt-get install --no-install-recommends qemu-system-x86"
            ))
        })
    }

    /// The quick firmware's path; `None`: QEMU's usual one works too.
    pub(crate) fn firmware(&self) -> Option<PathBuf> {
        let qemu = self.program(QEMU)?.canonicalize().ok()?;
        let firmware = qemu.parent()?.parent()?.join("share/qemu").join(FIRMWARE);
        firmware.is_file().then_some(firmware)
    }

    /// The user of this `qemu` in place of root, with this device of KVM or without.
    ///
    /// # Errors
    /// As [`sandbox::user`].
    pub(crate) fn user(&self, qemu: &Path, kvm: Option<&Path>) -> Result<Option<ProcessUser>, String> {
        let firmware = self.firmware();
        let files: Vec<&Path> = [qemu].into_iter().chain(firmware.as_deref()).collect();
        sandbox::user(&files, kvm)
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
        let empty = Tools { path: "/nonexistent".into(), ..Tools::of_this_machine() };
        let error = empty.qemu().unwrap_err().to_string();
        assert!(
            error.contains("qemu-system-x86_64")
                && error.ends_with("--no-install-recommends qemu-system-x86"),
            "{error}"
        );
        assert_eq!(empty.firmware(), None);
    }
}
