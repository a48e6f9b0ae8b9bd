//! Reads the header of a kernel's image.

use object::read::ReadRef as _;
use object::read::elf::{FileHeader as _, ProgramHeader as _, SectionHeader as _};
use object::{LittleEndian as LE, elf};

use crate::guest::modules::unpack;

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

/// Copies the part of the 64-bit little-endian ELF program `file` that the kernel loads: its
/// beginning, with a header that names no sections. Symbols and debug data are left out, because
/// copying them into a guest's memory takes time.
///
/// # Errors
/// The file's fault, in words: not ELF, not x86-64, needs a program interpreter, or refers beyond
/// its end.
pub fn loaded_part(file: &[u8]) -> Result<Vec<u8>, &'static str> {
    let end = loaded_length(file)?;
    let mut part = file.get(..end).ok_or("it is cut short")?.to_vec();
    // The section headers are cut off, so references to them are cleared.
    for range in [0x28..0x30, 0x3c..0x40] {
        part[range].fill(0);
    }
    Ok(part)
}

/// The length of a program's loaded part, from its beginning `head` with the program headers.
///
/// # Errors
/// As [`loaded_part`].
pub(crate) fn loaded_length(head: &[u8]) -> Result<usize, &'static str> {
    const BEYOND: &str = "its program headers lie beyond its end";
    let header = header(head).ok_or("it is not a 64-bit little-endian ELF file")?;
    if header.e_machine(LE) != elf::EM_X86_64 {
        return Err("it is not a program for x86-64");
    }
    let start = header.e_phoff(LE);
    if start < size_of::<Header>() as u64 {
        return Err("its program headers lie inside its header");
    }
    // The kernel takes no other (load_elf_phdrs in fs/binfmt_elf.c).
    if usize::from(header.e_phentsize(LE)) != size_of::<Program>() {
        return Err("its program headers do not have the size that the kernel accepts");
    }
    // Not by the crate's `program_headers`: for the kernel no number stands in the first section.
    let programs: &[Program] = head.read_slice_at(start, header.e_phnum(LE).into()).map_err(|()| BEYOND)?;
    if programs.iter().any(|program| program.p_type(LE) == elf::PT_INTERP) {
        return Err("it is linked dynamically, and a guest has no libraries: build it static");
    }
    let mut loads = programs.iter().filter(|program| program.p_type(LE) == elf::PT_LOAD).peekable();
    if loads.peek().is_none() {
        return Err("it has no loadable segment: it is not a program");
    }
    let headers_end = start.checked_add(size_of_val(programs) as u64);
    let ends = loads.map(|program| program.p_offset(LE).checked_add(program.p_filesz(LE)));
    let end = ends.fold(headers_end, |end, next| end.zip(next).map(|(end, next)| end.max(next)));
    end.and_then(|end| usize::try_from(end).ok()).ok_or(BEYOND)
}

/// The contents of the section `name`; `None` if there is none, or `file` is not ELF.
pub(crate) fn section<'a>(file: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let header = header(file)?;
    let sections = header.section_headers(LE, file).ok()?;
    let names = sections.get(header.section_strings_index(LE, file).ok()?.0)?.data(LE, file).ok()?;
    // Each name is compared from its beginning: to look for its end could take the whole file, and
    // that for each section.
    let name = [name.as_bytes(), b"\0"].concat();
    let is_named = |section: &&elf::SectionHeader64<LE>| {
        let start = usize::try_from(section.sh_name(LE)).ok();
        start.and_then(|start| names.get(start..)).is_some_and(|rest| rest.starts_with(&name))
    };
    sections.iter().find(is_named)?.data(LE, file).ok()
}

type Header = elf::FileHeader64<LE>;
type Program = elf::ProgramHeader64<LE>;

fn header(file: &[u8]) -> Option<&Header> {
    Header::parse(file).ok().filter(|header| header.is_little_endian())
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

#[cfg(test)]
pub(crate) mod payload_tests {
    use super::*;
    use crate::guest::modules::unpack_tests::lz4;

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

#[cfg(test)]
mod elf_tests {
    use super::*;

    #[test]
    fn this_test_is_cut_to_what_is_loaded() {
        let whole = std::fs::read("/proc/self/exe").unwrap();
        let part = loaded_part(&whole).unwrap();
        assert!(part.len() < whole.len(), "{} of {}", part.len(), whole.len());
        assert_eq!(loaded_part(&part).unwrap(), part);
        assert_eq!(loaded_length(&whole[..4096]), Ok(part.len()));
        assert!(section(&whole, ".text").unwrap().len() > 1000);
        assert!(section(&part, ".text").is_none());
    }

    #[test]
    fn what_is_no_program_is_refused_in_words() {
        assert!(loaded_part(b"#!/bin/sh\n").unwrap_err().contains("not a 64-bit"));
        let mut empty = vec![0; size_of::<Header>()];
        empty[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
        assert!(loaded_part(&empty).unwrap_err().contains("x86-64"));
        empty[0x12] = 62;
        assert!(loaded_part(&empty).unwrap_err().contains("inside its header"));
        empty[0x20] = 64;
        assert!(loaded_part(&empty).unwrap_err().contains("size"));
        empty[0x36] = 56;
        assert!(loaded_part(&empty).unwrap_err().contains("no loadable segment"));
    }

    /// Found by fuzzing: headers of another size were cut off.
    #[test]
    fn program_headers_of_another_size_are_refused() {
        let mut file = std::fs::read("/proc/self/exe").unwrap();
        assert!(loaded_part(&file).is_ok());
        for size in [0, 55, 57] {
            file[0x36] = size;
            assert!(loaded_part(&file).unwrap_err().contains("size"), "{size}");
        }
    }
}
