//! Files that other programs run: shell scripts, and the workflows for CI servers.

use crate::Result;
use crate::program::run;
use crate::session::{Session, has_program};

/// shellcheck on every shell script that git tracks.
pub(crate) fn shell(session: &mut Session) -> Result {
    let mut scripts = Vec::new();
    for name in session.tracked_files()? {
        if is_shell_script(&name, &session.read(&name)?) {
            scripts.push(name);
        }
    }
    if scripts.is_empty() {
        return Err("git tracks no shell script, not even .ci/run".into());
    }
    if !has_program("shellcheck") {
        session.report.skips.push("scripts: shellcheck is not installed".to_owned());
        return Ok(());
    }
    run(session.command("shellcheck").arg("--").args(&scripts))
}

/// By the ending of its name or by its first line.
fn is_shell_script(name: &str, text: &str) -> bool {
    let first = text.lines().next().filter(|line| line.starts_with("#!")).unwrap_or_default();
    name.ends_with(".sh") || first.split(['/', ' ']).any(|word| ["sh", "bash", "dash"].contains(&word))
}

/// The workflow files, which users copy, are read by PyYAML. A Python of the user's own, without
/// that module, may hide Debian's.
pub(crate) fn workflows(session: &mut Session) -> Result {
    let mut files = session.tracked_files()?;
    files.retain(|name| name.starts_with("docs/ci/") && name.ends_with(".yml"));
    if files.is_empty() {
        return Err("git tracks no workflow file in docs/ci".into());
    }
    let has_yaml = |python: &&str| {
        let said = session.command(python).args(["-c", "import yaml"]).output();
        said.is_ok_and(|output| output.status.success())
    };
    let Some(python) = ["python3", "/usr/bin/python3"].into_iter().find(has_yaml) else {
        session.report.skips.push("workflows: python3 has no module yaml".to_owned());
        return Ok(());
    };
    let read = "import sys, yaml; assert all(len(yaml.safe_load(open(name))) > 1 for name in sys.argv[1:])";
    run(session.command(python).args(["-c", read]).args(&files))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_known_by_ending_or_first_line() {
        assert!(is_shell_script("bench/run.sh", "") && is_shell_script("x", "#! /bin/sh -e\n"));
        assert!(is_shell_script(".ci/run", "#!/usr/bin/env bash\nset -e\n"));
        assert!(
            !is_shell_script("x", "#!/usr/bin/env python3\nsh\n") && !is_shell_script("a.md", "# bash\n")
        );
    }
}
