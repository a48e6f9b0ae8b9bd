//! A file of a path, and the kernel's descriptions of itself: read or refused, in bounded memory.
//!
//! The first byte chooses the reader: 0 the kernel's types (BTF), 1 a file of a path, whose text is
//! read as the kernel's list of symbols too.
#![no_main]

use libfuzzer_sys::fuzz_target;
use netassay_trace::{Btf, OfferedProbes, ProbePoints, TracePath, functions, resolve};

fuzz_target!(|input: &[u8]| {
    let Some((reader, bytes)) = input.split_first() else { return };
    match reader % 2 {
        0 => types(bytes),
        _ => path(&String::from_utf8_lossy(bytes)),
    }
});

fn types(bytes: &[u8]) {
    if let Ok(btf) = Btf::parse(bytes, |_| true) {
        let mut names = btf.functions.keys().chain(btf.tracepoints.keys());
        assert!(names.all(|name| name.bytes().all(|byte| byte.is_ascii_graphic())));
    }
}

/// An error has its place in the file.
fn path(text: &str) {
    let offered = OfferedProbes { functions: Ok(functions(text, |_| true)), types: Ok(Btf::default()) };
    match TracePath::parse("fuzz.toml", text) {
        Ok(path) => {
            for stage in resolve(&path, &offered) {
                assert!(
                    matches!(stage.ipv4, ProbePoints::Points(_))
                        || stage.ipv4 != ProbePoints::Missing(String::new())
                );
            }
        }
        Err(error) => assert!(error.line >= 1 && error.column >= 1 && !error.problem.is_empty()),
    }
}
