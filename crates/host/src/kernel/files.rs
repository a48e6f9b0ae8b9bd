//! The kernel's text files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A machine, which its kernel shows as files: this one, or a made-up tree.
#[derive(Clone, Debug)]
pub struct Machine {
    root: PathBuf,
}

impl Machine {
    /// This machine, in the network namespace of the calling thread.
    pub fn system() -> Self {
        Self::below("/")
    }

    /// A tree with `proc` and `sys` in it, for tests. Interfaces are those of this machine.
    pub fn below(root: impl AsRef<Path>) -> Self {
        Self { root: root.as_ref().to_owned() }
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.root.join(below)
    }

    /// The trimmed text without control characters; `None` also if it is empty.
    pub(crate) fn text(&self, path: &str) -> Option<String> {
        let bytes = std::fs::read(self.path(path)).ok()?;
        // Users choose some names: a control character in one could command a terminal.
        let text = words::sanitised_lines(String::from_utf8_lossy(&bytes).trim()).into_owned();
        (!text.is_empty()).then_some(text)
    }

    pub(crate) fn number<T: std::str::FromStr>(&self, path: &str) -> Option<T> {
        self.text(path)?.parse().ok()
    }

    /// Whether a file below the root holds another number than 0; `None` without a number.
    pub fn switch(&self, path: &str) -> Option<bool> {
        self.number::<i64>(path).map(|number| number != 0)
    }

    /// The names in a directory with a prefix, sorted by their numbers (`cpu2` before `cpu10`).
    pub(crate) fn names(&self, directory: &str, prefix: &str) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.path(directory)) else { return Vec::new() };
        let mut names: Vec<String> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| name.starts_with(prefix))
            .collect();
        names.sort_by_cached_key(|name| (name[prefix.len()..].parse::<u64>().ok(), name.clone()));
        names
    }

    pub(crate) fn texts(&self, directory: &str, prefix: &str, below: &str) -> BTreeMap<String, String> {
        let text = |name: String| Some((name.clone(), self.text(&format!("{directory}/{name}{below}"))?));
        self.names(directory, prefix).into_iter().filter_map(text).collect()
    }

    /// Whether a process with this name runs, as far as `/proc` shows the processes.
    pub fn runs(&self, program: &str) -> bool {
        self.texts("proc", "", "/comm").values().any(|name| name == program)
    }
}

pub(crate) fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    // The first one counts: cpuinfo repeats its fields for each CPU.
    let value = |line: &'a str| line.split_once(':').filter(|(key, _)| key.trim() == name);
    text.lines().find_map(value).map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
}

pub(crate) fn numbers<T: std::str::FromStr>(directory: &str) -> std::io::Result<Vec<T>> {
    let entries = std::fs::read_dir(directory)?;
    Ok(entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect())
}

/// The threads or processes that `/proc` or a directory below it lists, with a wanted name.
pub fn threads_named(directory: &str, is_wanted: impl Fn(&str) -> bool) -> std::io::Result<BTreeSet<u32>> {
    // One may end meanwhile.
    let name = |number: &u32| std::fs::read_to_string(format!("{directory}/{number}/comm"));
    let all = numbers(directory)?.into_iter();
    Ok(all.filter(|number| name(number).is_ok_and(|name| is_wanted(&name))).collect())
}

#[cfg(test)]
pub(crate) mod fixture {
    use super::Machine;

    /// A made-up tree, which lives as long as the first value.
    pub(crate) fn files(list: &[(&str, &str)]) -> (tempfile::TempDir, Machine) {
        let directory = tempfile::tempdir().unwrap();
        for (path, text) in list {
            let path = directory.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let files = Machine::below(directory.path());
        (directory, files)
    }
}

#[cfg(test)]
mod tests {
    use super::fixture::files;

    #[test]
    fn files_are_read_trimmed_and_absence_is_no_error() {
        let (_keep, files) = files(&[
            ("a/n", "42\n"),
            ("a/on", "1\n"),
            ("a/empty", "\n"),
            ("a/words", " x y \n"),
            ("a/made", "\u{1b}[2J\n\tx\n"),
        ]);
        assert_eq!(files.number::<u32>("a/n"), Some(42));
        assert_eq!(files.number::<u32>("a/words"), None);
        assert_eq!(files.switch("a/on"), Some(true));
        assert_eq!(files.text("a/words").as_deref(), Some("x y"));
        assert_eq!(files.text("a/empty"), None);
        assert_eq!(files.text("a/made").as_deref(), Some("\\u{1b}[2J\n\tx"));
        assert_eq!(files.text("b"), None);
        assert_eq!(files.names("b", ""), [""; 0]);
    }

    #[test]
    fn names_are_sorted_by_their_number() {
        let (_keep, files) = files(&[("d/rx-10", ""), ("d/rx-2", ""), ("d/tx-0", "")]);
        assert_eq!(files.names("d", "rx-"), ["rx-2", "rx-10"]);
    }
}
