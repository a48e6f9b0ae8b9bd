//! A journal of any changes: each is read back as it was written, or told as damage; none is lost,
//! none is changed.
//!
//! A setting and its value before as JSON, `[TARGET, VALUE]`, in each line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use netassay_host::journal::{parse, written};
use netassay_host::machine::{Target, Value};

fuzz_target!(|bytes: &[u8]| {
    let read = |line: &[u8]| serde_json::from_slice::<(Target, Value)>(line).ok();
    let changes: Vec<(Target, Value)> = bytes.split(|byte| *byte == b'\n').filter_map(read).collect();
    let text = written(&changes);
    let parsed = parse(&text);
    assert_eq!(parsed.changes.len() + parsed.damaged.len(), changes.len(), "{:?}", parsed.damaged);
    let is_known =
        |target: &Target, before: &Value| changes.iter().any(|one| (&one.0, &one.1) == (target, before));
    assert!(parsed.changes.iter().all(|change| is_known(&change.target, &change.before)));
    // Cut anywhere, the lines before the cut count.
    let half = parse(&text[..text.len() / 2]);
    assert!(parsed.changes.starts_with(&half.changes));
});
