//! The machine's means to run guests, which tests can replace.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use host::user_file;
use words::{Accelerated, Acceleration};

use crate::console::Console;
use crate::error::Error;
use crate::guest::initramfs::LARGEST_IMAGE;
use crate::guest::order::GuestOrder;
use crate::guest::qemu;
use crate::guest::sandbox::{self, has_sandbox};
use crate::guest::spawn::{ProcessContext, in_memory, spawn};

const QEMU: &str = "qemu-system-x86_64";
const FIRMWARE: &str = "qboot.rom";

// KVM normally takes a fraction of a second to the first line.
const PATIENCE: Duration = Duration::from_secs(5);
const GLANCE: Duration = Duration::from_millis(20);
const FIRST_LINE: &str = "Linux version";

/// The places of QEMU and KVM.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct Tools {
    /// Directories with programs, as in `PATH`.
    pub path: OsString,
    pub kvm: PathBuf,
}

impl Tools {
    /// This machine's tools.
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

    /// `None`: QEMU's usual one works too.
    pub(crate) fn firmware(&self) -> Option<PathBuf> {
        let qemu = self.program(QEMU)?.canonicalize().ok()?;
        let firmware = qemu.parent()?.parent()?.join("share/qemu").join(FIRMWARE);
        firmware.is_file().then_some(firmware)
    }

    pub(crate) fn nobodys_group(&self, qemu: &Path, kvm: Option<&Path>) -> Result<Option<u32>, String> {
        let firmware = self.firmware();
        let files: Vec<&Path> = [qemu].into_iter().chain(firmware.as_deref()).collect();
        sandbox::nobodys_group(&files, kvm)
    }

    pub(crate) fn program(&self, name: &str) -> Option<PathBuf> {
        env::split_paths(&self.path).map(|directory| directory.join(name)).find(|path| path.is_file())
    }

    /// Boots `image` under KVM for at most a few seconds, until it prints its first line.
    ///
    /// # Errors
    /// Why KVM cannot be used, in words.
    pub fn try_kvm(&self, image: &Path) -> Result<(), String> {
        let device = self.kvm.display();
        if let Err(error) = File::options().read(true).write(true).open(&self.kvm) {
            return Err(match error.kind() {
                std::io::ErrorKind::NotFound => format!("{device} does not exist"),
                std::io::ErrorKind::PermissionDenied => {
                    format!("no permission to open {device}: become a member of its group (usually kvm)")
                }
                _ => format!("{device} cannot be opened: {error}"),
            });
        }
        let qemu = self.qemu().map_err(|error| error.to_string())?;
        let (reader, writer) = std::io::pipe().map_err(|error| error.to_string())?;
        let console = Console::read(reader).map_err(|error| error.to_string())?;
        // Perhaps only root may read a distribution's kernel, and QEMU runs as nobody.
        let kernel = user_file::read(image, LARGEST_IMAGE).and_then(|bytes| in_memory(&bytes));
        let kernel = kernel.map_err(|error| format!("{} cannot be read: {error}", image.display()))?;
        let firmware = self.firmware();
        let nobodys_group = self.nobodys_group(&qemu, Some(&self.kvm)).unwrap_or(None);
        let place = ProcessContext { nobodys_group, ..ProcessContext::default() };
        let mut arguments = qemu::machine(true, false, firmware.as_deref(), has_sandbox(&qemu));
        arguments.extend(["-cpu", "host", "-m", "128", "-kernel"].map(str::to_owned));
        arguments.push(qemu::file(kernel.as_raw_fd()));
        arguments.extend(["-append", "console=ttyS0 earlyprintk=ttyS0 panic=-1"].map(str::to_owned));
        let mut process = spawn(&qemu, &arguments, place, &[kernel.as_raw_fd()], writer)
            .map_err(|error| format!("QEMU cannot be started: {error}"))?;
        let begun = Instant::now();
        let outcome = loop {
            let has_ended = console.closed_within(GLANCE);
            if console.says(FIRST_LINE) {
                break Ok(());
            }
            if has_ended {
                break Err(format!("QEMU exited under KVM: {}", console.last_line()));
            }
            if begun.elapsed() > PATIENCE {
                break Err(format!("a guest under KVM printed nothing within {} s", PATIENCE.as_secs()));
            }
        };
        // Both fail only if it has ended already.
        let _ = process.kill();
        let _ = process.wait();
        outcome
    }
}

pub(crate) fn decide(order: &GuestOrder, tools: &Tools) -> Result<Accelerated, Error> {
    const EXACT: &str = "exact mode counts instructions, which only emulation can";
    let why = match order.acceleration {
        _ if order.exact => EXACT.to_owned(),
        Acceleration::Emulation => "requested".to_owned(),
        Acceleration::Auto | Acceleration::Kvm => match kvm_trial(tools, &order.kernel.image) {
            Ok(()) => return Ok(Accelerated::Kvm),
            Err(why) => why,
        },
    };
    if order.acceleration == Acceleration::Kvm {
        return Err(Error::Failed(format!(
            "KVM cannot run a guest here: {why}; acceleration = \"auto\" falls back to emulation"
        )));
    }
    Ok(Accelerated::Emulation { why })
}

fn kvm_trial(tools: &Tools, image: &Path) -> Result<(), String> {
    static TRIALS: Mutex<BTreeMap<Tools, Result<(), String>>> = Mutex::new(BTreeMap::new());
    // One trial for each set of tools: the guest's kernel makes no difference to KVM. The lock is
    // held through the trial: other threads wait for its outcome.
    let mut trials = TRIALS.lock().unwrap_or_else(PoisonError::into_inner);
    trials.entry(tools.clone()).or_insert_with(|| tools.try_kvm(image)).clone()
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

#[cfg(test)]
mod accelerator_tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::guest::sandbox::NOBODY;

    /// A QEMU that says who it is, and the kernel that it got.
    const FAKE: &str = r#"#!/bin/sh
[ "$3" = -version ] && exit 0
echo "user $(id -u)"
for word; do case "$word" in /proc/self/fd/*) cat "$word" ;; esac; done
"#;

    #[test]
    fn the_trial_runs_as_the_guests_do_and_reads_a_kernel_that_only_root_may() {
        let directory = tempfile::tempdir().unwrap();
        let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        let (qemu, image) = (directory.path().join("qemu-system-x86_64"), directory.path().join("vmlinuz"));
        fs::write(&qemu, FAKE).unwrap();
        // Without the first words of a kernel, the verdict has the last line.
        fs::write(&image, "a kernel\n").unwrap();
        set(directory.path(), 0o755);
        set(&qemu, 0o755);
        set(&image, 0o600);
        // A device that every user may open.
        let tools = Tools { path: directory.path().into(), kvm: "/dev/null".into() };
        let why = tools.try_kvm(&image).unwrap_err();
        assert_eq!(why, "QEMU exited under KVM: a kernel");
        fs::write(&image, "").unwrap();
        let why = tools.try_kvm(&image).unwrap_err();
        let user = nix::unistd::geteuid();
        let expected = if user.is_root() { NOBODY } else { user.as_raw() };
        assert_eq!(why, format!("QEMU exited under KVM: user {expected}"));
    }
}
