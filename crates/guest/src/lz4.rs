//! LZ4 in its legacy frame, as `lz4 -l` writes it: what kernels' images are packed with.
//!
//! <https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md> (legacy frame) and
//! `lz4_Block_format.md`.

const MAGIC: [u8; 4] = 0x184C_2102u32.to_le_bytes();
/// No block is longer unpacked.
const BLOCK: usize = 8 << 20;
/// No kernel is longer unpacked, in bytes; usual ones have 60 MB.
const MOST: usize = 512 << 20;

/// Is it a legacy frame?
pub(crate) fn is_packed(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// Unpacks a legacy frame.
///
/// # Errors
/// What is wrong, in words.
pub(crate) fn unpack(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let damaged = || "lz4: it is damaged".to_owned();
    let mut rest = bytes.strip_prefix(&MAGIC).ok_or_else(damaged)?;
    let mut out = Vec::new();
    while let Some((length, behind)) = rest.split_first_chunk::<4>() {
        let length = usize::try_from(u32::from_le_bytes(*length)).map_err(|_| damaged())?;
        let (packed, next) = behind.split_at_checked(length).ok_or_else(damaged)?;
        block(packed, &mut out).ok_or_else(damaged)?;
        if out.len() > MOST {
            return Err("lz4: it is larger than any kernel unpacked".to_owned());
        }
        rest = next;
    }
    if rest.is_empty() { Ok(out) } else { Err(damaged()) }
}

/// Unpacks one block behind what is there. Blocks do not refer to each other.
fn block(mut packed: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let start = out.len();
    while let Some((&token, rest)) = packed.split_first() {
        packed = rest;
        let literals = length(token >> 4, &mut packed)?;
        let (text, rest) = packed.split_at_checked(literals)?;
        out.extend_from_slice(text);
        packed = rest;
        // The last sequence of a block has no match.
        let Some((offset, rest)) = packed.split_first_chunk::<2>() else { break };
        packed = rest;
        let back = usize::from(u16::from_le_bytes(*offset));
        let matched = length(token & 15, &mut packed)?.checked_add(4)?;
        let from = out.len().checked_sub(back).filter(|from| back > 0 && *from >= start)?;
        if out.len() - start + matched > BLOCK {
            return None;
        }
        if back >= matched {
            out.extend_from_within(from..from + matched);
        } else {
            // What is copied overlaps what it becomes.
            for at in from..from + matched {
                out.push(out[at]);
            }
        }
    }
    (packed.is_empty() && out.len() - start <= BLOCK).then_some(())
}

/// A length that begins in four bits, and goes on in bytes while those are full.
fn length(nibble: u8, packed: &mut &[u8]) -> Option<usize> {
    let mut length = usize::from(nibble);
    if nibble == 15 {
        loop {
            let (&more, rest) = packed.split_first()?;
            *packed = rest;
            length = length.checked_add(usize::from(more))?;
            if more != 255 {
                break;
            }
        }
    }
    Some(length)
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A frame of one block of literals.
    pub(crate) fn stored(bytes: &[u8]) -> Vec<u8> {
        let mut block = vec![if bytes.len() < 15 { u8::try_from(bytes.len()).unwrap() << 4 } else { 0xf0 }];
        if bytes.len() >= 15 {
            let mut rest = bytes.len() - 15;
            while rest >= 255 {
                block.push(255);
                rest -= 255;
            }
            block.push(u8::try_from(rest).unwrap());
        }
        block.extend(bytes);
        let mut frame = MAGIC.to_vec();
        frame.extend(u32::try_from(block.len()).unwrap().to_le_bytes());
        frame.extend(block);
        frame
    }

    /// "kernel module " twenty times, as `lz4 -l` writes it: 14 letters, 261 more from 14 letters
    /// back, and the last five.
    pub(crate) const PACKED: [u8; 32] = [
        0x02, 0x21, 0x4c, 0x18, 24, 0, 0, 0, 0xef, b'k', b'e', b'r', b'n', b'e', b'l', b' ', b'm', b'o',
        b'd', b'u', b'l', b'e', b' ', 14, 0, 242, 0x50, b'd', b'u', b'l', b'e', b' ',
    ];

    #[test]
    fn repeats_are_unpacked() {
        assert_eq!(unpack(&PACKED).unwrap(), b"kernel module ".repeat(20));
        assert_eq!(unpack(&stored(&[7; 600])).unwrap(), [7; 600]);
        assert_eq!(unpack(&stored(b"")).unwrap(), b"");
        assert!(unpack(&PACKED[..30]).is_err() && unpack(b"text").is_err());
    }

    proptest! {
        #[test]
        fn literals_come_back(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
            prop_assert_eq!(unpack(&stored(&bytes)).unwrap(), bytes);
        }
    }
}
