//! Arguments of a gate: each is read or refused with a message, never a panic.
//!
//! The first byte chooses the reader: 0 a file of acknowledged regressions, 1 a bound
//! (`--fail-if`).
#![no_main]

use libfuzzer_sys::fuzz_target;
use netassay_results::gate::{Bound, acknowledgements, day_of_instant};

fuzz_target!(|input: &[u8]| {
    let Some((reader, bytes)) = input.split_first() else { return };
    let text = String::from_utf8_lossy(bytes);
    match reader % 2 {
        0 => acknowledged(&text),
        _ => bound(&text),
    }
});

/// An error has a line within the file.
fn acknowledged(text: &str) {
    // 2026-11-23.
    let read = acknowledgements("known.toml", text, day_of_instant(1_795_392_000_000));
    if let Err(error) = read {
        assert!((1..=text.matches('\n').count() + 1).contains(&error.line) && !error.problem.is_empty());
    }
}

/// A bound that was read is shown and read again as the same bound.
fn bound(text: &str) {
    match text.parse::<Bound>() {
        Ok(bound) => {
            assert_eq!(bound.to_string().parse().as_ref(), Ok(&bound));
            assert!(bound.number().is_finite());
            assert!(bound.is_of_same(&bound));
        }
        Err(why) => assert!(!why.to_string().is_empty()),
    }
}
