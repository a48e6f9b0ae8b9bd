//! A problem in a file that a person wrote.

/// A problem in a file, at its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: {problem}")]
pub struct FileError {
    /// The file's name as it was given.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The problem and its remedy.
    pub problem: String,
}

impl FileError {
    /// A problem at a byte of the `text` of a `file`, which is only shown.
    pub fn new(file: &str, text: &str, byte: usize, problem: String) -> Self {
        let before = &text[..text.floor_char_boundary(byte.min(text.len()))];
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        let (line, column) = (before.matches('\n').count() + 1, before[start..].chars().count() + 1);
        Self { file: file.to_owned(), line, column, problem }
    }
}
