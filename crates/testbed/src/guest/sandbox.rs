//! Restrictions of QEMU's process.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use nix::errno::Errno;
use nix::unistd::geteuid;

pub(crate) const SANDBOX: &str = "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny";

pub(crate) fn has_sandbox(qemu: &Path) -> bool {
    static KNOWN: Mutex<BTreeMap<PathBuf, bool>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    *known.entry(qemu.to_owned()).or_insert_with(|| {
        let mut command = Command::new(qemu);
        command.args(["-sandbox", SANDBOX, "-version"]).stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    })
}

pub(crate) const NOBODY: u32 = 65_534;

/// The group of QEMU as nobody. `None`: QEMU has our user, who is not root. An error says why QEMU
/// must stay root.
pub(crate) fn nobodys_group(files: &[&Path], kvm: Option<&Path>) -> Result<Option<u32>, String> {
    if !geteuid().is_root() {
        return Ok(None);
    }
    let has_nobody = ["/proc/self/uid_map", "/proc/self/gid_map"]
        .iter()
        .all(|map| fs::read_to_string(map).is_ok_and(|map| maps_id(&map, NOBODY)));
    if !has_nobody {
        return Err(format!("this user namespace has no user and group {NOBODY} (nobody)"));
    }
    if let Some(file) = files.iter().find(|file| !is_open_to_all(file)) {
        let file = file.display();
        return Err(format!(
            "other users may not read {file}: run `chmod o+rX` on it and on the directories above it"
        ));
    }
    let Some(kvm) = kvm else { return Ok(Some(NOBODY)) };
    let device = kvm.display();
    let about = kvm.metadata().map_err(|error| format!("{device}: {error}"))?;
    let may = |bits: u32| about.mode() & bits == bits;
    match about.gid() {
        _ if may(0o006) => Ok(Some(NOBODY)),
        group if may(0o060) && group != 0 => Ok(Some(group)),
        _ => Err(format!("only root can open {device}: `chgrp kvm {device}; chmod 660 {device}`")),
    }
}

/// A line has a first number inside, one outside, and how many.
fn maps_id(map: &str, id: u32) -> bool {
    map.lines().any(|line| {
        let numbers: Vec<u32> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        matches!(numbers[..], [first, _, count] if id >= first && id - first < count)
    })
}

fn is_open_to_all(path: &Path) -> bool {
    let Ok(path) = path.canonicalize() else { return false };
    path.ancestors().enumerate().all(|(above, path)| {
        let needed = if above == 0 { 0o004 } else { 0o001 };
        path.metadata().is_ok_and(|about| about.mode() & needed == needed)
    })
}

pub(crate) fn drop_privileges(nobodys_group: Option<u32>) -> io::Result<()> {
    // This runs between `fork` and `exec`: system calls only, without allocation, and without the C
    // library's wrappers, which would wait for threads that do not exist here.
    // Without capabilities root still owns its files. If this fails, there were none to lose.
    let _ = host::lower_bounds(host::CapabilitySet::empty());
    if let Some(group) = nobodys_group {
        // SAFETY: an empty list, of which nothing is read.
        Errno::result(unsafe { libc::syscall(libc::SYS_setgroups, 0, std::ptr::null::<u32>()) })?;
        // SAFETY: plain numbers.
        Errno::result(unsafe { libc::syscall(libc::SYS_setresgid, group, group, group) })?;
        // SAFETY: plain numbers.
        Errno::result(unsafe { libc::syscall(libc::SYS_setresuid, NOBODY, NOBODY, NOBODY) })?;
    }
    host::gain_no_privileges()
}

#[cfg(test)]
mod tests;
