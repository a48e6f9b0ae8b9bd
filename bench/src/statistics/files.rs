//! The files that are read: the same on every machine, drawn from a fixed seed into a directory
//! that goes with the bench.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;
use tempfile::TempDir;

use crate::failure::Failure;
use crate::random::normal;

/// Mean and standard deviation of the numbers: the throughput of a TCP stream in Mbit/s, to the
/// kilobit.
const MEAN: f64 = 9400.0;
const SD: f64 = 120.0;
/// The second file's mean.
const OTHER_MEAN: f64 = 9353.0;

/// What is in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    /// Three numbers.
    Three,
    /// A number in each line.
    Numbers,
    /// The same around another mean.
    OtherNumbers,
    /// The numbers in the second column of a text.
    Text,
}

/// The directory.
#[derive(Debug)]
pub(super) struct Material {
    directory: TempDir,
    lines: u64,
}

impl Material {
    /// An empty one, for files of `lines` lines.
    pub(super) fn new(lines: u64) -> Result<Self, Failure> {
        let directory = tempfile::tempdir().map_err(Failure::io("cannot make a temporary directory"))?;
        Ok(Self { directory, lines })
    }

    /// The directory's path.
    pub(super) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// The name of the file with this content, which is written if it is not there.
    pub(super) fn file(&self, content: Content) -> Result<&'static str, Failure> {
        let name = content.name();
        let path = self.path().join(name);
        if !path.exists() {
            self.write(content, &path).map_err(Failure::io(format!("cannot write {}", path.display())))?;
        }
        Ok(name)
    }

    /// A program, installed: copied. A linker leaves its output in the page cache in pieces of a
    /// page each, which costs it a fifth of its start (16 page faults more, 0.2 ms on the machine
    /// where this was seen) for as long as they stay there.
    pub(super) fn installed(&self, program: &Path) -> Result<PathBuf, Failure> {
        let copy = self.path().join("netassay");
        let copied = std::fs::copy(program, &copy);
        copied.map_err(Failure::io(format!("cannot copy {} to {}", program.display(), copy.display())))?;
        Ok(copy)
    }

    /// Removes what is no longer read: a large file holds memory, too.
    pub(super) fn clear(&self) -> Result<(), Failure> {
        for content in [Content::Three, Content::Numbers, Content::OtherNumbers, Content::Text] {
            let path = self.path().join(content.name());
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(Failure::io(format!("cannot remove {}", path.display()))(error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn write(&self, content: Content, path: &PathBuf) -> io::Result<()> {
        let mut out = BufWriter::with_capacity(1 << 18, File::create(path)?);
        content.write(self.lines, &mut out)?;
        // On the disk before anything is timed: writing it out later would be in somebody's time.
        out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
    }
}

impl Content {
    fn name(self) -> &'static str {
        match self {
            Self::Three => "three.stat",
            Self::Numbers => "numbers.stat",
            Self::OtherNumbers => "others.stat",
            Self::Text => "text.stat",
        }
    }

    fn write(self, lines: u64, out: &mut impl Write) -> io::Result<()> {
        let mut random = ChaCha8Rng::seed_from_u64(self as u64);
        let mut draw = |mean: f64| mean + SD * normal(&mut random);
        match self {
            Self::Three => (0..3).try_for_each(|_| writeln!(out, "{:.3}", draw(MEAN))),
            Self::Numbers => (0..lines).try_for_each(|_| writeln!(out, "{:.3}", draw(MEAN))),
            Self::OtherNumbers => (0..lines).try_for_each(|_| writeln!(out, "{:.3}", draw(OTHER_MEAN))),
            Self::Text => (0..lines).try_for_each(|line| {
                writeln!(out, "run-{line:08} {:.3} tcp_stream ipv4 offloads=default", draw(MEAN))
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_the_same_every_time_and_do_not_outlive_the_bench() {
        let material = Material::new(5).unwrap();
        let read =
            |content| std::fs::read_to_string(material.path().join(material.file(content).unwrap())).unwrap();
        let numbers = read(Content::Numbers);
        assert_eq!(numbers.lines().count(), 5);
        assert!(numbers.lines().all(|line| line.parse::<f64>().is_ok()), "{numbers}");
        assert_ne!(numbers, read(Content::OtherNumbers));
        assert_eq!(read(Content::Three).lines().count(), 3);
        assert!(
            read(Content::Text).lines().all(|line| line.split(' ').nth(1).unwrap().parse::<f64>().is_ok())
        );
        material.clear().unwrap();
        assert_eq!(std::fs::read_dir(material.path()).unwrap().count(), 0);
        assert_eq!(read(Content::Numbers), numbers);
        let path = material.path().to_owned();
        drop(material);
        assert!(!path.exists());
    }
}
