//! The files that are read: the same on every machine, drawn from a fixed seed into a directory
//! that goes with the bench.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use stats::simulate::normal;
use tempfile::TempDir;

use crate::bench::temporary_directory;
use crate::failure::Failure;

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
pub(super) struct Files {
    directory: TempDir,
    lines: u64,
}

impl Files {
    /// An empty one, for files of `lines` lines.
    pub(super) fn new(lines: u64) -> Result<Self, Failure> {
        Ok(Self { directory: temporary_directory()?, lines })
    }

    /// The directory's path.
    pub(super) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// The name of the file with this content, which is written if it is not there.
    pub(super) fn file(&self, content: Content) -> Result<&'static str, Failure> {
        let name = match content {
            Content::Three => "three.stat",
            Content::Numbers => "numbers.stat",
            Content::OtherNumbers => "others.stat",
            Content::Text => "text.stat",
        };
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

    fn write(&self, content: Content, path: &Path) -> io::Result<()> {
        let mut out = BufWriter::with_capacity(1 << 18, File::create(path)?);
        let mut random = ChaCha8Rng::seed_from_u64(content as u64);
        let lines = if content == Content::Three { 3 } else { self.lines };
        let mean = if content == Content::OtherNumbers { OTHER_MEAN } else { MEAN };
        for line in 0..lines {
            let number = mean + SD * normal(&mut random);
            match content {
                Content::Text => writeln!(out, "run-{line:08} {number:.3} tcp_stream ipv4 offloads=default")?,
                _ => writeln!(out, "{number:.3}")?,
            }
        }
        // On the disk before anything is timed: writing it out later would be in somebody's time.
        out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_hold_numbers_and_do_not_outlive_the_bench() {
        let files = Files::new(5).unwrap();
        let read =
            |content| std::fs::read_to_string(files.path().join(files.file(content).unwrap())).unwrap();
        assert_ne!(read(Content::Numbers), read(Content::OtherNumbers));
        for (content, column, lines) in [
            (Content::Three, 0, 3),
            (Content::Numbers, 0, 5),
            (Content::OtherNumbers, 0, 5),
            (Content::Text, 1, 5),
        ] {
            let text = read(content);
            let number =
                |line: &str| line.split(' ').nth(column).is_some_and(|word| word.parse::<f64>().is_ok());
            assert!(text.lines().all(number) && text.lines().count() == lines, "{text}");
        }
        let path = files.path().to_owned();
        drop(files);
        assert!(!path.exists());
    }
}
