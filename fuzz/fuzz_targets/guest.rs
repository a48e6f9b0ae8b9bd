//! Files and output that a guest is made of or gives: read or refused, in bounded memory.
//!
//! The first byte chooses the reader: 0 the tar file of a package, 1 the console of a guest or
//! QEMU, 2 kernel images, modules, programs and package descriptions, 3 packed modules, lists
//! of modules and output of apt.
#![no_main]

use libfuzzer_sys::fuzz_target;
use netassay_testbed::guest::fuzz;

const BLOCK: usize = 512;

fuzz_target!(|input: &[u8]| {
    let Some((reader, bytes)) = input.split_first() else { return };
    match reader % 4 {
        0 => archive(bytes),
        1 => console(bytes),
        2 => fuzz::file(bytes),
        _ => package_file(bytes),
    }
});

/// Only a kernel's image and modules are written, and only into their directories.
///
/// If the first byte is even, headers get the checksum that they should have, as any attacker's
/// would.
fn archive(input: &[u8]) {
    let Some((first, bytes)) = input.split_first() else { return };
    let mut bytes = bytes.to_vec();
    if first % 2 == 0 {
        seal(&mut bytes);
    }
    let place = tempfile::tempdir().expect("a directory of our own");
    let tree = place.path().join("tree");
    std::fs::create_dir(&tree).expect("a directory of our own");
    fuzz::package_archive(&bytes, place.path(), &tree);
}

/// Gives each header its checksum, and goes from one to the next as sizes in octal digits lead.
fn seal(bytes: &mut [u8]) {
    let mut rest = bytes;
    while let Some((header, behind)) = rest.split_at_mut_checked(BLOCK) {
        header[148..156].fill(b' ');
        let sum: u64 = header.iter().map(|byte| u64::from(*byte)).sum();
        if sum > 8 * u64::from(b' ') {
            header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        } else {
            header.fill(0);
        }
        let digits = header[124..136].iter().take_while(|byte| matches!(byte, b'0'..=b'7'));
        let size = digits.fold(0usize, |size, digit| size << 3 | usize::from(digit - b'0'));
        let next = size.div_ceil(BLOCK).saturating_mul(BLOCK).min(behind.len());
        rest = &mut behind[next..];
    }
}

/// Kept in bounded memory, and shown without control characters. The first byte is where the
/// console's bytes are cut in two.
fn console(input: &[u8]) {
    let Some((cut, bytes)) = input.split_first() else { return };
    let shown = fuzz::console(bytes, usize::from(*cut));
    assert!(shown.chars().all(|c| !c.is_control() || c == '\n' || c == '\t'), "{shown:?}");
    assert!(shown.len() < 64 << 10);
}

fn package_file(bytes: &[u8]) {
    fuzz::package_file(bytes);
    if let Ok(text) = std::str::from_utf8(bytes) {
        fuzz::package_texts(text);
    }
}
