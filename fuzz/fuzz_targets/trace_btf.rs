//! BTF is whatever bytes the kernel, or a file in its place, gives: it is read or refused in
//! bounded memory.
#![no_main]

use libfuzzer_sys::fuzz_target;
use netassay_trace::Btf;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(btf) = Btf::parse(bytes, |_| true) {
        let mut names = btf.functions.keys().chain(btf.tracepoints.keys());
        assert!(names.all(|name| name.bytes().all(|byte| byte.is_ascii_graphic())));
    }
});
