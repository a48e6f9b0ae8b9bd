//! A study file is whatever an editor left on disk: it is read or refused, never a panic, in
//! bounded time and memory.
#![no_main]

use libfuzzer_sys::fuzz_target;
use netassay_study::{Study, expected_duration, schedule};

fuzz_target!(|text: &str| {
    let study = match Study::parse("fuzz.toml", text) {
        Ok(study) => study,
        // Drawing the place is part of refusing.
        Err(diagnostics) => {
            assert!(!diagnostics.to_string().is_empty());
            return;
        }
    };
    assert_eq!(study.source_text(), text);

    // What was accepted can be planned, and its plan can be run.
    let plan = study.plan();
    let _ = expected_duration(&plan, study.protocol());
    let boots = schedule(&plan.states_of_conditions(), study.protocol());
    assert!(boots.iter().flatten().all(|run| run.condition < plan.conditions.len()));

    // Whatever the kernel says, merging keeps every condition: as itself, or as part of an earlier
    // one.
    let planned = plan.conditions.len();
    let fingerprints: Vec<String> = (0..planned).map(|index| (index % 3).to_string()).collect();
    let before = plan.merged.len();
    let merged = plan.merge(&fingerprints);
    assert_eq!(merged.conditions.len() + merged.merged.len(), planned + before);
});
