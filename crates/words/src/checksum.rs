//! A short checksum of a text. It is stored, so it must be the same in every version of the
//! program; the standard library's hasher does not promise that.

/// FNV-1a of 64 bits (draft-eastlake-fnv; Fowler, Noll, Vo): two texts that differ in one byte
/// have different checksums. It is not cryptographic: collisions can be made on purpose.
#[must_use]
pub fn fnv1a(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fnv1a_equals_the_published_vectors() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
