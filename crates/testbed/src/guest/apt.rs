//! Reads the output of Debian's package tools.

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) package: String,
    pub(crate) version: String,
    pub(crate) depends: Vec<String>,
}

/// Debian policy, section 5.1: fields `Name: value`.
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
    pub(crate) fn image(&self) -> Option<&str> {
        let mut names = self.depends.iter().map(String::as_str);
        names.find(|name| name.starts_with("linux-image-") && *name != self.package)
    }

    pub(crate) fn modules(&self) -> impl Iterator<Item = &str> {
        self.depends.iter().map(String::as_str).filter(|name| name.starts_with("linux-modules-"))
    }
}

fn first_name(alternatives: &str) -> Option<String> {
    let name = alternatives.split(['|', '(', ' ']).find(|word| !word.is_empty())?;
    let name = name.split(':').next().unwrap_or(name);
    is_package_name(name).then(|| name.to_owned())
}

/// Debian policy, section 5.6.1.
pub(crate) fn is_package_name(name: &str) -> bool {
    // A name of this form is safe as an argument, where it is no option, and as a file name.
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    name.len() >= 2
        && name.bytes().next().is_some_and(plain)
        && name.bytes().all(|byte| plain(byte) || b"+-.".contains(&byte))
}

pub(crate) fn complaint(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let error = lines.iter().rev().find(|line| line.starts_with("E:")).or(lines.last());
    let Some(line) = error else { return "it printed nothing".to_owned() };
    words::shortened_reason(line.trim_start_matches("E:"))
}

/// A package, or "PACKAGE/RELEASE"; both are safe as arguments.
pub(crate) fn is_request(text: &str) -> bool {
    match text.split_once('/') {
        Some((package, release)) => is_package_name(package) && is_release(release),
        None => is_package_name(text),
    }
}

pub(crate) fn in_same_release(asked: &str, package: &str) -> String {
    match asked.split_once('/') {
        Some((_, release)) => format!("{package}/{release}"),
        None => package.to_owned(),
    }
}

// Replaces the slash in a file's name: no package and no release has it.
const IN_FILES: &str = "@";

pub(crate) fn file_name(request: &str) -> String {
    request.replace('/', IN_FILES)
}

pub(crate) fn from_file_name(name: &str) -> String {
    name.replace(IN_FILES, "/")
}

fn is_release(name: &str) -> bool {
    name.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-._~".contains(&byte))
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
mod request_tests {
    use super::*;

    #[test]
    fn a_release_is_asked_for_behind_a_slash() {
        let asked = "linux-image-amd64/bookworm-backports";
        assert!(is_request(asked) && is_request("linux-image-amd64"));
        assert_eq!(file_name(asked), "linux-image-amd64@bookworm-backports");
        assert_eq!(from_file_name(&file_name(asked)), asked);
        assert_eq!(in_same_release(asked, "linux-modules-1"), "linux-modules-1/bookworm-backports");
        assert_eq!(in_same_release("linux-image-amd64", "linux-modules-1"), "linux-modules-1");
        for text in ["", "../evil", "linux/", "linux-a/../b", "linux-a/-x", "linux-a/b/c", "/etc", "a@b"] {
            assert!(!is_request(text), "{text}");
        }
    }
}
