//! Reads the output of Debian's package tools.

use std::fmt;

/// A package as `apt-cache show` describes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) package: String,
    pub(crate) version: String,
    /// The packages that it depends on, the first of each set of alternatives.
    pub(crate) depends: Vec<String>,
}

/// Reads the first stanza of `apt-cache show` (Debian policy, section 5.1: fields `Name: value`,
/// continued on lines that begin with a space). `None` without a name.
pub(crate) fn candidate(text: &str) -> Option<Candidate> {
    let mut found = Candidate::default();
    for line in text.lines().take_while(|line| !line.trim().is_empty()) {
        // Continuation lines begin with a space, so that no field matches.
        match line.split_once(':') {
            Some(("Package", name)) => name.trim().clone_into(&mut found.package),
            Some(("Version", version)) => version.trim().clone_into(&mut found.version),
            Some(("Depends" | "Pre-Depends", list)) => {
                found.depends.extend(list.split(',').filter_map(first_name))
            }
            _ => {}
        }
    }
    is_package_name(&found.package).then_some(found)
}

impl Candidate {
    /// The package with the image, if this one only refers to it, as "linux-image-cloud-amd64"
    /// does.
    pub(crate) fn image(&self) -> Option<&str> {
        self.depends
            .iter()
            .map(String::as_str)
            .find(|name| name.starts_with("linux-image-") && *name != self.package)
    }

    /// The packages with modules of this image (Ubuntu separates them).
    pub(crate) fn modules(&self) -> impl Iterator<Item = &str> {
        self.depends.iter().map(String::as_str).filter(|name| name.starts_with("linux-modules-"))
    }
}

/// The name in "linux-image-x (>= 1) | other".
fn first_name(alternatives: &str) -> Option<String> {
    let name = alternatives.split(['|', '(', ' ']).find(|word| !word.is_empty())?;
    let name = name.split(':').next().unwrap_or(name);
    is_package_name(name).then(|| name.to_owned())
}

/// Debian policy, section 5.6.1. Such a name is safe as an argument and as a file name.
pub(crate) fn is_package_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    name.len() >= 2
        && name.bytes().next().is_some_and(plain)
        && name.bytes().all(|byte| plain(byte) || b"+-.".contains(&byte))
}

/// The line of apt's standard error with the cause: the last error, or the last line.
pub(crate) fn complaint(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let error = lines.iter().rev().find(|line| line.starts_with("E:")).or(lines.last());
    error.map_or_else(
        || "it printed nothing".to_owned(),
        |line| words::shortened_reason(line.trim_start_matches("E:")),
    )
}

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

/// A source of packages in apt's configuration, as printed by `apt-get indextargets` in the form
/// [`FORMAT`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Source {
    release: String,
    address: String,
    component: String,
}

/// The fields of a [`Source`], none of which holds a space.
pub(crate) const FORMAT: &str = "$(RELEASE) $(REPO_URI) $(COMPONENT)";

/// Reads one source a line; skips other lines.
pub(crate) fn sources(text: &str) -> Vec<Source> {
    text.lines()
        .filter_map(|line| {
            let mut words = line.split_ascii_whitespace().map(str::to_owned);
            Some(Source { release: words.next()?, address: words.next()?, component: words.next()? })
        })
        .collect()
}

