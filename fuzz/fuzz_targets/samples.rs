//! A file of measurements: read or refused, never a panic, in bounded memory.
//!
//! The first byte chooses the format, as `--format` would, or that it is recognised; the second
//! chooses options; the rest is the file.
#![no_main]

use std::io::{self, Read};

use libfuzzer_sys::fuzz_target;
use netassay_samples::{
    BootColumn, Boots, Dataset, Design, InputFormat, MeasurementFile, Options, SamplesError,
};

fuzz_target!(|input: &[u8]| {
    let [format, choice, bytes @ ..] = input else { return };
    let format = InputFormat::ALL.get(usize::from(format % 7)).copied();
    check(bytes, &options(format, *choice), usize::from(choice % 7) + 1);
});

/// A handful of options, chosen by bits.
fn options(format: Option<InputFormat>, choice: u8) -> Options {
    let bit = |place: u8| choice & 1 << place != 0;
    let boot = match (bit(0), bit(1)) {
        (false, _) => None,
        (true, false) => Some(BootColumn::None),
        (true, true) => Some(BootColumn::Named("2".to_owned())),
    };
    let boots = match (bit(2), bit(3)) {
        (false, _) => Boots::Named,
        (true, false) => Boots::PerFile,
        (true, true) => Boots::Sizes(vec![1, 2]),
    };
    let design = match (bit(4), bit(5)) {
        (false, _) => None,
        (true, false) => Some(Design::Crossed),
        (true, true) => Some(Design::Nested),
    };
    let metric = match (bit(6), bit(7)) {
        (false, _) => None,
        (true, false) => Some("all".to_owned()),
        (true, true) => Some("intervals".to_owned()),
    };
    Options { format, metric, boot, boots, design, ..Options::default() }
}

/// Reads a file whole and in pieces, and compares it with itself; the dataset is sound.
fn check(bytes: &[u8], options: &Options, piece: usize) {
    let whole = MeasurementFile::read("file", bytes, options);
    assert_eq!(sheet_text(&whole), sheet_text(&MeasurementFile::read("file", Pieces(bytes, piece), options)));
    let (Ok(one), Ok(other)) = (whole, MeasurementFile::read("other", bytes, options)) else { return };
    match Dataset::new(vec![one, other], options) {
        Ok(dataset) => check_dataset(&dataset),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

fn sheet_text(result: &Result<MeasurementFile, SamplesError>) -> String {
    if let Err(SamplesError::Content { line, column, .. }) = result {
        assert!(*line > 0 && *column > 0, "{result:?}");
    }
    format!("{result:?}")
}

fn check_dataset(dataset: &Dataset) {
    assert!(!dataset.groups.is_empty());
    for group in &dataset.groups {
        assert!(group.labels.len() > 1 && group.baseline < group.labels.len());
        for label in 0..group.labels.len() {
            assert!(group.observations.iter().any(|run| run.condition == label));
        }
        for run in &group.observations {
            assert!(run.condition < group.labels.len() && run.value.is_finite());
        }
    }
}

/// Gives what it has in pieces of at most this size.
struct Pieces<'a>(&'a [u8], usize);

impl Read for Pieces<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let size = self.1.min(into.len()).min(self.0.len());
        into[..size].copy_from_slice(&self.0[..size]);
        self.0 = &self.0[size..];
        Ok(size)
    }
}
