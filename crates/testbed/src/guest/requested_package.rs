//! A package as a user asks for it.

use std::fmt;

use crate::guest::apt::is_package_name;

/// A package and its release: "linux-image-amd64/bookworm-backports".
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RequestedPackage {
    pub(crate) package: String,
    /// Its name in apt's sources; `None`: apt chooses.
    pub(crate) release: Option<String>,
}

/// Replaces the slash in a file's name: no package and no release has it.
const IN_FILES: char = '@';

impl RequestedPackage {
    /// Reads it as apt does; `None` if it is not valid.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let (package, release) = match text.split_once('/') {
            Some((package, release)) => (package, Some(release)),
            None => (text, None),
        };
        let release_is_one = release.is_none_or(is_release);
        (is_package_name(package) && release_is_one)
            .then(|| Self { package: package.to_owned(), release: release.map(str::to_owned) })
    }

    pub(crate) fn in_same_release(&self, package: &str) -> Self {
        Self { package: package.to_owned(), release: self.release.clone() }
    }

    pub(crate) fn file_name(&self) -> String {
        self.to_string().replace('/', &IN_FILES.to_string())
    }

    pub(crate) fn from_file_name(name: &str) -> String {
        name.replace(IN_FILES, "/")
    }
}

impl fmt::Display for RequestedPackage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.release {
            Some(release) => write!(f, "{}/{release}", self.package),
            None => f.write_str(&self.package),
        }
    }
}

/// Whether it is a suite or a codename, safe as an argument and in a file's name.
fn is_release(name: &str) -> bool {
    name.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-._~".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_is_asked_for_behind_a_slash() {
        let asked = RequestedPackage::read("linux-image-amd64/bookworm-backports").unwrap();
        assert_eq!(asked.release.as_deref(), Some("bookworm-backports"));
        assert_eq!(asked.to_string(), "linux-image-amd64/bookworm-backports");
        assert_eq!(asked.file_name(), "linux-image-amd64@bookworm-backports");
        assert_eq!(RequestedPackage::from_file_name(&asked.file_name()), asked.to_string());
        assert_eq!(
            asked.in_same_release("linux-modules-1").to_string(),
            "linux-modules-1/bookworm-backports"
        );
        assert_eq!(RequestedPackage::read("linux-image-amd64").unwrap().release, None);
        for text in ["", "../evil", "linux/", "linux-a/../b", "linux-a/-x", "linux-a/b/c", "/etc", "a@b"] {
            assert_eq!(RequestedPackage::read(text), None, "{text}");
        }
    }
}
