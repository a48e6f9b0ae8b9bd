//! Any command line and any files: what ministat would say, or its refusal, never a panic; and the
//! same numbers however the bytes arrive.
//!
//! The first byte chooses how words are read; behind it, each ended by a zero byte, stand the
//! words, an empty one, and the files.
#![no_main]

use libfuzzer_sys::fuzz_target;
use netassay_samples::ministat::{MinistatPlot, MinistatRequest, Set, ValueFormat, Values, write_all};

/// The widest plot that is worth the fuzzer's time.
const WIDE: usize = 1000;

fuzz_target!(|input: &[u8]| {
    let Some((choice, rest)) = input.split_first() else { return };
    let posix = choice & 1 != 0;
    let mut parts = rest.split(|byte| *byte == 0).map(<[u8]>::to_vec);
    let words: Vec<Vec<u8>> = parts.by_ref().take_while(|word| !word.is_empty()).collect();
    let files: Vec<Vec<u8>> = parts.collect();
    for file in &files {
        reads_alike(file);
    }
    match MinistatRequest::parse(&words, b"ministat", posix) {
        Ok(request) => compare(&request, &files),
        Err(refusal) => assert!(!refusal.text.is_empty() && refusal.code != 0),
    }
});

/// Whole, in two pieces, and with a blank before each line, which changes
/// no value.
fn reads_alike(bytes: &[u8]) {
    let format = ValueFormat::new(1, b" \t", 8191);
    let whole = read(&format, bytes);

    let (start, _) = bytes.split_at(bytes.len() / 2);
    let (start, rest) = bytes.split_at(format.complete(start));
    let pieces = read(&format, start).and_then(|mut values| {
        values.extend(read(&format, rest)?);
        Some(values)
    });
    assert_eq!(whole, pieces);

    if bytes.split(|byte| *byte == b'\n').all(|line| line.len() < 8000) {
        let blanks: Vec<u8> =
            bytes.split_inclusive(|byte| *byte == b'\n').flat_map(|line| [b" ", line].concat()).collect();
        assert_eq!(whole, read(&format, &blanks));
    }
}

/// The bits of the values, because a NaN is not equal to itself.
fn read(format: &ValueFormat, bytes: &[u8]) -> Option<Vec<u64>> {
    let mut values = Vec::new();
    format.read(bytes, &mut values).ok()?;
    Some(values.into_iter().map(f64::to_bits).collect())
}

fn compare(request: &MinistatRequest, files: &[Vec<u8>]) {
    let format = request.format();
    let mut sets = Vec::new();
    for bytes in files.iter().take(request.files.len().max(1)) {
        let mut read = Vec::new();
        if format.read(bytes, &mut read).is_err() {
            return;
        }
        let mut values = Values::default();
        values.extend(&read);
        match Set::summed("a set".to_owned(), values, request.plot) {
            Ok(set) => sets.push(set),
            Err(_) => return,
        }
    }
    if sets.is_empty() {
        return;
    }
    let width = request.width.unwrap_or(74).min(WIDE);
    let plot = if request.plot {
        MinistatPlot::new(&sets, width, request.separate_bars).unwrap_or_default()
    } else {
        None
    };
    let names = vec![b"a set".as_slice(); sets.len()];
    let mut text = Vec::new();
    write_all(&mut text, request, &sets, &names, plot.as_ref()).expect("memory takes everything");
    assert!(text.ends_with(b"\n"));
}
