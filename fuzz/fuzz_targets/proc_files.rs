//! Files of `/proc` and `/sys` are read, or what they lack is missing, whatever they hold.
#![no_main]

use libfuzzer_sys::fuzz_target;
use netassay_host::ThreadTimes;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    // The unit of times in most kernels, and one that no number stays small with.
    for tick in [10_000_000, u64::MAX] {
        netassay_host::fuzz::proc(&text, tick);
        let (stat, schedstat) = text.split_once('\n').unwrap_or((&text, "1 2 3"));
        if let Some(times) = ThreadTimes::parse(stat.as_bytes(), schedstat, tick) {
            assert_eq!(times.since(&times), ThreadTimes::default());
        }
    }
});
