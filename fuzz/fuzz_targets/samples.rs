//! A file of measurements in whatever format it looks like: read or refused, never a panic, in
//! bounded memory.
#![no_main]

#[path = "samples_any/mod.rs"]
mod samples_any;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((choice, bytes)) = input.split_first() else { return };
    samples_any::check(bytes, None, *choice);
});
