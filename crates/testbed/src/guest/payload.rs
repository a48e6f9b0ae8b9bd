//! The unpacked kernel of an image: shows which drivers are built in, if no file beside it does.

use crate::guest::image::is_image;
use crate::guest::unpack::unpack;

/// Places in a boot sector: its length in sectors of 512 bytes less one, and the payload's offset
/// and length (Documentation/arch/x86/boot.rst: `setup_sects`, and `payload_offset` and
/// `payload_length` from protocol 2.08 on).
const SETUP_SECTORS: usize = 0x1f1;
const PAYLOAD: [usize; 2] = [0x248, 0x24c];

#[derive(Debug)]
pub(crate) struct Payload(Vec<u8>);

impl Payload {
    /// Unpacks what `image` holds.
    ///
    /// # Errors
    /// The reason, in words.
    pub(crate) fn from_image(image: &[u8]) -> Result<Self, String> {
        let packed = packed(image).ok_or("it does not say where it contains the kernel")?;
        // The build appends the unpacked length, but for gzip, which tells it itself.
        let behind = if packed.starts_with(&[0x1f, 0x8b]) { 0 } else { 4 };
        let packed = packed.get(..packed.len().saturating_sub(behind)).unwrap_or_default();
        let kernel = unpack(packed)?.ok_or("its compression is not supported")?;
        if kernel.starts_with(b"\x7fELF") { Ok(Self(kernel)) } else { Err("it holds no ELF file".to_owned()) }
    }

    /// Whether it may have a driver `name`. `false` is certain: a driver contains its name as a
    /// text with a zero byte. `true` is not: another text may be the same.
    pub(crate) fn may_have(&self, name: &str) -> bool {
        let text = [name.as_bytes(), b"\0"].concat();
        memchr::memmem::find(&self.0, &text).is_some()
    }
}

fn packed(image: &[u8]) -> Option<&[u8]> {
    if !is_image(image) {
        return None;
    }
    let number = |at: usize| {
        let bytes: [u8; 4] = image.get(at..at + 4)?.try_into().ok()?;
        usize::try_from(u32::from_le_bytes(bytes)).ok()
    };
    // For compatibility with older protocols, 0 means 4.
    let sectors = usize::from(image[SETUP_SECTORS]);
    let setup = (if sectors == 0 { 4 } else { sectors } + 1) * 512;
    let start = setup.checked_add(number(PAYLOAD[0])?)?;
    image.get(start..start.checked_add(number(PAYLOAD[1])?)?).filter(|packed| !packed.is_empty())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::guest::unpack::tests::lz4;

    /// An image whose payload is `kernel`, packed by LZ4.
    pub(crate) fn image(kernel: &[u8]) -> Vec<u8> {
        image_of(lz4(kernel), kernel.len())
    }

    pub(crate) fn image_of(mut payload: Vec<u8>, unpacked: usize) -> Vec<u8> {
        let mut image = vec![0; 5 * 512];
        image[0x202..0x206].copy_from_slice(b"HdrS");
        payload.extend(u32::try_from(unpacked).unwrap().to_le_bytes());
        image[0x24c..0x250].copy_from_slice(&u32::try_from(payload.len()).unwrap().to_le_bytes());
        image.extend(payload);
        image
    }

    #[test]
    fn a_driver_is_known_by_its_name() {
        let payload = Payload::from_image(&image(b"\x7fELF..xvirtio_console\0..veth.")).unwrap();
        // The end of a longer text may match a shorter one.
        assert!(payload.may_have("virtio_console") && payload.may_have("console"));
        assert!(!payload.may_have("veth") && !payload.may_have("virtio-pci"));
    }

    /// "\x7fELF", six times "\xe8\x10\0\0\0nop", "virtio-pci\0", as the kernel's build packs it: xz
    /// --check=crc32 --x86 --lzma2.
    pub(crate) const XZ: [u8; 96] = [
        0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x01, 0x69, 0x22, 0xde, 0x36, 0x02, 0x01, 0x04, 0x00, 0x21,
        0x01, 0x16, 0x00, 0x0d, 0x86, 0x35, 0x1f, 0xe0, 0x00, 0x3e, 0x00, 0x27, 0x5d, 0x00, 0x3f, 0x91, 0x45,
        0x84, 0x70, 0x6a, 0x15, 0xe1, 0x78, 0x69, 0x3b, 0x2b, 0xbb, 0x5b, 0x45, 0xf7, 0x3f, 0x18, 0x83, 0x9a,
        0x59, 0xa6, 0xc0, 0x16, 0x5c, 0x3b, 0x41, 0xcb, 0xe2, 0x24, 0x10, 0x6b, 0xa2, 0x87, 0x24, 0xa4, 0x00,
        0x00, 0x00, 0x00, 0x00, 0xb8, 0xdf, 0x99, 0xcf, 0x00, 0x01, 0x3f, 0x3f, 0x2a, 0xb2, 0x3e, 0xce, 0x90,
        0x42, 0x99, 0x0d, 0x01, 0x00, 0x00, 0x00, 0x00, 0x01, 0x59, 0x5a,
    ];

    #[test]
    fn a_kernel_packed_by_xz_is_unpacked_with_its_filter_for_machine_code() {
        let payload = Payload::from_image(&image_of(XZ.to_vec(), 63)).unwrap();
        assert!(payload.may_have("virtio-pci") && payload.0.starts_with(b"\x7fELF\xe8\x10\0\0\0nop\xe8\x10"));
    }

    #[test]
    fn what_cannot_be_unpacked_is_reported() {
        assert!(Payload::from_image(b"text").unwrap_err().contains("where"));
        assert!(Payload::from_image(&image(b"no kernel")).unwrap_err().contains("ELF"));
        let mut other = image(b"\x7fELF");
        other[5 * 512] = b'B';
        assert!(Payload::from_image(&other).unwrap_err().contains("compression is not supported"));
    }
}
