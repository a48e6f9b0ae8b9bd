//! What must not be in the files that git tracks.

use std::fs;
use std::path::Path;

use crate::failure::Failure;
use crate::process;
use crate::report::{Ending, Report};
use crate::workspace::Workspace;

/// Rust files longer than this are worth a thought.
const LONG: usize = 400;
/// Rust files longer than this are refused.
const TOO_LONG: usize = 800;

/// Comments wrap at this column; rows of tables cannot.
const COMMENT: usize = 100;

/// Package registries are cargo's and apt's business. (In two halves, so that this file does not
/// name them.)
const REGISTRY_HOSTS: &[&str] = &[
    concat!("crates", ".io"),
    concat!("pypi", ".org"),
    concat!("pythonhosted", ".org"),
    concat!("npmjs", ".org"),
    concat!("proxy", ".golang.org"),
    concat!("rubygems", ".org"),
    concat!("deb", ".debian.org"),
    concat!("archive", ".ubuntu.com"),
];

/// Where people and CI keep their files is different on every machine.
const MACHINE_PATHS: &[&str] = &[concat!("/ro", "ot"), concat!("/ho", "me/"), concat!("/wo", "rk")];

/// Each promise in here stands beside the tests that keep it.
const PROMISES: &str = "SECURITY.md";

/// Lock files are cargo's: they must name the registry.
const LOCK_FILE: &str = "Cargo.lock";

pub(crate) fn check(workspace: &Workspace, report: &mut Report) -> Result<Ending, Failure> {
    let mut offences = Vec::new();
    let (mut promises, mut sources) = (String::new(), String::new());
    for name in workspace.tracked_files()? {
        let path = workspace.root.join(&name);
        let bytes = fs::read(&path).map_err(Failure::io(format!("cannot read {}", path.display())))?;
        let text = String::from_utf8_lossy(&bytes);
        offences.extend(forbidden_words(&name, &text));
        offences.extend(wide_comments(&name, &text));
        match name.as_str() {
            PROMISES => promises.push_str(&text),
            rust if rust.ends_with(".rs") => sources.push_str(&text),
            _ => {}
        }
        match too_long(&name, &text) {
            Some((true, what)) => offences.push(what),
            Some((false, what)) => report.note(what),
            None => {}
        }
    }
    offences.extend(
        tests_named(&promises)
            .filter(|test| !sources.contains(test))
            .map(|test| format!("{PROMISES}: no test is called `{test}`")),
    );
    for offence in &offences {
        eprintln!("{offence}");
    }
    if !offences.is_empty() {
        return Err(Failure::Check(format!("{} offences in the tree, listed above", offences.len())));
    }
    if workspace.ci {
        // In a fresh clone cargo has just completed a lock file that was committed incomplete.
        let mut git = workspace.command("git");
        process::run(git.args(["diff", "--exit-code", "--stat", "--", LOCK_FILE]))?;
    }
    Ok(Ending::Ok)
}

fn forbidden_words(name: &str, text: &str) -> Vec<String> {
    let is_lock = Path::new(name).file_name().is_some_and(|file| file == LOCK_FILE);
    let mut offences = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let mut offend = |what: &str, word: &str| offences.push(format!("{name}:{number}: {what} `{word}`"));
        for host in REGISTRY_HOSTS.iter().filter(|host| !is_lock && line.contains(**host)) {
            offend("names the package registry", host);
        }
        for path in MACHINE_PATHS.iter().filter(|path| names_path(line, path)) {
            offend("names a path of one machine:", path);
        }
    }
    offences
}

/// True when `line` has the absolute path `path`: not in the middle of another path, and as whole
/// words.
fn names_path(line: &str, path: &str) -> bool {
    let in_word = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    line.match_indices(path).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + path.len()..].chars().next();
        let starts = !before.is_some_and(|c| in_word(c) || "/})>*~".contains(c));
        let ends = path.ends_with('/') || !after.is_some_and(in_word);
        starts && ends
    })
}

