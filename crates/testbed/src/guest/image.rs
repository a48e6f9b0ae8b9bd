//! Reads the header of a kernel's image.

/// Places of the setup header's signature and of the version text in a boot sector
/// (Documentation/arch/x86/boot.rst: `header` at 0x202, `kernel_version` at 0x20e, counted from
/// 0x200).
const SIGNATURE: std::ops::Range<usize> = 0x202..0x206;
const VERSION_POINTER: std::ops::Range<usize> = 0x20e..0x210;
/// The bytes that [`release_of`] needs: the pointer has 16 bits.
pub(crate) const HEAD: u64 = 0x1_0400;
/// The longest release (`__NEW_UTS_LEN`).
const LONGEST: usize = 64;

pub(crate) fn is_image(head: &[u8]) -> bool {
    head.get(SIGNATURE) == Some(b"HdrS")
}

/// The release of an image that begins with `head`, such as "6.1.0-56-cloud-amd64": the first word
/// of the version text. `None` without a bzImage or a version.
pub(crate) fn release_of(head: &[u8]) -> Option<String> {
    if !is_image(head) {
        return None;
    }
    let pointer: [u8; 2] = head.get(VERSION_POINTER)?.try_into().ok()?;
    let start = usize::from(u16::from_le_bytes(pointer)).checked_add(0x200)?;
    if start == 0x200 {
        return None;
    }
    let word = head.get(start..)?.split(|&byte| byte == 0 || byte == b' ').next()?;
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b".-_+~".contains(byte);
    (!word.is_empty() && word.len() <= LONGEST && word.iter().all(plain))
        .then(|| String::from_utf8_lossy(word).into_owned())
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    pub(crate) fn image(version: &[u8]) -> Vec<u8> {
        let mut head = vec![0; 0x400];
        head[SIGNATURE].copy_from_slice(b"HdrS");
        head[VERSION_POINTER].copy_from_slice(&0x100u16.to_le_bytes());
        head[0x300..0x300 + version.len()].copy_from_slice(version);
        head
    }

    #[test]
    fn the_release_is_the_first_word_of_the_version() {
        assert_eq!(release_of(&image(b"6.1.0-56-cloud-amd64 (root@b) #1")).unwrap(), "6.1.0-56-cloud-amd64");
        assert_eq!(release_of(&image(b"")), None);
        assert_eq!(release_of(&image(b"../../etc")), None);
        assert_eq!(release_of(b"\x7fELF"), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_an_image_or_not(bytes in prop::collection::vec(any::<u8>(), 0..0x600), pointer: u16) {
            let _ = release_of(&bytes);
            let mut head = image(b"6.1 x");
            head[VERSION_POINTER].copy_from_slice(&pointer.to_le_bytes());
            let _ = release_of(&head);
        }
    }
}
