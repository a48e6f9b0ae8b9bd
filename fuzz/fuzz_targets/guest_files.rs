//! What makes up a guest (kernel images, modules, programs, package descriptions) is read or
//! refused, whatever it is.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Some(release) = netassay_guest::release_of(bytes) {
        // It becomes part of a path.
        assert!(!release.is_empty() && !release.contains('/'));
    }
    if let Some(info) = netassay_guest::module_info(bytes) {
        assert!(info.depends.iter().chain(&info.after).all(|name| !name.is_empty() && !name.contains('-')));
    }
    if let Ok(part) = netassay_guest::loaded_part(bytes) {
        assert!(part.len() <= bytes.len());
        // What is left is loaded as the whole was.
        assert_eq!(netassay_guest::loaded_part(&part).as_deref(), Ok(&part[..]));
    }
    if let Some(candidate) = netassay_guest::candidate(&String::from_utf8_lossy(bytes)) {
        // They become arguments and the names of directories.
        let plain = |name: &String| !name.is_empty() && !name.starts_with(['-', '.']) && !name.contains('/');
        assert!(plain(&candidate.package) && candidate.depends.iter().all(plain));
    }
    let mut archive = netassay_guest::Archive::default();
    archive.file("module", 0o644, bytes);
    assert_eq!(archive.finish().len() % 4, 0);
});
