//! What a guest and QEMU say: kept in bounded memory, and shown without control characters.
//!
//! The first byte is where the console's bytes are cut in two.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((cut, bytes)) = input.split_first() else { return };
    let shown = netassay_guest::fuzz::console(bytes, usize::from(*cut));
    assert!(shown.chars().all(|c| !c.is_control() || c == '\n' || c == '\t'), "{shown:?}");
    assert!(shown.len() < 64 << 10);
});
