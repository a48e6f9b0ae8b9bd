//! Just as much of ELF as is needed: which part of a program is loaded, and a section by its name.

/// What the kernel loads of the 64-bit little-endian ELF program `file`: its beginning, with a
/// header that tells of no sections. The rest (symbols, what a debugger wants) is for others, and
/// in a guest's memory it costs the time of copying it there.
///
/// # Errors
/// What is wrong with the file, in words: not ELF, not x86-64, needs a program interpreter, or
/// refers beyond its end.
pub fn loaded_part(file: &[u8]) -> Result<Vec<u8>, &'static str> {
    let end = loaded_length(file)?;
    let mut part = file.get(..end).ok_or("it is cut short")?.to_vec();
    // Without the section headers, what points at them would point nowhere.
    for range in [0x28..0x30, 0x3c..0x40] {
        part[range].fill(0);
    }
    Ok(part)
}

/// How many bytes of a program are loaded, from its beginning `head` with the program headers.
///
/// # Errors
/// As [`loaded_part`].
pub(crate) fn loaded_length(head: &[u8]) -> Result<usize, &'static str> {
    let header = Header::read(head).ok_or("it is not a 64-bit little-endian ELF file")?;
    if header.machine != EM_X86_64 {
        return Err("it is not a program for x86-64");
    }
    if header.programs < HEADER {
        return Err("its program headers lie inside its header");
    }
    // The kernel takes no other (load_elf_phdrs in fs/binfmt_elf.c), and what is read of each must
    // be within its own bytes.
    if header.program_size != PROGRAM {
        return Err("its program headers do not have the size that the kernel accepts");
    }
    let mut end = header.programs.checked_add(header.program_size.saturating_mul(header.program_count));
    let mut loads = 0;
    for index in 0..header.program_count {
        let program = header.program(head, index).ok_or("its program headers lie beyond its end")?;
        match program.kind {
            PT_INTERP => {
                return Err("it is linked dynamically, and a guest has no libraries: build it static");
            }
            PT_LOAD => {
                loads += 1;
                let last = program.offset.checked_add(program.in_file);
                end = end.zip(last).map(|(end, last)| end.max(last));
            }
            _ => {}
        }
    }
    if loads == 0 {
        return Err("it has no loadable segment: it is not a program");
    }
    end.ok_or("its program headers lie beyond its end")
}

/// The contents of the section `name`; `None` if there is none, or `file` is no ELF file.
pub(crate) fn section<'a>(file: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let header = Header::read(file)?;
    let names = header.section(file, header.names)?.contents(file)?;
    (0..header.section_count).find_map(|index| {
        let section = header.section(file, index)?;
        let found = names.get(section.name..)?.split(|&byte| byte == 0).next()?;
        if found == name.as_bytes() { section.contents(file) } else { None }
    })
}

const HEADER: usize = 64;
/// A program header.
const PROGRAM: usize = 56;
const EM_X86_64: u16 = 62;
const PT_LOAD: u32 = 1;
const PT_INTERP: u32 = 3;

struct Header {
    machine: u16,
    programs: usize,
    program_size: usize,
    program_count: usize,
    sections: usize,
    section_size: usize,
    section_count: usize,
    names: usize,
}

struct Program {
    kind: u32,
    offset: usize,
    in_file: usize,
}

struct Section {
    name: usize,
    offset: usize,
    size: usize,
}

impl Header {
    fn read(file: &[u8]) -> Option<Self> {
        // Magic number, 64 bits, little-endian.
        if file.get(..6)? != b"\x7fELF\x02\x01" || file.len() < HEADER {
            return None;
        }
        Some(Self {
            machine: half(file, 0x12)?,
            programs: long(file, 0x20)?,
            program_size: half(file, 0x36)?.into(),
            program_count: half(file, 0x38)?.into(),
            sections: long(file, 0x28)?,
            section_size: half(file, 0x3a)?.into(),
            section_count: half(file, 0x3c)?.into(),
            names: half(file, 0x3e)?.into(),
        })
    }

    fn program(&self, file: &[u8], index: usize) -> Option<Program> {
        let at = self.programs.checked_add(self.program_size.checked_mul(index)?)?;
        Some(Program {
            kind: word(file, at)?,
            offset: long(file, at.checked_add(0x08)?)?,
            in_file: long(file, at.checked_add(0x20)?)?,
        })
    }

    fn section(&self, file: &[u8], index: usize) -> Option<Section> {
        let at = self.sections.checked_add(self.section_size.checked_mul(index)?)?;
        Some(Section {
            name: usize::try_from(word(file, at)?).ok()?,
            offset: long(file, at.checked_add(0x18)?)?,
            size: long(file, at.checked_add(0x20)?)?,
        })
    }
}

impl Section {
    fn contents<'a>(&self, file: &'a [u8]) -> Option<&'a [u8]> {
        file.get(self.offset..self.offset.checked_add(self.size)?)
    }
}

fn bytes<const N: usize>(file: &[u8], at: usize) -> Option<[u8; N]> {
    file.get(at..at.checked_add(N)?)?.try_into().ok()
}

fn half(file: &[u8], at: usize) -> Option<u16> {
    bytes(file, at).map(u16::from_le_bytes)
}

fn word(file: &[u8], at: usize) -> Option<u32> {
    bytes(file, at).map(u32::from_le_bytes)
}

fn long(file: &[u8], at: usize) -> Option<usize> {
    bytes(file, at).map(u64::from_le_bytes).and_then(|value| usize::try_from(value).ok())
}

#[cfg(test)]
mod tests {
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
        let mut empty = vec![0; HEADER];
        empty[..6].copy_from_slice(b"\x7fELF\x02\x01");
        assert!(loaded_part(&empty).unwrap_err().contains("x86-64"));
        empty[0x12] = 62;
        assert!(loaded_part(&empty).unwrap_err().contains("inside its header"));
        empty[0x20] = 64;
        assert!(loaded_part(&empty).unwrap_err().contains("size"));
        empty[0x36] = 56;
        assert!(loaded_part(&empty).unwrap_err().contains("no loadable segment"));
    }

    /// Found by fuzzing: headers of another size reach beyond what was thought to be theirs, and
    /// were cut off.
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
