use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::*;
use crate::guest::tar::tests::{END, entry};

fn unpacked(entries: &[Vec<u8>], tree: &Path) -> Result<(), String> {
    let bytes = [entries.concat(), END.to_vec()].concat();
    unpack(&mut bytes.as_slice(), tree).map_err(|error| error.to_string())
}

fn files_below(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut pending = vec![directory.to_owned()];
    while let Some(next) = pending.pop() {
        for entry in fs::read_dir(next).unwrap().flatten() {
            found.push(entry.path().strip_prefix(directory).unwrap().display().to_string());
            pending.extend(entry.file_type().unwrap().is_dir().then(|| entry.path()));
        }
    }
    found.sort();
    found
}

#[test]
fn only_the_image_and_the_modules_are_written_and_no_mode_but_two() {
    let place = tempfile::tempdir().unwrap();
    let entries = [
        entry("./boot/vmlinuz-1", b'0', "0006777", "", b"image"),
        entry("./boot/System.map-1", b'0', "0000644", "", b"no"),
        entry("./etc/cron.d/job", b'0', "0000644", "", b"no"),
        entry("./lib/modules/1/kernel/a.ko", b'0', "0000666", "", b"a"),
        entry("./usr/lib/modules/1/b.ko", b'0', "0000000", "", b"b"),
        entry("./lib/modules/1/build", b'2', "0000777", "/usr/src", b""),
        entry("./lib/modules/1/hard", b'1', "0000644", "./boot/vmlinuz-1", b""),
        entry("./lib/modules/1/pipe", b'6', "0000644", "", b""),
        entry("./lib/modules/1/device", b'4', "0000644", "", b""),
        entry("./lib/modules/1/empty/", b'5', "0007777", "", b""),
    ];
    unpacked(&entries, place.path()).unwrap();
    let directories =
        ["boot", "lib", "lib/modules", "lib/modules/1", "lib/modules/1/empty", "lib/modules/1/kernel"];
    let merged = ["usr", "usr/lib", "usr/lib/modules", "usr/lib/modules/1"];
    let files = ["boot/vmlinuz-1", "lib/modules/1/kernel/a.ko", "usr/lib/modules/1/b.ko"];
    let mut expected = [directories.as_slice(), &merged, &files].concat();
    expected.sort_unstable();
    assert_eq!(files_below(place.path()), expected);
    for path in expected {
        let about = fs::symlink_metadata(place.path().join(path)).unwrap();
        assert_eq!(about.is_file(), files.contains(&path), "{path}");
        let most = if about.is_dir() || path == files[0] { 0o755 } else { 0o644 };
        assert_eq!(about.permissions().mode() & 0o7777 & !most, 0, "{path}");
    }
}

#[test]
fn no_name_leads_out_and_no_link_is_followed() {
    let place = tempfile::tempdir().unwrap();
    let (tree, victim) = (place.path().join("tree"), place.path().join("victim"));
    fs::create_dir_all(&tree).unwrap();
    fs::create_dir(&victim).unwrap();
    let out = victim.to_str().unwrap();
    let entries = [
        entry("./lib/modules/out", b'2', "0000777", out, b""),
        entry("./lib/modules/out/a", b'0', "0000644", "", b"evil"),
        entry("./boot", b'2', "0000777", out, b""),
        entry("./boot/vmlinuz-1", b'0', "0000644", "", b"image"),
        entry("./lib/modules/../../../victim/b", b'0', "0000644", "", b"evil"),
        entry(&format!("{out}/lib/modules/c"), b'0', "0000644", "", b"evil"),
        entry("/lib/modules/d", b'0', "0000644", "", b"evil"),
        entry("lib/modules//d", b'0', "0000644", "", b"evil"),
        entry("./boot/vmlinuz-/../../x", b'0', "0000644", "", b"evil"),
    ];
    unpacked(&entries, &tree).unwrap();
    assert_eq!(files_below(&victim), [""; 0]);
    let inside = ["boot", "boot/vmlinuz-1", "lib", "lib/modules", "lib/modules/out", "lib/modules/out/a"];
    assert_eq!(files_below(&tree), inside);
    assert_eq!(files_below(place.path()).len(), inside.len() + 2);
}

#[test]
fn a_file_is_written_once_and_a_package_has_few_files() {
    let place = tempfile::tempdir().unwrap();
    let file = entry("./boot/vmlinuz-1", b'0', "0000644", "", b"image");
    let error = unpacked(&[file.clone(), file.clone()], place.path()).unwrap_err();
    assert!(error.contains("File exists"), "{error}");

    let mut entries = Vec::new();
    for number in 0..=MOST_ENTRIES {
        entries.extend(entry(&format!("./lib/modules/{number}"), b'2', "0000777", "x", b""));
    }
    let error = unpacked(&[entries], place.path()).unwrap_err();
    assert!(error.contains("more than 100000 files"), "{error}");
}
