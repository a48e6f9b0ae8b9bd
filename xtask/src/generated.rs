//! Files that are generated and checked in: written by `cargo xtask generate`, compared by `cargo
//! xtask test`.

use std::fs;

use crate::checks::cargo::development_build;
use crate::failure::Failure;
use crate::process;
use crate::report::{Ending, Report};
use crate::workspace::Workspace;

/// A checked-in file, or a part of one, and what prints it.
struct Generated {
    file: &'static str,
    /// The part between `<!-- PART, generated: begin -->` and `<!-- end -->`; none: the whole file.
    part: Option<&'static str>,
    /// A program of the development build.
    program: &'static str,
    arguments: &'static [&'static str],
}

/// The one place for such files.
const GENERATED: &[Generated] = &[
    Generated { file: "docs/study.schema.json", part: None, program: "netassay", arguments: &["schema"] },
    Generated {
        file: "docs/glossary.md",
        part: None,
        program: "netassay",
        arguments: &["explain", "--markdown"],
    },
    table("the keys of traffic", &["keys"]),
    table("the metrics of a run", &["metrics"]),
    table("the metrics of a side", &["metrics-of-sides"]),
    table("the metrics of exact mode", &["metrics-of-exact-mode"]),
];

/// A table in `docs/studies.md`.
const fn table(part: &'static str, arguments: &'static [&'static str]) -> Generated {
    Generated { file: "docs/studies.md", part: Some(part), program: "examples/tables", arguments }
}

/// `cargo xtask generate`
pub(crate) fn run(workspace: &Workspace, _: &[String]) -> Result<(), Failure> {
    process::run(&mut development_build(workspace))?;
    for generated in GENERATED {
        let path = workspace.root.join(generated.file);
        let text = generated.text(workspace, &fs::read_to_string(&path).unwrap_or_default())?;
        fs::write(&path, text).map_err(Failure::io(format!("cannot write {}", path.display())))?;
        println!("{}{}", generated.file, generated.part.map_or(String::new(), |part| format!(": {part}")));
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
        } else if let Some(line) = first_difference(&checked_in, &generated.text(workspace, &checked_in)?) {
            stale.push(format!("{} is out of date from line {line} on", generated.file));
        }
    }
    if stale.is_empty() {
        return Ok(Ending::Ok);
    }
    Err(Failure::Check(format!("{}; run `cargo xtask generate`, look, commit", stale.join("; "))))
}

impl Generated {
    /// The file as it should be, from what it is.
    fn text(&self, workspace: &Workspace, file: &str) -> Result<String, Failure> {
        let binary = workspace.built.join("debug").join(self.program);
        let mut command = workspace.command(&binary.to_string_lossy());
        let text = process::output(command.args(self.arguments))?;
        if text.is_empty() {
            return Err(Failure::Check(format!("`{}` printed nothing", process::shown(&command))));
        }
        let Some(part) = self.part else { return Ok(text) };
        placed(file, part, &text)
            .ok_or_else(|| Failure::Check(format!("{} has no place for {part}", self.file)))
    }
}

/// The file with this text between the marks of a part.
fn placed(file: &str, part: &str, text: &str) -> Option<String> {
    let begin = format!("<!-- {part}, generated: begin -->\n");
    let (before, rest) = file.split_once(&begin)?;
    let (_, after) = rest.split_once("<!-- end -->\n")?;
    Some([before, &begin, text, "<!-- end -->\n", after].concat())
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
    fn a_part_is_placed_between_its_marks() {
        let file = "a\n<!-- one, generated: begin -->\nold\n<!-- end -->\nb\n<!-- two, generated: begin -->\n<!-- end -->\n";
        let placed = |part| placed(file, part, "new\n");
        assert_eq!(placed("one").unwrap(), file.replace("old", "new"));
        assert!(
            placed("two")
                .unwrap()
                .ends_with("old\n<!-- end -->\nb\n<!-- two, generated: begin -->\nnew\n<!-- end -->\n")
        );
        assert_eq!(placed("three"), None);
    }

    #[test]
    fn differences_have_a_line() {
        assert_eq!(first_difference("a\nb\n", "a\nb\n"), None);
        assert_eq!(first_difference("a\nb\n", "a\nc\n"), Some(2));
        assert_eq!(first_difference("a\nb", "a\nb\n"), Some(3));
        assert_eq!(first_difference("", "a\n"), Some(1));
    }
}
