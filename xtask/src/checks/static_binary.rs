//! The release binary runs on any Linux machine: it asks for no loader and no library.

use std::fs;
use std::process::Command;

use crate::checks::elf::{self, Linkage};
use crate::failure::Failure;
use crate::process::run;
use crate::report::{Ending, Report};
use crate::workspace::{Workspace, find_program};

/// What builds it, on all CPUs: what is left out is optimising across crates, which changes nothing
/// of how it is linked and takes one CPU for minutes.
pub(crate) fn builds(workspace: &Workspace) -> Command {
    let mut command = workspace.cargo(&["build", "--release", "--package", "netassay"]);
    command.env("CARGO_PROFILE_RELEASE_LTO", "off").env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16");
    command
}

/// Builds it, reads it, and asks `ldd`: both must say the same.
pub(crate) fn check(workspace: &Workspace, report: &mut Report) -> Result<Ending, Failure> {
    run(&mut builds(workspace))?;
    let path = workspace.built.join("release/netassay");
    let file = fs::read(&path).map_err(Failure::io(format!("cannot read {}", path.display())))?;
    let linkage = elf::linkage(&file)
        .map_err(|why| Failure::Check(format!("cannot tell how {} is linked: {why}", path.display())))?;
    if linkage != Linkage::default() {
        return Err(Failure::Check(format!(
            "the release binary is not static: loader {}, libraries {}",
            linkage.interpreter.as_deref().unwrap_or("none"),
            if linkage.needed.is_empty() { "none".into() } else { linkage.needed.join(", ") }
        )));
    }

    if find_program("ldd").is_none() {
        report.note("ldd is not there: that the binary is static was read from the file only");
        return Ok(Ending::Ok);
    }
    let output =
        workspace.command("ldd").arg(&path).output().map_err(Failure::io("cannot start `ldd`".to_owned()))?;
    let said =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if !means_static(&said) {
        return Err(Failure::Check(format!("the file looks static, but ldd says: {}", said.trim())));
    }
    eprintln!("{} bytes, no loader, no libraries; ldd: {}", file.len(), said.trim());
    Ok(Ending::Ok)
}

/// ldd's words for a static program with and without position independence.
fn means_static(said: &str) -> bool {
    ["statically linked", "not a dynamic executable"].contains(&said.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_ldd() {
        assert!(means_static("\tstatically linked\n"));
        assert!(means_static("\tnot a dynamic executable\n"));
        assert!(!means_static("\tlinux-vdso.so.1 (0x00007ffd)\n\tlibc.so.6 => not found\n"));
        assert!(!means_static(""));
    }
}
