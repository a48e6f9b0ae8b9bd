//! Measurements as a gzip file (RFC 1952), which every browser can unpack.

use flate2::Crc;
use miniz_oxide::deflate::core::{
    CompressionStrategy, CompressorOxide, TDEFLFlush, TDEFLStatus, compress,
    create_comp_flags_from_zip_params,
};

// The size, in bytes, from which on speed counts for more than size. The 13 MB of a study of 10,000
// runs take a sixth of the time so, and 5 % more room.
const LARGE: usize = 1 << 22;
// The levels of effort: the most that zlib has, and little.
const MOST: i32 = 9;
const LITTLE: i32 = 2;
// A stream without a header of its own (RFC 1951), with the largest window: a negative number of
// bits means that.
const RAW: i32 = -15;
// The header of a file without a name, from no known system: magic number, method 8, no flags, no
// time.
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];

/// The bytes as a gzip file. Most are digits that do not repeat: a match of three or four of them
/// takes more room than they do by themselves, so only longer ones are used, which is 8 % less.
pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let level = if bytes.len() > LARGE { LITTLE } else { MOST };
    let mut file = HEADER.to_vec();
    deflate(
        bytes,
        create_comp_flags_from_zip_params(level, RAW, CompressionStrategy::Filtered as i32),
        &mut file,
    );
    let mut sum = Crc::new();
    sum.update(bytes);
    file.extend(sum.sum().to_le_bytes());
    // The length modulo 2^32 is what the format wants.
    file.extend((bytes.len() as u32).to_le_bytes());
    file
}

/// Adds the stream to `out`.
fn deflate(mut bytes: &[u8], flags: u32, out: &mut Vec<u8>) {
    let mut compressor = CompressorOxide::new(flags);
    let mut room = vec![0; 1 << 16];
    loop {
        let (status, read, written) = compress(&mut compressor, bytes, &mut room, TDEFLFlush::Finish);
        out.extend(&room[..written]);
        bytes = &bytes[read..];
        match status {
            TDEFLStatus::Okay => {}
            TDEFLStatus::Done => return,
            // Neither is possible: nothing is flushed twice, and no function takes the bytes.
            TDEFLStatus::BadParam | TDEFLStatus::PutBufFailed => {
                unreachable!("compressing in memory cannot fail")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use flate2::read::GzDecoder;
    use proptest::prelude::*;

    use super::*;

    fn unpacked(file: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        GzDecoder::new(file).read_to_end(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn random_digits_take_at_most_a_third_more_than_their_entropy() {
        // A linear congruential generator (Knuth, MMIX): digits that do not repeat.
        let mut state = 1_u64;
        let mut digits = String::new();
        while digits.len() < 400_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            digits.push_str(&format!("{:.13} ", (state >> 11) as f64 / (1_u64 << 53) as f64));
        }
        let file = gzip(digits.as_bytes());
        assert_eq!(unpacked(&file), digits.as_bytes());
        // Of 16 letters 13 are digits, of log2(10) bits each, 5.4 bytes together.
        let least = digits.len() as f64 / 16.0 * 13.0 * 10.0_f64.log2() / 8.0;
        assert!((file.len() as f64) < 1.3 * least, "{} bytes, {least} at least", file.len());
    }

    #[test]
    fn very_many_bytes_are_packed_fast() {
        let bytes: Vec<u8> = (0..LARGE as u32 + 1).map(|place| (place / 7) as u8).collect();
        assert!(unpacked(&gzip(&bytes)) == bytes);
    }

    proptest! {
        #[test]
        fn what_is_packed_is_unpacked(bytes in prop::collection::vec(any::<u8>(), 0..3000), times in 1_usize..60) {
            let bytes = bytes.repeat(times);
            prop_assert_eq!(unpacked(&gzip(&bytes)), bytes);
        }
    }
}
