//! Files for other machines: the program that becomes agents there, and what guests boot from.

use std::fs;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::error::Error;

/// The program, as it is sent to hosts.
#[derive(Debug)]
pub struct Binary {
    pub(crate) plain: Vec<u8>,
    pub(crate) sum: String,
    pub(crate) architecture: &'static str,
}

// ELF's `e_machine` (little-endian at offset 18) and Linux's name of the machine.
const MACHINES: &[(u16, &str)] = &[(0x3e, "x86_64"), (0xb7, "aarch64"), (0xf3, "riscv64")];

impl Binary {
    /// Reads a program.
    ///
    /// # Errors
    /// A file that cannot be read, or is not a program for Linux.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let wrong = |what: String| Error::Failed(words::sanitised_line(&what).into_owned());
        let name = path.display();
        let plain = fs::read(path).map_err(|error| wrong(format!("cannot read {name}: {error}")))?;
        let architecture = architecture(&plain).map_err(|why| {
            wrong(format!("{name} is not a program for Linux on a machine that netassay knows (ELF): {why}"))
        })?;
        Ok(Self { sum: checksum(&plain), plain, architecture })
    }
}

/// The SHA-256, as `sha256sum` writes it.
pub(crate) fn checksum(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[derive(Debug, thiserror::Error)]
enum ArchitectureError {
    #[error("it does not begin as a little-endian program of 64 bits")]
    NoProgram,
    #[error("its machine has the number {0}")]
    Machine(u16),
}

fn architecture(bytes: &[u8]) -> Result<&'static str, ArchitectureError> {
    if !bytes.starts_with(b"\x7fELF\x02\x01") {
        return Err(ArchitectureError::NoProgram);
    }
    let machine = bytes.get(18..20).map_or(0, |two| u16::from_le_bytes([two[0], two[1]]));
    let known = MACHINES.iter().find(|(number, _)| *number == machine);
    known.map(|(_, name)| *name).ok_or(ArchitectureError::Machine(machine))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_program_is_read_with_its_sum_and_machine() {
        let path = std::env::current_exe().unwrap();
        let binary = Binary::read(&path).unwrap();
        assert_eq!(binary.architecture, std::env::consts::ARCH);
        let sum = std::process::Command::new("sha256sum").arg(&path).output().unwrap().stdout;
        assert_eq!(binary.sum, String::from_utf8(sum).unwrap().split_once(' ').unwrap().0);
    }

    #[test]
    fn a_script_is_not_a_program_for_another_machine() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x");
        for bytes in [
            &b"#!/bin/sh\n"[..],
            b"",
            b"\x7fELF\x02\x01",
            b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x99\x99",
        ] {
            fs::write(&path, bytes).unwrap();
            let error = Binary::read(&path).unwrap_err().to_string();
            assert!(error.contains("is not a program for Linux"), "{error}");
        }
        assert!(
            Binary::read(&directory.path().join("absent")).unwrap_err().to_string().contains("cannot read")
        );
    }
}
