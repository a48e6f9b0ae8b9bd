//! Restrictions of QEMU's process.

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
    static KNOWN: Mutex<Vec<(PathBuf, bool)>> = Mutex::new(Vec::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, has)) = known.iter().find(|(path, _)| path == qemu) {
        return *has;
    }
    let mut command = Command::new(qemu);
    command.args(["-sandbox", SANDBOX, "-version"]).stdin(Stdio::null()).stdout(Stdio::null());
    let has = command.stderr(Stdio::null()).status().is_ok_and(|status| status.success());
    known.push((qemu.to_owned(), has));
    has
}

pub(crate) const NOBODY: u32 = 65_534;

/// The group of QEMU as nobody. `None`: QEMU has our user, who is not root. An error says why QEMU
/// must stay root.
pub(crate) fn nobodys_group(files: &[&Path], kvm: Option<&Path>) -> Result<Option<u32>, String> {
    if !is_root() {
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

pub(crate) fn is_root() -> bool {
    geteuid().is_root()
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
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_program_without_a_sandbox_or_an_answer_has_none() {
        assert!(!has_sandbox(Path::new("/bin/false")) && !has_sandbox(Path::new("/nonexistent")));
        assert!(has_sandbox(Path::new("/bin/true")));
    }

    #[test]
    fn a_file_is_open_to_all_if_each_directory_above_it_is() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("qemu");
        fs::write(&file, "").unwrap();
        let set = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        for (above, own, open) in [(0o755, 0o755, true), (0o700, 0o755, false), (0o755, 0o750, false)] {
            set(directory.path(), above);
            set(&file, own);
            assert_eq!(is_open_to_all(&file), open, "{above:o} {own:o}");
        }
    }

    #[test]
    fn a_namespace_of_one_user_has_no_nobody() {
        let all = "         0          0 4294967295\n";
        assert!(maps_id(all, NOBODY) && maps_id("0 1000 1\n1 100000 65536\n", NOBODY));
        assert!(!maps_id("0 1000 1\n", NOBODY) && !maps_id("0 0 65534\n", NOBODY) && !maps_id("", NOBODY));
        assert!(!maps_id("0 0\n", 0) && !maps_id("x y z\n", 0));
    }

    #[test]
    fn root_becomes_nobody_where_files_allow_it() {
        let root = is_root();
        let nobody = Ok(Some(NOBODY).filter(|_| root));
        assert_eq!(nobodys_group(&[Path::new("/bin/true")], None), nobody);
        assert_eq!(nobodys_group(&[], Some(Path::new("/dev/null"))), nobody, "a device that all may use");
        if !root {
            return;
        }
        let missing = nobodys_group(&[Path::new("/nonexistent")], None).unwrap_err();
        assert!(missing.contains("/nonexistent"), "{missing}");
        nobodys_group(&[], Some(Path::new("/nonexistent"))).unwrap_err();

        // In place of KVM's device: only its permissions matter.
        let directory = tempfile::tempdir().unwrap();
        let device = directory.path().join("kvm");
        fs::write(&device, "").unwrap();
        for (mode, group, gid) in [
            (0o660, 27, Some(27)),
            (0o666, 27, Some(NOBODY)),
            (0o640, 27, None),
            (0o600, 27, None),
            (0o660, 0, None),
        ] {
            std::os::unix::fs::chown(&device, Some(0), Some(group)).unwrap();
            fs::set_permissions(&device, Permissions::from_mode(mode)).unwrap();
            let found = nobodys_group(&[], Some(&device));
            assert_eq!(found.clone().ok().flatten(), gid, "{mode:o} {group}: {found:?}");
            assert!(found.is_ok() || found.unwrap_err().contains("kvm: `chgrp kvm "));
        }
    }
}
