//! What must hold of any file, in any format. The first byte of an input chooses options, the rest
//! is the file.

use std::io::{self, Read};

use netassay_samples::{Boots, Column, Dataset, Input, InputFormat, Layout, Options, SamplesError, Sheet};

/// What the fuzzer makes of the options: a handful of them, chosen by bits.
pub(crate) fn options(format: Option<InputFormat>, choice: u8) -> Options {
    let bit = |place: u8| choice & 1 << place != 0;
    let boot = match (bit(0), bit(1)) {
        (false, _) => None,
        (true, false) => Some(Column::None),
        (true, true) => Some(Column::Named("2".to_owned())),
    };
    let boots = match (bit(2), bit(3)) {
        (false, _) => Boots::Named,
        (true, false) => Boots::PerFile,
        (true, true) => Boots::Sizes(vec![1, 2]),
    };
    let layout = match (bit(4), bit(5)) {
        (false, _) => None,
        (true, false) => Some(Layout::Crossed),
        (true, true) => Some(Layout::Nested),
    };
    let metric = match (bit(6), bit(7)) {
        (false, _) => None,
        (true, false) => Some("all".to_owned()),
        (true, true) => Some("intervals".to_owned()),
    };
    Options { format, metric, boot, boots, layout, ..Options::default() }
}

/// Reads a file whole and in pieces, beside itself; what comes out is sound.
pub(crate) fn check(bytes: &[u8], format: Option<InputFormat>, choice: u8) {
    let options = options(format, choice);
    let piece = usize::from(choice % 7) + 1;
    let whole = Sheet::read("file", bytes, &options);
    assert_eq!(told(&whole), told(&Sheet::read("file", Pieces(bytes, piece), &options)));
    let (Ok(one), Ok(other)) = (whole, Sheet::read("other", bytes, &options)) else { return };
    let input = |file: &str, sheet| Input { file: file.to_owned(), condition: None, sheet };
    match Dataset::new(vec![input("file", one), input("other", other)], &options) {
        Ok(dataset) => sound(&dataset),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

fn told(result: &Result<Sheet, SamplesError>) -> String {
    if let Err(SamplesError::Content { line, column, .. }) = result {
        assert!(*line > 0 && *column > 0, "{result:?}");
    }
    format!("{result:?}")
}

fn sound(dataset: &Dataset) {
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
