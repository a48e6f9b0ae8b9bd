//! apt's sources of packages, and advice when none has a package.

use crate::guest::requested_package::RequestedPackage;

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
