//! What must not be in the files that git tracks.

use crate::Result;
use crate::program::run;
use crate::session::Session;

/// Rust files longer than this are rejected.
const TOO_LONG: usize = 800;

/// Comments wrap at this column; rows of tables cannot.
const COMMENT: usize = 100;

/// Package registries are cargo's and apt's business. (With another mark for the dot, so that this
/// file does not name them.)
const REGISTRY_HOSTS: &str = "crates~io pypi~org pythonhosted~org npmjs~org proxy~golang~org rubygems~org \
    deb~debian~org archive~ubuntu~com";

/// Where people and CI keep their files is different on every machine.
const MACHINE_PATHS: &[&str] = &[concat!("/ro", "ot"), concat!("/ho", "me/"), concat!("/wo", "rk")];

/// Each promise in here stands beside the tests that keep it.
const PROMISES: &str = "SECURITY.md";

/// Lock files are cargo's: they name the registry.
const LOCK_FILE: &str = "Cargo.lock";

pub(crate) fn check(session: &mut Session) -> Result {
    let (mut offences, mut sources) = (Vec::new(), String::new());
    for name in session.tracked_files()? {
        let text = session.read(&name)?;
        offences.extend(forbidden_words(&name, &text));
        if name.ends_with(".rs") {
            offences.extend(wide_comments(&name, &text));
            if text.lines().count() > TOO_LONG {
                offences.push(format!("{name} has more than {TOO_LONG} lines"));
            }
            sources.push_str(&text);
        }
    }
    let promises = session.read(PROMISES)?;
    let missing = tests_named(&promises).filter(|test| !sources.contains(test));
    offences.extend(missing.map(|test| format!("{PROMISES}: no test is called `{test}`")));
    if !offences.is_empty() {
        return Err(offences.join("\n"));
    }
    if session.ci {
        // In a fresh clone cargo has just completed a lock file that was committed incomplete.
        run(session.command("git").args(["diff", "--exit-code", "--stat", "--", LOCK_FILE]))?;
    }
    Ok(())
}

fn forbidden_words(name: &str, text: &str) -> Vec<String> {
    let hosts = REGISTRY_HOSTS.replace('~', ".");
    let mut offences = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let hosts = hosts.split(' ').filter(|host| !name.ends_with(LOCK_FILE) && line.contains(host));
        offences.extend(hosts.map(|host| format!("{name}:{number}: names the package registry `{host}`")));
        let paths = MACHINE_PATHS.iter().filter(|path| names_path(line, path));
        offences.extend(paths.map(|path| format!("{name}:{number}: names a path of one machine: `{path}`")));
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
        starts && (path.ends_with('/') || !after.is_some_and(in_word))
    })
}

/// The lines of a Rust file with nothing but a comment that is too wide.
fn wide_comments(name: &str, text: &str) -> Vec<String> {
    let is_wide = |line: &str| {
        let comment =
            line.trim_start().strip_prefix("//").map(|text| text.trim_start_matches(['/', '!', ' ']));
        comment.is_some_and(|text| !text.starts_with('|')) && line.chars().count() > COMMENT
    };
    let lines = text.lines().zip(1..).filter(|(line, _)| is_wide(line));
    lines.map(|(_, number)| format!("{name}:{number}: the comment goes beyond column {COMMENT}")).collect()
}

/// The names in backticks that are sentences, as the names of tests are.
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
        let text = "a `setting` is put back | `a_kill_loses_nothing_ever`, `x_y_z_1` of `cargo xtask test` |";
        assert_eq!(tests_named(text).collect::<Vec<_>>(), ["a_kill_loses_nothing_ever", "x_y_z_1"]);
    }

    #[test]
    fn registries_are_named_in_lock_files_only() {
        let text = "fine\nsee https://pypi~org/x\n".replace('~', ".");
        assert!(
            forbidden_words("docs/a.md", &text)[0].starts_with("docs/a.md:2: names the package registry")
        );
        assert!(forbidden_words("fuzz/Cargo.lock", &text).is_empty());
    }

    #[test]
    fn machine_paths_are_whole_absolute_paths() {
        let [root, home, _] = MACHINE_PATHS else { panic!("three paths") };
        for line in [format!("cd {root}"), format!("\"{root}/x\""), format!("PATH={home}me/bin")] {
            assert_eq!(forbidden_words("a", &line).len(), 1, "{line}");
        }
        let fine = ["src{}/x", "$OUT}{}", "{}fs", "{}-less", "./{}/x", "https://example.org{}"];
        for line in fine.map(|line| line.replace("{}", root)) {
            assert_eq!(forbidden_words("a", &line), [""; 0], "{line}");
        }
    }
}
