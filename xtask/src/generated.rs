//! Files that are generated and checked in: written by `cargo xtask generate`, compared by `cargo xtask test`.

use std::fs;

use crate::checks::cargo::development_build;
use crate::failure::Failure;
use crate::process;
use crate::report::{Ending, Report};
use crate::workspace::Workspace;

/// A checked-in file and the arguments with which `netassay` prints it.
struct Generated {
    file: &'static str,
    arguments: &'static [&'static str],
}

/// The one place for such files.
const GENERATED: &[Generated] = &[
    Generated { file: "docs/study.schema.json", arguments: &["schema"] },
    Generated { file: "docs/glossary.md", arguments: &["explain", "--markdown"] },
];

/// `cargo xtask generate`
pub(crate) fn run(workspace: &Workspace, _: &[String]) -> Result<(), Failure> {
    process::run(&mut development_build(workspace))?;
    for generated in GENERATED {
        let text = generated.text(workspace)?;
        let path = workspace.root.join(generated.file);
        fs::write(&path, text).map_err(Failure::io(format!("cannot write {}", path.display())))?;
        println!("{}", generated.file);
    }
    Ok(())
}

/// Every generated file is tracked by git and says what the program says now.
pub(crate) fn check(workspace: &Workspace, _: &mut Report) -> Result<Ending, Failure> {
    process::run(&mut development_build(workspace))?;
    let tracked = workspace.tracked_files()?;
    let mut stale = Vec::new();
    for generated in GENERATED {
        let checked_in = fs::read_to_string(workspace.root.join(generated.file)).unwrap_or_default();
        if !tracked.iter().any(|name| name == generated.file) {
            stale.push(format!("{} is not tracked by git", generated.file));
        } else if let Some(line) = first_difference(&checked_in, &generated.text(workspace)?) {
            stale.push(format!("{} is out of date from line {line} on", generated.file));
        }
    }
    if stale.is_empty() {
        return Ok(Ending::Ok);
    }
    Err(Failure::Check(format!("{}; run `cargo xtask generate`, look, commit", stale.join("; "))))
}

impl Generated {
    fn text(&self, workspace: &Workspace) -> Result<String, Failure> {
        let binary = workspace.built.join("debug/netassay");
        let mut command = workspace.command(&binary.to_string_lossy());
        let text = process::output(command.args(self.arguments))?;
        if text.is_empty() {
            return Err(Failure::Check(format!("`{}` printed nothing", process::shown(&command))));
        }
        Ok(text)
    }
}

/// The number of the first line that is not the same in both, counted from 1.
fn first_difference(old: &str, new: &str) -> Option<usize> {
    if old == new {
        return None;
    }
    let same = old.split('\n').zip(new.split('\n')).take_while(|(old, new)| old == new).count();
    Some(same + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_have_a_line() {
        assert_eq!(first_difference("a\nb\n", "a\nb\n"), None);
        assert_eq!(first_difference("a\nb\n", "a\nc\n"), Some(2));
        assert_eq!(first_difference("a\nb", "a\nb\n"), Some(3));
        assert_eq!(first_difference("", "a\n"), Some(1));
    }
}
