//! A change to a study file is made or refused, whatever the change and whatever the file; and what
//! it makes is a file like any other.
//!
//! The file, and each change behind a zero byte.
#![no_main]

use libfuzzer_sys::fuzz_target;
use netassay_study::{Assignment, Study};

fuzz_target!(|input: &str| {
    let (text, changes) = input.split_once('\0').unwrap_or((input, ""));
    let changes: Vec<Assignment> =
        changes.split('\0').filter_map(|change| change.parse().ok()).take(8).collect();
    for change in &changes {
        assert_eq!(change.to_string().parse().as_ref(), Ok(change));
    }
    match Study::parse_with("fuzz.toml", text, &changes) {
        // Only the change knew of looks that it left no boots for.
        Ok(study) if study.looks_dropped().is_some() => {
            assert!(
                Study::parse("fuzz.toml", study.source_text())
                    .is_ok_and(|study| study.protocol().stop.is_none())
            );
        }
        Ok(study) => assert_eq!(Study::parse("fuzz.toml", study.source_text()).as_ref(), Ok(&study)),
        // Drawing the place is part of refusing.
        Err(diagnostics) => assert!(!diagnostics.to_string().is_empty()),
    }
});
