//! Netperf's CSV and keywords: read or refused, never a panic, in bounded memory.
#![no_main]

#[path = "samples_any/mod.rs"]
mod samples_any;

use libfuzzer_sys::fuzz_target;
use netassay_samples::InputFormat;

fuzz_target!(|input: &[u8]| {
    let Some((choice, bytes)) = input.split_first() else { return };
    samples_any::check(bytes, Some(InputFormat::Netperf), *choice);
});
