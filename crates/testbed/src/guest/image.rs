//! Reads the header of a kernel's image.

use object::read::ReadRef as _;
use object::read::elf::{FileHeader as _, ProgramHeader as _, SectionHeader as _};
use object::{LittleEndian as LE, elf};

// The setup header's signature and version text (Documentation/arch/x86/boot.rst: `header`,
// `kernel_version`).
const SIGNATURE: std::ops::Range<usize> = 0x202..0x206;
const VERSION_POINTER: std::ops::Range<usize> = 0x20e..0x210;
// The bytes that [`release_of`] needs: the pointer has 16 bits.
pub(crate) const HEAD: u64 = 0x1_0400;
// The longest release (`__NEW_UTS_LEN`).
const LONGEST: usize = 64;

pub(crate) fn is_image(head: &[u8]) -> bool {
    head.get(SIGNATURE) == Some(b"HdrS")
}

/// The first word of the version text, such as "6.1.0-56-cloud-amd64".
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

/// Copies the part of a 64-bit little-endian ELF program that the kernel loads, without symbols and
/// debug data, whose copying into a guest's memory takes time.
///
/// # Errors
/// The fault: not ELF, not x86-64, needs an interpreter, or refers beyond its end.
pub fn loaded_part(file: &[u8]) -> Result<Vec<u8>, &'static str> {
    let end = loaded_length(file)?;
    let mut part = file.get(..end).ok_or("it is cut short")?.to_vec();
    // The section headers are cut off, so references to them are cleared.
    for range in [0x28..0x30, 0x3c..0x40] {
        part[range].fill(0);
    }
    Ok(part)
}

fn loaded_length(head: &[u8]) -> Result<usize, &'static str> {
    const BEYOND: &str = "its program headers lie beyond its end";
    let header = header(head).ok_or("it is not a 64-bit little-endian ELF file")?;
    if header.e_machine(LE) != elf::EM_X86_64 {
        return Err("it is not a program for x86-64");
    }
    let start = header.e_phoff(LE);
    if start < size_of::<ElfHeader>() as u64 {
        return Err("its program headers lie inside its header");
    }
    // The kernel takes no other (load_elf_phdrs in fs/binfmt_elf.c).
    if usize::from(header.e_phentsize(LE)) != size_of::<ElfProgramHeader>() {
        return Err("its program headers do not have the size that the kernel accepts");
    }
    // Not by the crate's `program_headers`: for the kernel no number stands in the first section.
    let programs: &[ElfProgramHeader] =
        head.read_slice_at(start, header.e_phnum(LE).into()).map_err(|()| BEYOND)?;
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

pub(crate) fn section<'a>(file: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let header = header(file)?;
    let sections = header.section_headers(LE, file).ok()?;
    let names = sections.get(header.section_strings_index(LE, file).ok()?.0)?.data(LE, file).ok()?;
    // To look for the end of each name could take the whole file for each section.
    let name = [name.as_bytes(), b"\0"].concat();
    let is_named = |section: &&elf::SectionHeader64<LE>| {
        let start = usize::try_from(section.sh_name(LE)).ok();
        start.and_then(|start| names.get(start..)).is_some_and(|rest| rest.starts_with(&name))
    };
    sections.iter().find(is_named)?.data(LE, file).ok()
}

type ElfHeader = elf::FileHeader64<LE>;
type ElfProgramHeader = elf::ProgramHeader64<LE>;

fn header(file: &[u8]) -> Option<&ElfHeader> {
    ElfHeader::parse(file).ok().filter(|header| header.is_little_endian())
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
        let mut empty = vec![0; size_of::<ElfHeader>()];
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
