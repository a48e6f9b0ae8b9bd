//! A file of a path is whatever an editor left on disk: it is read or refused, with its place.
#![no_main]

use libfuzzer_sys::fuzz_target;
use netassay_trace::{Btf, Found, Offered, Path, functions, resolve};

fuzz_target!(|text: &str| {
    // The same text as a kernel's list of symbols.
    let offered = Offered { functions: Ok(functions(text, |_| true)), types: Ok(Btf::default()) };
    match Path::parse("fuzz.toml", text) {
        Ok(path) => {
            for stage in resolve(&path, &offered) {
                assert!(
                    matches!(stage.ipv4, Found::Points(_)) || stage.ipv4 != Found::Missing(String::new())
                );
            }
        }
        Err(error) => assert!(error.line >= 1 && error.column >= 1 && !error.problem.is_empty()),
    }
});
