//! What the kernel tells of queueing disciplines and threads is read or refused, whatever it is.
#![no_main]

use libfuzzer_sys::fuzz_target;
use netassay_host::{Discipline, ThreadTimes};

fuzz_target!(|input: (Vec<u8>, Vec<u8>, String, u64)| {
    let (payload, stat, schedstat, tick) = input;
    if let Ok(discipline) = Discipline::parse(&payload) {
        // Whatever a rate is, it is one: no rate is no limit.
        assert_ne!(discipline.rate_bits, Some(0));
    }
    if let Some(times) = ThreadTimes::parse(&stat, &schedstat, tick) {
        assert_eq!(times.since(&times), ThreadTimes::default());
    }
});
