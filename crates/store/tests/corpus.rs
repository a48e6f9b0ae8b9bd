//! The seeds from which stored studies are fuzzed: each is one that this version reads, else
//! fuzzing begins with what is refused at its first field.

use std::fs;
use std::path::Path;

use record::{Detail, Environment, Evidence, Series};
use study::Plan;

#[test]
fn every_seed_of_a_stored_study_is_read() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/stored_study");
    let mut seen = 0;
    for entry in fs::read_dir(directory).unwrap().flatten() {
        let (name, bytes) = (entry.file_name(), fs::read(entry.path()).unwrap());
        let texts: Vec<&str> =
            bytes.split(|byte| *byte == 0).map(|text| str::from_utf8(text).unwrap()).collect();
        // As `fuzz/fuzz_targets/stored_study.rs` takes them apart.
        let [plan, _toml, environment, detail, label, evidence, columns, _reason, values] = texts[..] else {
            panic!("{name:?} has {} texts", texts.len());
        };
        let read = |what: &str, error: Option<serde_json::Error>| {
            assert!(error.is_none(), "{what} of {name:?}: {}", error.unwrap());
        };
        read("the plan", Plan::read(plan).err());
        read("the environment", serde_json::from_str::<Environment>(environment).err());
        read("the detail", Detail::read(detail).err());
        assert_eq!(label.is_empty(), evidence.is_empty(), "{name:?}");
        if !evidence.is_empty() {
            read("the evidence", serde_json::from_str::<Vec<Evidence>>(evidence).err());
        }
        if columns != "[]" {
            read("the counters over time", serde_json::from_str::<Series>(columns).err());
        }
        assert!(values.lines().count() > 3, "{name:?} has no values");
        seen += 1;
    }
    assert!(seen >= 7, "{seen} seeds");
}
