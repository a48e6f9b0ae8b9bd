//! The command line, read as glibc's getopt does.

use crate::ministat::lines::ValueFormat;
use crate::ministat::number::{parse_number, strtol};
use crate::ministat::plot::MAX_SETS;
use crate::ministat::refusal::Rejection;
use crate::ministat::student::ConfidenceLevel;

// The most bytes of a line: one less than C's `BUFSIZ`. A longer line counts as several.
const LONGEST_LINE: usize = 8191;

/// The request.
#[derive(Clone, Debug, PartialEq)]
pub struct MinistatRequest {
    /// The column of the values, from 1.
    pub column: usize,
    /// The bytes between columns.
    pub delimiters: Vec<u8>,
    /// The level of the verdicts.
    pub level: ConfidenceLevel,
    /// The plot's width without its frame, if given.
    pub width: Option<usize>,
    /// A row for each set's bar.
    pub separate_bars: bool,
    /// Whether the plot is wanted.
    pub plot: bool,
    /// Whether the verdicts are wanted.
    pub verdicts: bool,
    /// The files in order; `-` is standard input, and so is an empty list.
    pub files: Vec<Vec<u8>>,
}

impl Default for MinistatRequest {
    fn default() -> MinistatRequest {
        MinistatRequest {
            column: 1,
            delimiters: b" \t".to_vec(),
            level: ConfidenceLevel::default(),
            width: None,
            separate_bars: false,
            plot: true,
            verdicts: true,
            files: Vec::new(),
        }
    }
}

impl MinistatRequest {
    /// Reads the words after the program's name. `program`: that name in getopt's messages;
    /// `is_posix`: POSIXLY_CORRECT is set, so that no options come after files.
    ///
    /// # Errors
    /// The [`Rejection`] that ministat ends with, for the first error.
    pub fn parse(words: &[Vec<u8>], program: &[u8], is_posix: bool) -> Result<MinistatRequest, Rejection> {
        let mut request = MinistatRequest::default();
        let mut level = None;
        let mut only_files = false;
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let Some(mut group) = word.strip_prefix(b"-").filter(|group| !only_files && !group.is_empty())
            else {
                only_files |= is_posix;
                request.files.push(word.clone());
                continue;
            };
            if group == b"-" {
                only_files = true;
                continue;
            }
            while let Some((letter, rest)) = group.split_first() {
                group = rest;
                match letter {
                    b'A' => request.plot = false,
                    b'n' => (request.plot, request.verdicts) = (false, false),
                    b's' => request.separate_bars = true,
                    b'C' | b'c' | b'd' | b'w' => {
                        let following = || words.next().map(Vec::as_slice);
                        let value = Some(rest).filter(|rest| !rest.is_empty()).or_else(following);
                        let complaint = "option requires an argument -- '@'";
                        let value = value.ok_or_else(|| Rejection::getopt(program, complaint, *letter))?;
                        request.set(*letter, value, &mut level)?;
                        group = &[];
                    }
                    _ => return Err(Rejection::getopt(program, "invalid option -- '@'", *letter)),
                }
            }
        }
        request.level = level.unwrap_or(request.level);
        if request.files.len() > MAX_SETS {
            return Err(Rejection::usage("Too many datasets."));
        }
        Ok(request)
    }

    /// The format of the files.
    pub fn format(&self) -> ValueFormat {
        ValueFormat::new(self.column, &self.delimiters, LONGEST_LINE)
    }

    fn set(&mut self, letter: u8, text: &[u8], known: &mut Option<ConfidenceLevel>) -> Result<(), Rejection> {
        let usage = Rejection::usage;
        match letter {
            b'C' => {
                let column = int(text).ok_or_else(|| usage("Invalid column number."))?;
                let column = usize::try_from(column).ok().filter(|column| *column > 0);
                self.column = column.ok_or_else(|| usage("Column number should be positive."))?;
            }
            b'c' => {
                let percent = parse_number(text).ok_or_else(|| usage("Not a floating point number"))?;
                // ministat complains of an unknown level only before the first known one.
                let level = ConfidenceLevel::from_percent(percent).or(*known);
                *known = Some(level.ok_or_else(|| usage("No support for confidence level"))?);
            }
            b'd' if text.is_empty() => return Err(usage("Can't use empty delimiter string")),
            b'd' => self.delimiters = text.to_vec(),
            _ => {
                let width = int(text).ok_or_else(|| usage("Invalid width, not a number."))?;
                let width = usize::try_from(width).map_err(|_| usage("Unable to move beyond left margin."));
                self.width = Some(width?);
            }
        }
        Ok(())
    }
}

/// The plot's width for a terminal's `COLUMNS`; `None` if that is not a number or too small.
pub fn columns(text: &[u8]) -> Option<usize> {
    let (columns, _) = strtol(text);
    usize::try_from(columns as i32).ok().filter(|columns| *columns > 1)
}

/// As C's strtol reads it.
fn int(text: &[u8]) -> Option<i32> {
    let (value, length) = strtol(text);
    // ministat assigns the long to an int. The empty text is 0.
    (length == text.len()).then_some(value as i32)
}

#[cfg(test)]
mod tests;
