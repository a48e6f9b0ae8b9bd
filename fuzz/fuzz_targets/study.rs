//! A study file and changes to it (`--set KEY=VALUE`): read or refused, never a panic, in bounded
//! time and memory.
//!
//! The first byte chooses the reader: 0 a file, 1 a file and changes to it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use netassay_study::{Assignment, Study, expected_duration, schedule};

fuzz_target!(|input: &[u8]| {
    let Some((reader, bytes)) = input.split_first() else { return };
    let text = String::from_utf8_lossy(bytes);
    match reader % 2 {
        0 => file(&text),
        _ => changed_file(&text),
    }
});

fn file(text: &str) {
    let study = match Study::parse("fuzz.toml", text) {
        Ok(study) => study,
        // Drawing the place is part of refusing.
        Err(diagnostics) => {
            assert!(!diagnostics.to_string().is_empty());
            return;
        }
    };
    assert_eq!(study.text, text);

    // An accepted study can be planned, and its plan can be run.
    let plan = study.plan();
    let _ = expected_duration(&plan, &study.protocol);
    let boots = schedule(&plan.states_of_conditions(), &study.protocol);
    assert!(boots.iter().flatten().all(|run| run.condition < plan.conditions.len()));

    // Whatever the kernel says, merging keeps every condition: as itself, or as part of an earlier
    // one.
    let planned = plan.conditions.len();
    let fingerprints: Vec<String> = (0..planned).map(|index| (index % 3).to_string()).collect();
    let before = plan.merged.len();
    let merged = plan.merge(&fingerprints);
    assert_eq!(merged.conditions.len() + merged.merged.len(), planned + before);
}

/// A change is made or refused; the file that it makes is a file like any other.
///
/// The file, and each change behind a zero byte.
fn changed_file(input: &str) {
    let (text, changes) = input.split_once('\0').unwrap_or((input, ""));
    let changes: Vec<Assignment> =
        changes.split('\0').filter_map(|change| change.parse().ok()).take(8).collect();
    for change in &changes {
        assert_eq!(change.to_string().parse().as_ref(), Ok(change));
    }
    match Study::parse_with("fuzz.toml", text, &changes) {
        Ok(study) => assert_eq!(Study::parse("fuzz.toml", &study.text).as_ref(), Ok(&study)),
        // Drawing the place is part of refusing.
        Err(diagnostics) => assert!(!diagnostics.to_string().is_empty()),
    }
}
