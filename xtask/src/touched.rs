//! What changed since a revision, and the tests that such a change concerns.

use std::collections::BTreeSet;

use crate::Result;
use crate::program::output;
use crate::session::Session;

/// The tests of the crates that changed, and of the crates that use them, as a filterset of
/// nextest; `None` if no crate changed.
pub(crate) fn filterset(session: &mut Session, revision: Option<&str>) -> Result<Option<String>> {
    let revision = revision.map_or_else(|| branched_off(session), str::to_owned);
    let files = changed(session, &revision)?;
    let concerned = match concerned(&files) {
        Some(packages) if packages.is_empty() => None,
        Some(packages) => {
            Some(packages.iter().map(|name| format!("rdeps(={name})")).collect::<Vec<_>>().join(" | "))
        }
        None => Some("all()".to_owned()),
    };
    let tests = concerned.as_deref().unwrap_or("no test of the workspace");
    session.report.notes.push(format!("{} files changed since {revision}: {tests}", files.len()));
    Ok(concerned)
}

/// The commit where this branch left the branch that others see; without one, the last commit.
fn branched_off(session: &Session) -> String {
    let said = session.command("git").args(["merge-base", "HEAD", "origin/main"]).output();
    let commit = said.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    commit.ok().filter(|commit| !commit.is_empty()).unwrap_or_else(|| "HEAD".to_owned())
}

/// Files that differ from a revision, committed or not.
fn changed(session: &Session, revision: &str) -> Result<Vec<String>> {
    let mut diff = session.command("git");
    let mut new = session.command("git");
    diff.args(["diff", "--name-only", "--no-renames", "-z", revision, "--"]);
    new.args(["ls-files", "--others", "--exclude-standard", "-z"]);
    let names = [output(&mut diff)?, output(&mut new)?].concat();
    Ok(names.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect())
}

/// The packages to which the files belong; `None` if any file concerns everything, as the root
/// manifest does, or a study that comes with netassay.
fn concerned(files: &[String]) -> Option<BTreeSet<String>> {
    let mut packages = BTreeSet::new();
    for file in files {
        match file.split('/').collect::<Vec<_>>()[..] {
            ["fuzz", _, ..] => {}
            ["bench", _, ..] => _ = packages.insert("netassay-bench".to_owned()),
            // A new crate, or one that is gone, changes the workspace.
            ["crates", _, "Cargo.toml"] => return None,
            [package @ "xtask", _, ..] | ["crates", package @ "netassay", _, ..] => {
                packages.insert(package.to_owned());
            }
            ["crates", name, _, ..] => _ = packages.insert(format!("netassay-{name}")),
            _ if file.ends_with(".md") => {}
            _ => return None,
        }
    }
    Some(packages)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packages(files: &[&str]) -> Option<Vec<String>> {
        let files: Vec<String> = files.iter().map(|file| (*file).to_owned()).collect();
        Some(concerned(&files)?.into_iter().collect())
    }

    #[test]
    fn files_belong_to_packages() {
        assert_eq!(packages(&["README.md", "docs/a.md", "fuzz/a"]), Some(Vec::new()));
        let crates = ["crates/words/src/a.rs", "crates/netassay/tests/a.rs", "xtask/a", "bench/b.rs"];
        assert_eq!(packages(&crates).unwrap(), ["netassay", "netassay-bench", "netassay-words", "xtask"]);
        for everything in ["Cargo.lock", "studies/quick.toml", "crates/new/Cargo.toml", ".config/a"] {
            assert_eq!(packages(&[crates[0], everything]), None, "{everything}");
        }
    }
}
