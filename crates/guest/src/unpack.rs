//! Module files as distributions keep them: plain, or packed by xz, gzip or zstd.

use std::io::Read as _;

/// No module is larger unpacked, in bytes; the largest (graphics drivers) have about 20 MB.
const MOST: usize = 128 << 20;

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
