//! The build of this program.

use std::fs::OpenOptions;
use std::io::Read as _;

use crate::kernel::files::Files;

// The notes of a program lie behind its headers, in its first page.
const BEGIN: u64 = 4096;
// The digits of the checksum that are shown: enough to tell builds apart.
const DIGITS: usize = 12;

/// The version, and the build by the checksum that the linker made of the program
/// (`ld --build-id`), where it made one.
pub(super) fn read(files: &Files, version: &str) -> String {
    let mut begin = Vec::new();
    let program = files.open("proc/self/exe", OpenOptions::new().read(true));
    let read = program.and_then(|program| program.take(BEGIN).read_to_end(&mut begin));
    let build = read.ok().and_then(|_| id(&begin));
    build.map_or_else(|| version.to_owned(), |build| format!("{version}, build {build}"))
}

/// Reads a note: the lengths of its name and its contents, its kind, and both (`elf(5)`); here
/// `NT_GNU_BUILD_ID` of `GNU`.
fn id(program: &[u8]) -> Option<String> {
    let is_id = |head: &[u8]| head[..4] == [4, 0, 0, 0] && head[8..] == *b"\x03\0\0\0GNU\0";
    let place = program.windows(16).position(is_id)?;
    let bytes = program.get(place + 16..place + 16 + DIGITS / 2)?;
    Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::files::fixture::files;

    #[test]
    fn a_build_is_told_by_its_id() {
        let note = "\x7fELF…\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0";
        for (program, expected) in [
            (format!("{note}ABCDEFGH"), "0.1.0, build 414243444546"),
            (format!("{note}ABC"), "0.1.0"),
            ("\x7fELF".to_owned(), "0.1.0"),
        ] {
            let (_keep, files) = files(&[("proc/self/exe", program.as_str())]);
            assert_eq!(read(&files, "0.1.0"), expected, "{program:?}");
        }
        // This program's own.
        assert!(read(&Files::system(), "0.1.0").starts_with("0.1.0, build "));
    }
}
