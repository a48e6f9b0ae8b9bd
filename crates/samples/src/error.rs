//! Errors of a file: the problem, its place, and the remedy.

use std::io;

use thiserror::Error;

/// Why measurements cannot be read or compared.
#[derive(Debug, Error)]
pub enum SamplesError {
    /// Invalid content of a file.
    #[error("{file}:{line}:{column}: {what}; {way_out}")]
    Content {
        /// The file, as it was named.
        file: String,
        /// The line, from 1.
        line: u64,
        /// The byte in the line, from 1.
        column: u64,
        /// The problem.
        what: String,
        /// The remedy.
        way_out: String,
    },
    /// A file cannot be read to its end.
    #[error("cannot read {file}: {source}")]
    Read {
        /// The file, as it was named.
        file: String,
        /// The cause.
        source: io::Error,
    },
    /// Each file is valid, but the request does not match them.
    #[error("{0}")]
    Question(String),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FilePosition {
    pub(crate) line: u64,
    pub(crate) column: u64,
}

impl FilePosition {
    pub(crate) fn start_of(line: u64) -> FilePosition {
        FilePosition { line, column: 1 }
    }

    /// The position after `bytes` that begin here.
    pub(crate) fn after(self, bytes: &[u8]) -> FilePosition {
        match bytes.iter().rposition(|byte| *byte == b'\n') {
            Some(last) => FilePosition {
                line: self.line + bytes.iter().filter(|byte| **byte == b'\n').count() as u64,
                column: (bytes.len() - last) as u64,
            },
            None => FilePosition { column: self.column + bytes.len() as u64, ..self },
        }
    }
}

/// A [`SamplesError`] without the file's name, which readers do not know.
#[derive(Debug)]
pub(crate) enum Fault {
    Content { place: FilePosition, what: String, way_out: String },
    Read(io::Error),
}

impl Fault {
    pub(crate) fn new(place: FilePosition, what: impl Into<String>, way_out: impl Into<String>) -> Fault {
        Fault::Content { place, what: what.into(), way_out: way_out.into() }
    }

    pub(crate) fn in_file(self, file: &str) -> SamplesError {
        // Names and words of the file stay on the message's line.
        let plain = |words: &str| words::sanitised_line(words).into_owned();
        let file = plain(file);
        match self {
            Fault::Content { place: FilePosition { line, column }, what, way_out } => {
                SamplesError::Content { file, line, column, what: plain(&what), way_out: plain(&way_out) }
            }
            Fault::Read(source) => SamplesError::Read { file, source },
        }
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Fault {
        Fault::Read(error)
    }
}

/// Bytes of a file for a message: quoted, unprintable ones escaped, long text cut.
pub(crate) fn quoted(bytes: &[u8]) -> String {
    const SHOWN: usize = 40;
    let cut = &bytes[..bytes.len().min(SHOWN)];
    let dots = if bytes.len() > SHOWN { "…" } else { "" };
    format!("\"{}{dots}\"", cut.escape_ascii())
}
