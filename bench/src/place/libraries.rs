//! What a program needs to start.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::failure::Failure;

/// The files that a program needs to start: itself, and the libraries and the interpreter that
/// `ldd` names.
pub(crate) fn needed(program: &Path) -> Result<Vec<PathBuf>, Failure> {
    let output = Command::new("ldd").arg(program).stdin(Stdio::null()).output();
    let output = output.map_err(Failure::io("cannot start ldd"))?;
    // It fails for a program that is linked statically, which needs nothing else.
    let libraries = listed(&String::from_utf8_lossy(&output.stdout));
    Ok([vec![program.to_owned()], libraries].concat())
}

/// The paths in what `ldd` says. What the kernel brings itself has none.
fn listed(text: &str) -> Vec<PathBuf> {
    text.lines()
        .filter_map(|line| {
            let file = line.split_once("=>").map_or(line, |(_, file)| file);
            file.split_whitespace().next().filter(|file| file.starts_with('/')).map(PathBuf::from)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_and_interpreter_are_listed() {
        let text = "\tlinux-vdso.so.1 (0x00007fa80387a000)\n\tlibm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x00007fa80373c000)\n\
                    \tlibgone.so => not found\n\t/lib64/ld-linux-x86-64.so.2 (0x00007fa80387c000)\n";
        let paths = ["/lib/x86_64-linux-gnu/libm.so.6", "/lib64/ld-linux-x86-64.so.2"].map(PathBuf::from);
        assert_eq!(listed(text), paths);
        assert_eq!(listed("\tnot a dynamic executable\n"), Vec::<PathBuf>::new());
    }

    #[test]
    fn a_program_is_among_what_it_needs() {
        assert_eq!(needed(Path::new("/bin/sh")).unwrap()[0], Path::new("/bin/sh"));
    }
}
