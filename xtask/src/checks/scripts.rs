//! shellcheck on every shell script that git tracks.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use crate::failure::Failure;
use crate::process::run;
use crate::report::{Ending, Report};
use crate::workspace::{Workspace, find_program};

pub(crate) fn check(workspace: &Workspace, report: &mut Report) -> Result<Ending, Failure> {
    let mut scripts = Vec::new();
    for name in workspace.tracked_files()? {
        if is_shell_script(&name, &first_bytes(&workspace.root.join(&name))?) {
            scripts.push(name);
        }
    }
    if scripts.is_empty() {
        // .ci/run is one: finding none means that the search is broken.
        return Err(Failure::Check("git tracks no shell script: looked in the wrong place?".into()));
    }
    if find_program("shellcheck").is_none() {
        report.skip("scripts", format!("shellcheck is not installed; {} scripts unchecked", scripts.len()));
        return Ok(Ending::NotRun);
    }
    run(workspace.command("shellcheck").arg("--").args(&scripts))?;
    Ok(Ending::Ok)
}

/// By the ending of its name or by its first line.
fn is_shell_script(name: &str, start: &[u8]) -> bool {
    let extension = Path::new(name).extension().and_then(|extension| extension.to_str());
    if matches!(extension, Some("sh" | "bash" | "bats")) {
        return true;
    }
    let Some(line) = start.strip_prefix(b"#!").and_then(|rest| rest.split(|byte| *byte == b'\n').next())
    else {
        return false;
    };
    let line = String::from_utf8_lossy(line);
    line.split_whitespace()
        .map(|word| word.rsplit('/').next().unwrap_or(word))
        .any(|program| matches!(program, "sh" | "bash" | "dash" | "ksh"))
}

fn first_bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    let cannot = || format!("cannot read {}", path.display());
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(Failure::io(cannot()))?;
    file.take(128).read_to_end(&mut bytes).map_err(Failure::io(cannot()))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_known_by_ending_or_first_line() {
        assert!(is_shell_script("bench/run.sh", b""));
        assert!(is_shell_script(".ci/run", b"#!/usr/bin/env bash\nset -e\n"));
        assert!(is_shell_script("x", b"#! /bin/sh -e\n"));
        assert!(is_shell_script("x", b"#!/usr/bin/env -S bash -e\n"));
        assert!(!is_shell_script("x", b"#!/usr/bin/env python3\nsh\n"));
        assert!(!is_shell_script("README.md", b"# a shell script\n"));
        assert!(!is_shell_script("binary", b"\x7fELF\0\0"));
    }
}
