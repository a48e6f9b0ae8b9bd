//! (tests) Damaged files: each reader reads them, or reports an error.

use proptest::prelude::*;

use crate::guest::image::{loaded_part, section};
use crate::guest::modules::modinfo_tests::module;
use crate::guest::modules::{self, dependencies, unpack};

fn samples() -> Vec<Vec<u8>> {
    let program = std::fs::read("/proc/self/exe").unwrap()[..4096].to_vec();
    let packed = modules::unpack_tests::PACKED.map(<[u8]>::to_vec);
    packed.into_iter().chain([program, module(b"depends=a,b\0softdep=pre: c\0")]).collect()
}

proptest! {
    #[test]
    fn a_damaged_file_is_read_or_refused(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..12),
        headers: bool,
        cut in any::<prop::sample::Index>(),
    ) {
        for mut file in samples() {
            let damaged = if headers { file.len().min(100) } else { file.len() };
            for (at, byte) in &damage {
                file[at.index(damaged)] = *byte;
            }
            for bytes in [&file[..], &file[..cut.index(file.len() + 1)]] {
                let _ = unpack(bytes);
                let _ = loaded_part(bytes);
                let _ = section(bytes, ".modinfo");
                let _ = dependencies(bytes);
            }
        }
    }
}
