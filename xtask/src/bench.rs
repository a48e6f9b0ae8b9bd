//! `bench/`: netassay compared with its goals and with similar programs.

use crate::Result;
use crate::program::{run as program, succeeded};
use crate::session::Session;

/// `cargo xtask bench [NAME] [OPTION…]`: builds netassay as users have it, but with symbols, and
/// the bench beside it, and passes everything on. The results are on standard output.
pub(crate) fn run(session: &mut Session, arguments: &[String]) -> Result {
    for package in ["netassay", "netassay-bench"] {
        let mut build = session.cargo(&["build", "--release", "--package", package]);
        program(build.env("CARGO_PROFILE_RELEASE_STRIP", "none"))?;
    }
    let mut bench = session.command(session.built.join("release/netassay-bench"));
    let status = bench.args(arguments).status();
    succeeded(&bench, status)
}

#[cfg(test)]
mod tests {
    /// What users build has no symbols. cargo keeps those of a package that a profile names.
    #[test]
    fn the_release_binary_is_stripped() {
        let manifest = include_str!("../../Cargo.toml");
        let release = manifest.split("\n[profile.").filter(|part| part.starts_with("release"));
        let lines: Vec<&str> = release.flat_map(str::lines).collect();
        assert!(lines.contains(&"strip = \"symbols\""), "{lines:#?}");
        assert!(!lines.iter().any(|line| line.starts_with("netassay.")), "{lines:#?}");
    }
}
