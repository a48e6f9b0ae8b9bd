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
    let root = geteuid().is_root();
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
