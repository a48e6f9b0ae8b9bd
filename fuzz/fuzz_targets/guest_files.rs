//! What makes up a guest (kernel images, modules, programs, package descriptions) is read or refused, whatever it is.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (Vec<u8>, Vec<u8>, Vec<u8>, String)| {
    let (image, module, program, text) = input;
    if let Some(release) = netassay_guest::release_of(&image) {
        // It becomes part of a path.
        assert!(!release.is_empty() && !release.contains('/'));
    }
    if let Some(info) = netassay_guest::module_info(&module) {
        assert!(info.depends.iter().chain(&info.after).all(|name| !name.is_empty() && !name.contains('-')));
    }
    if let Ok(part) = netassay_guest::loaded_part(&program) {
        assert!(part.len() <= program.len());
        // What is left is loaded as the whole was.
        assert_eq!(netassay_guest::loaded_part(&part).as_deref(), Ok(&part[..]));
    }
    if let Some(candidate) = netassay_guest::candidate(&text) {
        // They become arguments and the names of directories.
        let plain = |name: &String| !name.is_empty() && !name.starts_with(['-', '.']) && !name.contains('/');
        assert!(plain(&candidate.package) && candidate.depends.iter().all(plain));
    }
    let mut archive = netassay_guest::Archive::default();
    archive.file("module", 0o644, &module);
    assert_eq!(archive.finish().len() % 4, 0);
});
