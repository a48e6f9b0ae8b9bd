//! A bound of a gate is read or refused with a message; what is read reads back as it is shown.
#![no_main]

use libfuzzer_sys::fuzz_target;
use netassay_gate::{Bound, Limit};

fuzz_target!(|input: &str| {
    match input.parse::<Bound>() {
        Ok(bound) => {
            assert_eq!(bound.to_string().parse().as_ref(), Ok(&bound));
            let (Limit::Percent(limit) | Limit::Absolute(limit)) = bound.limit();
            assert!(limit.is_finite());
            assert!(bound.is_of_same(&bound));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
