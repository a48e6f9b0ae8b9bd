//! A file of acknowledgements is read or refused, with a line and a column within the file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use netassay_gate::{Acknowledged, AcknowledgedError, Date};

fuzz_target!(|input: &str| {
    match Acknowledged::parse("known.toml", input, Date::new(2026, 11, 23)) {
        Err(AcknowledgedError::Wrong { line, problem, .. }) => {
            assert!((1..=input.matches('\n').count() + 1).contains(&line) && !problem.is_empty());
        }
        Ok(_) | Err(AcknowledgedError::TooLarge { .. }) => {}
    }
});
