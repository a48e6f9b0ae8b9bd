//! What a package holds (modules in each packing, images, lists) and what apt says of it: read or
//! refused, in bounded memory.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    netassay_guest::fuzz::package_file(bytes);
    if let Ok(text) = std::str::from_utf8(bytes) {
        netassay_guest::fuzz::package_texts(text);
    }
});
