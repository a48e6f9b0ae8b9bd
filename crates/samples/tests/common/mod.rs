//! Test files: from memory and from `fixtures/`.

#![allow(dead_code, reason = "each test binary uses its own part of this")]
#![allow(clippy::allow_attributes, reason = "an expectation would fail in the binaries that use all of it")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use netassay_samples::{Dataset, MeasurementFile, Options, SamplesError};

/// A file of `fixtures/`.
pub(crate) fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)).unwrap()
}

/// Files, by name and content, put together.
pub(crate) fn dataset(files: &[(&str, &[u8])], options: &Options) -> Result<Dataset, SamplesError> {
    let mut inputs = Vec::new();
    for (name, bytes) in files {
        let (condition, file) = match name.split_once('=') {
            Some((condition, file)) => (Some(condition.to_owned()), file),
            None => (None, *name),
        };
        let mut input = MeasurementFile::read(file, *bytes, options)?;
        input.condition = condition;
        inputs.push(input);
    }
    Dataset::new(inputs, options)
}

/// The values of a group's condition, each with its boot.
pub(crate) fn values(dataset: &Dataset, group: usize, condition: usize) -> Vec<(u32, f64)> {
    let of = |run: &&stats::Observation| run.condition == condition;
    dataset.groups[group].observations.iter().filter(of).map(|run| (run.boot, run.value)).collect()
}

/// The numbers of the boots of a group's condition, each once.
pub(crate) fn boots(dataset: &Dataset, group: usize, condition: usize) -> Vec<u32> {
    let mut boots: Vec<u32> = values(dataset, group, condition).into_iter().map(|(boot, _)| boot).collect();
    boots.sort_unstable();
    boots.dedup();
    boots
}