/// For Rust files that are long: whether that is refused, and what to say.
fn too_long(name: &str, text: &str) -> Option<(bool, String)> {
    let lines = text.lines().count();
    if !name.ends_with(".rs") || lines <= LONG {
        return None;
    }
    let refused = lines > TOO_LONG;
    let limit =
        if refused { format!("more than {TOO_LONG}") } else { format!("{LONG} is the place to think") };
    Some((refused, format!("{name} has {lines} lines; {limit}: is there a second noun in it?")))
}

/// The lines of a Rust file with nothing but a comment that is too wide.
fn wide_comments(name: &str, text: &str) -> Vec<String> {
    let is_wide = |line: &str| {
        let comment =
            line.trim_start().strip_prefix("//").map(|text| text.trim_start_matches(['/', '!', ' ']));
        comment.is_some_and(|text| !text.starts_with('|')) && line.chars().count() > COMMENT
    };
    let lines = text.lines().zip(1..).filter(|(line, _)| name.ends_with(".rs") && is_wide(line));
    lines.map(|(_, number)| format!("{name}:{number}: the comment goes beyond column {COMMENT}")).collect()
}

/// What a text has in backticks that is no word of a program but a sentence.
fn tests_named(text: &str) -> impl Iterator<Item = &str> {
    let is_sentence = |word: &&str| {
        let is_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        word.bytes().all(is_name) && word.matches('_').count() > 2
    };
    text.split('`').skip(1).step_by(2).filter(is_sentence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promises_name_their_tests() {
        let text = "| a `setting` is put back | `a_kill_at_any_time_loses_nothing`, `x_y_z_1` of `cargo xtask test` |";
        assert_eq!(tests_named(text).collect::<Vec<_>>(), ["a_kill_at_any_time_loses_nothing", "x_y_z_1"]);
    }

    #[test]
    fn registries_are_named_in_lock_files_only() {
        let text = format!("fine\nsee https://{}/x\n", REGISTRY_HOSTS[0]);
        let offences = forbidden_words("docs/a.md", &text);
        assert_eq!(offences.len(), 1);
        assert!(offences[0].starts_with("docs/a.md:2: names the package registry"), "{offences:?}");
        assert!(forbidden_words("Cargo.lock", &text).is_empty());
        assert!(forbidden_words("fuzz/Cargo.lock", &text).is_empty());
    }

    #[test]
    fn machine_paths_are_whole_absolute_paths() {
        let [root, home, _] = MACHINE_PATHS else { panic!("three paths") };
        for line in
            [format!("cd {root}"), format!("\"{root}/x\""), format!("PATH={home}me/bin"), root.to_string()]
        {
            assert_eq!(forbidden_words("a", &line).len(), 1, "{line}");
        }
        for line in [
            format!("src{root}/x"),
            format!("$OUT}}{root}"),
            format!("{root}fs"),
            format!("{root}-less"),
            format!("./{root}/x"),
            format!("https://example.org{home}"),
            "the root of the work at home".into(),
        ] {
            assert_eq!(forbidden_words("a", &line), Vec::<String>::new(), "{line}");
        }
    }

    #[test]
    fn comments_end_at_their_column() {
        let wide = "x".repeat(COMMENT);
        for line in [format!("// {wide}"), format!("    /// {wide}"), format!("//! {wide}")] {
            assert_eq!(wide_comments("a.rs", &line).len(), 1, "{line}");
            assert_eq!(wide_comments("a.md", &line), [] as [String; 0]);
        }
        for line in [format!("//! | {wide} |"), format!("let a = {wide}; // b"), format!("// {}", &wide[3..])]
        {
            assert_eq!(wide_comments("a.rs", &line), [] as [String; 0], "{line}");
        }
    }

    #[test]
    fn long_files() {
        assert_eq!(too_long("a.rs", &"x\n".repeat(400)), None);
        assert_eq!(too_long("a.md", &"x\n".repeat(4000)), None);
        assert!(matches!(too_long("a.rs", &"x\n".repeat(401)), Some((false, _))));
        assert!(matches!(too_long("a.rs", &"x\n".repeat(800)), Some((false, _))));
        assert!(matches!(too_long("a.rs", &"x\n".repeat(801)), Some((true, _))));
    }
}