/// Why apt does not find `asked`, with the remedy. `known`: another release has the package.
pub(crate) fn advice(asked: &RequestedPackage, known: bool, sources: &[Source]) -> String {
    const UPDATE: &str = "`apt-get update` updates the package lists of apt";
    const SEARCH: &str = "`apt-cache search --names-only '^linux-image'` lists the kernels that it knows";
    let package = &asked.package;
    if sources.is_empty() {
        return "apt knows no source of packages: `apt-get update` fetches their lists, once /etc/apt/sources.list.d names one"
            .to_owned();
    }
    let Some(release) = &asked.release else {
        return format!("apt knows no package {package}; {UPDATE}, and {SEARCH}");
    };
    if sources.iter().any(|source| source.release == *release) {
        let elsewhere =
            if known { "but has it in another: leave the release out".to_owned() } else { SEARCH.to_owned() };
        return format!("apt knows no package {package} in {release}, {elsewhere}; {UPDATE}");
    }
    // "bookworm" for "bookworm-backports": the same server has both.
    let near = sources.iter().find(|source| release.starts_with(&source.release)).or(sources.first());
    let line = near.map_or_else(String::new, |near| {
        format!("deb {} {release} {}", near.address.trim_end_matches('/'), near.component)
    });
    let releases: std::collections::BTreeSet<&str> =
        sources.iter().map(|source| source.release.as_str()).collect();
    format!(
        "apt's sources have no release {release} (they have {}): write the line `{line}` into /etc/apt/sources.list.d/{release}.list, \
         run `apt-get update`, and fetch it again",
        releases.into_iter().collect::<Vec<_>>().join(", ")
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const META: &str = "Package: linux-image-cloud-amd64\nSource: linux-signed-amd64 (6.1.192+2)\nVersion: 6.1.192-2\nDepends: \
                        linux-image-6.1.0-56-cloud-amd64 (= 6.1.192-2)\nDescription: Linux for x86-64 cloud\n Package: not this\n\n\
                        Package: second\nVersion: 1\n";

    #[test]
    fn a_meta_package_names_the_real_one() {
        let meta = candidate(META).unwrap();
        assert_eq!((meta.package.as_str(), meta.version.as_str()), ("linux-image-cloud-amd64", "6.1.192-2"));
        assert_eq!(meta.image(), Some("linux-image-6.1.0-56-cloud-amd64"));
        let real = candidate(
            "Package: linux-image-6.8.0-1-generic\nVersion: 1\nDepends: kmod, linux-base (>= 4.3), \
             linux-modules-6.8.0-1-generic, initramfs-tools | linux-initramfs-tool\n",
        )
        .unwrap();
        assert_eq!(real.image(), None);
        assert_eq!(real.modules().collect::<Vec<_>>(), ["linux-modules-6.8.0-1-generic"]);
    }

    #[test]
    fn names_that_are_none_are_not_taken() {
        for name in ["", "-x", "a", "../etc", "a b", "A1"] {
            assert!(!is_package_name(name), "{name:?}");
        }
        assert!(is_package_name("linux-image-6.1.0-56-cloud-amd64"));
        assert_eq!(candidate("N: nothing\n"), None);
    }

    #[test]
    fn the_complaint_is_the_last_error() {
        assert_eq!(complaint("W: a\nE: Unable to locate package x\nW: b\n"), "Unable to locate package x");
        assert_eq!(complaint("dpkg-deb: error: x\n"), "dpkg-deb: error: x");
        assert_eq!(complaint(""), "it printed nothing");
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "\\PC{0,200}", fields in prop::collection::vec("(Package|Depends|Version): [a-z|,( ):.-]{0,30}", 0..6)) {
            let _ = candidate(&text);
            let _ = complaint(&text);
            if let Some(found) = candidate(&fields.join("\n")) {
                prop_assert!(is_package_name(&found.package));
                prop_assert!(found.depends.iter().all(|name| is_package_name(name)));
            }
        }
    }
}

#[cfg(test)]
mod requested_package_tests {
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

#[cfg(test)]
mod sources_tests {
    use super::*;

    const TEXT: &str =
        "bookworm-security http://s/debian-security/ main\nbookworm http://d/debian/ main\n\nodd\n";

    fn advice_for(asked: &str, known: bool, text: &str) -> String {
        advice(&RequestedPackage::read(asked).unwrap(), known, &sources(text))
    }

    #[test]
    fn a_release_that_apt_has_no_source_of_comes_with_the_line_to_add() {
        let text = advice_for("linux-image-x/bookworm-backports", true, TEXT);
        assert!(text.contains("`deb http://d/debian bookworm-backports main`"), "{text}");
        assert!(text.contains("sources.list.d/bookworm-backports.list"), "{text}");
        assert!(text.contains("(they have bookworm, bookworm-security)"), "{text}");
        // For an unknown release, any source.
        assert!(
            advice_for("linux-image-x/sid", true, TEXT).contains("`deb http://s/debian-security sid main`")
        );
    }

    #[test]
    fn each_other_reason_has_its_remedy() {
        assert!(
            advice_for("linux-image-x/bookworm", true, TEXT).contains("in another: leave the release out")
        );
        assert!(advice_for("linux-image-x/bookworm", false, TEXT).contains("apt-cache search"));
        assert!(
            advice_for("linux-image-x", false, TEXT).contains("no package linux-image-x; `apt-get update`")
        );
        assert!(advice_for("linux-image-x", false, "").contains("knows no source"));
    }
}
