//! The paths that come with netassay.

use crate::path::TracePath;

/// A path embedded in the binary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BundledPath {
    /// Its name: that of its file without `.toml`.
    pub name: &'static str,
    /// Its file, comments included.
    pub text: &'static str,
}

impl BundledPath {
    /// The path.
    ///
    /// # Panics
    /// Never: a test reads every bundled file.
    pub fn path(&self) -> TracePath {
        match TracePath::parse(&format!("{}.toml", self.name), self.text) {
            Ok(path) => path,
            Err(error) => unreachable!("a bundled path is wrong: {error}"),
        }
    }
}

macro_rules! bundled {
    ($($name:literal),*) => {
        &[$(BundledPath { name: $name, text: include_str!(concat!("../../../paths/", $name, ".toml")) }),*]
    };
}

/// The bundled paths.
pub const PATHS: &[BundledPath] = bundled!["udp-tx", "udp-rx", "tcp-tx", "tcp-rx"];

#[cfg(test)]
mod tests {
    use words::KernelPath;

    use super::*;

    #[test]
    fn every_file_is_bundled_and_read() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../paths");
        assert_eq!(std::fs::read_dir(folder).unwrap().count(), PATHS.len());
        assert!(PATHS.iter().map(|path| path.name).eq(KernelPath::ALL.map(KernelPath::word)));
        for bundled in PATHS {
            let path = TracePath::parse(bundled.name, bundled.text).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(path, bundled.path());
            assert!(!path.about.is_empty());
            let word = KernelPath::ALL.into_iter().find(|path| path.word() == bundled.name).unwrap();
            assert!(word.carries(path.workload), "{word}");
        }
    }
}
