//! Unpacks modules and kernels: xz, gzip, zstd or LZ4's legacy frame.

use std::io::{Cursor, Read};

/// Limit of an unpacked module or kernel, in bytes: usual kernels have 60 MB, the largest modules
/// (graphics drivers) about 20 MB.
pub(crate) const MOST: u64 = 128 << 20;

pub(crate) const ENDINGS: [&str; 4] = [".ko", ".ko.xz", ".ko.gz", ".ko.zst"];

/// Unpacks what its first bytes say is packed; `None` for anything else.
///
/// # Errors
/// The fault of the packed data, in words.
pub(crate) fn unpack(packed: &[u8]) -> Result<Option<Vec<u8>>, String> {
    let (format, reader): (_, Box<dyn Read + '_>) = match packed {
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => {
            ("xz", Box::new(xz4rust::XzReader::new(Cursor::new(packed.to_vec()))))
        }
        [0x1f, 0x8b, ..] => ("gzip", Box::new(flate2::bufread::GzDecoder::new(packed))),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            let decoder = ruzstd::decoding::StreamingDecoder::new(packed);
            ("zstd", Box::new(decoder.map_err(|error| format!("zstd: {error}"))?))
        }
        [0x02, 0x21, 0x4c, 0x18, ..] => ("lz4", Box::new(lz4_flex::frame::FrameDecoder::new(packed))),
        _ => return Ok(None),
    };
    let mut unpacked = Vec::new();
    reader.take(MOST + 1).read_to_end(&mut unpacked).map_err(|error| format!("{format}: {error}"))?;
    if unpacked.len() as u64 > MOST {
        return Err(format!("{format}: larger than any kernel or module unpacked"));
    }
    Ok(Some(unpacked))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// "kernel module " twenty times, as xz (with the CRC-32 that the kernel's build asks for),
    /// gzip (with a file's name), zstd and `lz4 -l` write it.
    pub(crate) const PACKED: [&[u8]; 4] = [
        &[
            0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x01, 0x69, 0x22, 0xde, 0x36, 0x02, 0x00, 0x21, 0x01,
            0x16, 0x00, 0x00, 0x00, 0x74, 0x2f, 0xe5, 0xa3, 0xe0, 0x01, 0x17, 0x00, 0x15, 0x5d, 0x00, 0x35,
            0x99, 0x4a, 0xab, 0xa2, 0xe2, 0xaf, 0x1f, 0xda, 0xb8, 0x1c, 0x42, 0x4d, 0x2d, 0x49, 0x0c, 0x08,
            0x08, 0x45, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x9f, 0x81, 0x90, 0x5d, 0x00, 0x01, 0x2d, 0x98,
            0x02, 0x00, 0x00, 0x00, 0x6f, 0x66, 0x18, 0x33, 0x3e, 0x30, 0x0d, 0x8b, 0x02, 0x00, 0x00, 0x00,
            0x00, 0x01, 0x59, 0x5a,
        ],
        &[
            0x1f, 0x8b, 0x08, 0x08, 0x00, 0x00, 0x00, 0x00, 0x02, 0xff, 0x6d, 0x2e, 0x6b, 0x6f, 0x00, 0xcb,
            0x4e, 0x2d, 0xca, 0x4b, 0xcd, 0x51, 0xc8, 0xcd, 0x4f, 0x29, 0xcd, 0x49, 0x55, 0xc8, 0x1e, 0xe5,
            0x41, 0x79, 0x00, 0x9f, 0x81, 0x90, 0x5d, 0x18, 0x01, 0x00, 0x00,
        ],
        &[
            0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x68, 0xad, 0x00, 0x00, 0x70, 0x6b, 0x65, 0x72, 0x6e, 0x65, 0x6c,
            0x20, 0x6d, 0x6f, 0x64, 0x75, 0x6c, 0x65, 0x20, 0x01, 0x00, 0x07, 0xa1, 0x4e, 0x25, 0x6d, 0xda,
            0x8e, 0xf3,
        ],
        &[
            0x02, 0x21, 0x4c, 0x18, 24, 0, 0, 0, 0xef, b'k', b'e', b'r', b'n', b'e', b'l', b' ', b'm', b'o',
            b'd', b'u', b'l', b'e', b' ', 14, 0, 242, 0x50, b'd', b'u', b'l', b'e', b' ',
        ],
    ];

    #[test]
    fn all_that_distributions_use_is_unpacked() {
        let plain = b"kernel module ".repeat(20);
        for packed in PACKED {
            assert_eq!(unpack(packed).unwrap().unwrap(), plain);
        }
        assert_eq!(unpack(&plain), Ok(None));
    }

    #[test]
    fn what_is_damaged_cut_short_or_endless_is_refused_in_words() {
        for (packed, word) in PACKED.into_iter().zip(["xz", "gzip", "zstd", "lz4"]) {
            let error = unpack(&packed[..packed.len() - 12]).unwrap_err();
            assert!(error.starts_with(word), "{error}");
        }
        let mut gzip = PACKED[1].to_vec();
        let checksum = gzip.len() - 8;
        gzip[checksum] ^= 1;
        assert!(unpack(&gzip).unwrap_err().contains("checksum"));
        let one_block = lz4(&vec![0; 8 << 20]);
        let (magic, block) = one_block.split_at(4);
        let error = unpack(&[magic, &block.repeat(17)].concat()).unwrap_err();
        assert!(error.contains("larger than any"), "{error}");
    }

    /// A legacy frame of LZ4.
    pub(crate) fn lz4(bytes: &[u8]) -> Vec<u8> {
        let block = lz4_flex::block::compress(bytes);
        let length = u32::try_from(block.len()).unwrap().to_le_bytes();
        [&PACKED[3][..4], &length, &block].concat()
    }
}
