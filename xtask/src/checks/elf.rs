//! Just enough ELF to know whether a program is statically linked (System V ABI, "Object Files").

const PT_LOAD: u32 = 1;
const PT_DYNAMIC: u32 = 2;
const PT_INTERP: u32 = 3;
const DT_NULL: u64 = 0;
const DT_NEEDED: u64 = 1;
const DT_STRTAB: u64 = 5;

/// What a program asks of the machine that starts it. Both are empty when it is statically linked.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Linkage {
    /// The program interpreter (the dynamic loader), from `PT_INTERP`.
    pub(crate) interpreter: Option<String>,
    /// The shared libraries, from `DT_NEEDED`.
    pub(crate) needed: Vec<String>,
}

/// Reads the program headers and the dynamic section of a 64-bit little-endian ELF file.
pub(crate) fn linkage(file: &[u8]) -> Result<Linkage, &'static str> {
    if !file.starts_with(b"\x7fELF") {
        return Err("not an ELF file");
    }
    if file.get(4..6) != Some(&[2, 1]) {
        return Err("not a 64-bit little-endian ELF file");
    }
    let segments = segments(file).ok_or("the program headers are cut short")?;
    let mut linkage = Linkage::default();
    for segment in &segments {
        match segment.kind {
            PT_INTERP => linkage.interpreter = Some(string(file, segment.offset).ok_or("bad PT_INTERP")?),
            PT_DYNAMIC => linkage.needed = needed(file, segment, &segments).ok_or("bad PT_DYNAMIC")?,
            _ => {}
        }
    }
    Ok(linkage)
}

struct Segment {
    kind: u32,
    offset: u64,
    address: u64,
    size: u64,
}

fn segments(file: &[u8]) -> Option<Vec<Segment>> {
    let table = u64_at(file, 32)?;
    let (size, count) = (u16_at(file, 54)?, u16_at(file, 56)?);
    let mut segments = Vec::new();
    for index in 0..u64::from(count) {
        let at = table.checked_add(index * u64::from(size))?;
        segments.push(Segment {
            kind: u32_at(file, at)?,
            offset: u64_at(file, at.checked_add(8)?)?,
            address: u64_at(file, at.checked_add(16)?)?,
            size: u64_at(file, at.checked_add(32)?)?,
        });
    }
    Some(segments)
}

fn needed(file: &[u8], dynamic: &Segment, segments: &[Segment]) -> Option<Vec<String>> {
    let (mut names, mut strings) = (Vec::new(), None);
    for entry in 0..dynamic.size / 16 {
        let at = dynamic.offset.checked_add(entry * 16)?;
        match (u64_at(file, at)?, u64_at(file, at.checked_add(8)?)?) {
            (DT_NULL, _) => break,
            (DT_NEEDED, name) => names.push(name),
            (DT_STRTAB, address) => strings = Some(address),
            _ => {}
        }
    }
    if names.is_empty() {
        return Some(Vec::new());
    }
    let strings = offset_of(strings?, segments)?;
    names.into_iter().map(|name| string(file, strings.checked_add(name)?)).collect()
}

/// Where in the file the byte lies that is loaded at `address`.
fn offset_of(address: u64, segments: &[Segment]) -> Option<u64> {
    segments.iter().filter(|segment| segment.kind == PT_LOAD).find_map(|segment| {
        let inside = address.checked_sub(segment.address)?;
        (inside < segment.size).then_some(segment.offset.checked_add(inside)?)
    })
}

fn string(file: &[u8], offset: u64) -> Option<String> {
    let bytes = file.get(usize::try_from(offset).ok()?..)?;
    let end = bytes.iter().position(|byte| *byte == 0)?;
    Some(String::from_utf8_lossy(&bytes[..end]).into_owned())
}

fn bytes_at<const N: usize>(file: &[u8], offset: u64) -> Option<[u8; N]> {
    let start = usize::try_from(offset).ok()?;
    file.get(start..start.checked_add(N)?)?.try_into().ok()
}

fn u16_at(file: &[u8], offset: u64) -> Option<u16> {
    bytes_at(file, offset).map(u16::from_le_bytes)
}

fn u32_at(file: &[u8], offset: u64) -> Option<u32> {
    bytes_at(file, offset).map(u32::from_le_bytes)
}

fn u64_at(file: &[u8], offset: u64) -> Option<u64> {
    bytes_at(file, offset).map(u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of program headers and what they point to: enough for the reader, not for a kernel.
    fn dynamic_program() -> Vec<u8> {
        let (interpreter, dynamic, strings) = (0x200, 0x240, 0x300);
        let mut file = vec![0; 0x400];
        file[..6].copy_from_slice(b"\x7fELF\x02\x01");
        file[32..40].copy_from_slice(&64u64.to_le_bytes());
        file[54..56].copy_from_slice(&56u16.to_le_bytes());
        file[56..58].copy_from_slice(&3u16.to_le_bytes());
        let base = 0x40_0000u64;
        for (index, (kind, offset, size)) in
            [(PT_LOAD, 0, 0x400), (PT_INTERP, interpreter, 16), (PT_DYNAMIC, dynamic, 0x60)]
                .into_iter()
                .enumerate()
        {
            let at = 64 + index * 56;
            file[at..at + 4].copy_from_slice(&kind.to_le_bytes());
            file[at + 8..at + 16].copy_from_slice(&(offset as u64).to_le_bytes());
            file[at + 16..at + 24].copy_from_slice(&(base + offset as u64).to_le_bytes());
            file[at + 32..at + 40].copy_from_slice(&(size as u64).to_le_bytes());
        }
        file[interpreter..interpreter + 9].copy_from_slice(b"/lib/ld.so"[..9].try_into().unwrap());
        let entries = [
            (DT_NEEDED, 1),
            (DT_NEEDED, 11),
            (DT_STRTAB, base + strings as u64),
            (DT_NULL, 0),
            (DT_NEEDED, 1),
        ];
        for (index, (tag, value)) in entries.into_iter().enumerate() {
            let at = dynamic + index * 16;
            file[at..at + 8].copy_from_slice(&tag.to_le_bytes());
            file[at + 8..at + 16].copy_from_slice(&value.to_le_bytes());
        }
        file[strings..strings + 21].copy_from_slice(b"\0libc.so.6\0libm.so.6\0");
        file
    }

    #[test]
    fn a_dynamic_program_names_its_loader_and_libraries() {
        let linkage = linkage(&dynamic_program()).unwrap();
        assert_eq!(linkage.interpreter.as_deref(), Some("/lib/ld.s"));
        assert_eq!(linkage.needed, ["libc.so.6", "libm.so.6"]);
    }

    #[test]
    fn this_very_program_is_static() {
        let file = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        assert_eq!(linkage(&file).unwrap(), Linkage::default());
    }

    #[test]
    fn rubbish_is_an_error_and_never_a_panic() {
        assert!(linkage(b"#!/bin/sh").is_err());
        assert!(linkage(b"\x7fELF\x01\x01").is_err());
        let file = dynamic_program();
        for length in 0..file.len() {
            let _ = linkage(&file[..length]);
        }
        for at in 0..file.len() {
            let mut broken = file.clone();
            broken[at] = 0xff;
            let _ = linkage(&broken);
        }
    }
}
