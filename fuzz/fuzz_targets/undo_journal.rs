//! An undo journal is read whatever it holds, and what cannot be read is told.
#![no_main]

use libfuzzer_sys::fuzz_target;
use netassay_host::journal::parse;

fuzz_target!(|bytes: &[u8]| {
    let parsed = parse(bytes);
    // No change passes that may not be made.
    assert!(parsed.changes.iter().all(|change| change.target.check().is_ok()));
    assert!(parsed.open().len() <= parsed.changes.len());
});
