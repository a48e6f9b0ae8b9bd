//! A journal of any changes: each is read back as it was written, or told as damage; none is lost, none is changed.
//!
//! A change as JSON in each line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use netassay_host::journal::{Change, parse, written};

fuzz_target!(|bytes: &[u8]| {
    let read = |line: &[u8]| serde_json::from_slice::<Change>(line).ok();
    let changes: Vec<Change> = bytes.split(|byte| *byte == b'\n').filter_map(read).collect();
    let text = written(&changes);
    let parsed = parse(&text);
    assert_eq!(parsed.changes.len() + parsed.damaged.len(), changes.len(), "{:?}", parsed.damaged);
    assert!(parsed.changes.iter().all(|change| changes.contains(change)));
    // Cut anywhere, the lines before the cut count.
    let half = parse(&text[..text.len() / 2]);
    assert!(parsed.changes.starts_with(&half.changes));
});
