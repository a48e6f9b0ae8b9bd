//! The tar files of a package: whatever is in them, only a kernel's image and modules are written,
//! and only where they belong.
//!
//! If the first byte is even, headers get the checksum that they should have, as any attacker's
//! would.
#![no_main]

use libfuzzer_sys::fuzz_target;

const BLOCK: usize = 512;

fuzz_target!(|input: &[u8]| {
    let Some((first, bytes)) = input.split_first() else { return };
    let mut bytes = bytes.to_vec();
    if first % 2 == 0 {
        seal(&mut bytes);
    }
    let place = tempfile::tempdir().expect("a directory of our own");
    let tree = place.path().join("tree");
    std::fs::create_dir(&tree).expect("a directory of our own");
    netassay_guest::fuzz::package_archive(&bytes, place.path(), &tree);
});

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
