//! The binary runs on any Linux machine: it asks for no loader and no library.

use std::fs;

use crate::checks::elf::{self, Linkage};
use crate::failure::Failure;
use crate::report::{Ending, Report};
use crate::workspace::{Workspace, find_program};

/// Reads it, and asks `ldd`: both must say the same. How it is linked is told for the target, in
/// `.cargo/config.toml`, and so is the same in each profile: that of the tests is there already.
pub(crate) fn check(workspace: &Workspace, report: &mut Report) -> Result<Ending, Failure> {
    let path = workspace.built.join("debug/netassay");
    let unread = format!("cannot read {}, which `cargo xtask test build` builds", path.display());
    let file = fs::read(&path).map_err(Failure::io(unread))?;
    let linkage = elf::linkage(&file)
        .map_err(|why| Failure::Check(format!("cannot tell how {} is linked: {why}", path.display())))?;
    if linkage != Linkage::default() {
        return Err(Failure::Check(format!(
            "the binary is not static: loader {}, libraries {}",
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
