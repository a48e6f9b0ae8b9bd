//! Module files as distributions keep them: plain, or packed by xz, gzip or zstd.

use std::io::Read as _;

/// No module is larger unpacked, in bytes; the largest (graphics drivers) have about 20 MB.
pub(crate) const MOST: usize = 128 << 20;

/// The endings of module files.
pub(crate) const ENDINGS: [&str; 4] = [".ko", ".ko.xz", ".ko.gz", ".ko.zst"];

/// Unpacks what its first bytes say is packed; anything else is given back as it is.
///
/// # Errors
/// What is wrong, in words.
pub(crate) fn unpack(bytes: Vec<u8>) -> Result<Vec<u8>, String> {
    match bytes.as_slice() {
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => xz(bytes),
        [0x1f, 0x8b, ..] => gzip(&bytes),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => zstd(&bytes),
        _ => Ok(bytes),
    }
}

fn xz(bytes: Vec<u8>) -> Result<Vec<u8>, String> {
    let mut unpacked = Vec::new();
    let reader = xz4rust::XzReader::new(std::io::Cursor::new(bytes));
    read_bounded(reader, &mut unpacked).map_err(|error| format!("xz: {error}"))?;
    Ok(unpacked)
}

fn zstd(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut unpacked = Vec::new();
    let reader = ruzstd::decoding::StreamingDecoder::new(bytes).map_err(|error| format!("zstd: {error}"))?;
    read_bounded(reader, &mut unpacked).map_err(|error| format!("zstd: {error}"))?;
    Ok(unpacked)
}

fn gzip(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let start = gzip_header(bytes).ok_or("gzip: its header is damaged")?;
    miniz_oxide::inflate::decompress_to_vec_with_limit(&bytes[start..], MOST)
        .map_err(|error| format!("gzip: {error}"))
}

fn read_bounded(reader: impl std::io::Read, unpacked: &mut Vec<u8>) -> std::io::Result<()> {
    reader.take(MOST as u64 + 1).read_to_end(unpacked)?;
    if unpacked.len() > MOST {
        return Err(std::io::Error::other("larger than any module unpacked"));
    }
    Ok(())
}

/// Where the deflated data begin (RFC 1952, section 2.3).
fn gzip_header(bytes: &[u8]) -> Option<usize> {
    let flags = *bytes.get(3)?;
    let mut at = 10;
    if flags & 0x04 != 0 {
        at += 2 + usize::from(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
    }
    for text in [0x08, 0x10] {
        if flags & text != 0 {
            at += bytes.get(at..)?.iter().position(|&byte| byte == 0)? + 1;
        }
    }
    if flags & 0x02 != 0 {
        at += 2;
    }
    (at <= bytes.len()).then_some(at)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// "kernel module " twenty times, as xz (with the CRC-32 that the kernel's build asks for),
    /// gzip (with a file's name) and zstd write it.
    pub(crate) const PACKED: [&[u8]; 3] = [
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
    ];

    #[test]
    fn all_that_distributions_use_is_unpacked() {
        let plain = b"kernel module ".repeat(20);
        for packed in PACKED {
            assert_eq!(unpack(packed.to_vec()).unwrap(), plain);
        }
        assert_eq!(unpack(plain.clone()).unwrap(), plain);
    }

    #[test]
    fn what_is_cut_short_is_refused_in_words() {
        for (packed, word) in PACKED.into_iter().zip(["xz", "gzip", "zstd"]) {
            let error = unpack(packed[..packed.len() - 12].to_vec()).unwrap_err();
            assert!(error.starts_with(word), "{error}");
        }
    }
}
