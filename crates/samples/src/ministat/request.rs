//! The command line, read as glibc's getopt does.

use crate::ministat::lines::Format;
use crate::ministat::number::{parse_number, strtol};
use crate::ministat::plot::MAX_SETS;
use crate::ministat::refusal::Refusal;
use crate::ministat::student::Level;

// The most bytes of a line: one less than C's `BUFSIZ`. A longer line counts as several.
const LONGEST_LINE: usize = 8191;

/// The request.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The column of the values, from 1.
    pub column: usize,
    /// The bytes between columns.
    pub delimiters: Vec<u8>,
    /// The level of the verdicts.
    pub level: Level,
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

impl Default for Request {
    fn default() -> Request {
        Request {
            column: 1,
            delimiters: b" \t".to_vec(),
            level: Level::default(),
            width: None,
            separate_bars: false,
            plot: true,
            verdicts: true,
            files: Vec::new(),
        }
    }
}

impl Request {
    /// Reads the words after the program's name. `program`: that name in getopt's messages;
    /// `is_posix`: POSIXLY_CORRECT is set, so that no options come after files.
    ///
    /// # Errors
    /// The [`Refusal`] that ministat ends with, for the first error.
    pub fn parse(words: &[Vec<u8>], program: &[u8], is_posix: bool) -> Result<Request, Refusal> {
        let mut request = Request::default();
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
                        let value = value.ok_or_else(|| Refusal::getopt(program, complaint, *letter))?;
                        request.set(*letter, value, &mut level)?;
                        group = &[];
                    }
                    _ => return Err(Refusal::getopt(program, "invalid option -- '@'", *letter)),
                }
            }
        }
        request.level = level.unwrap_or(request.level);
        if request.files.len() > MAX_SETS {
            return Err(Refusal::usage("Too many datasets."));
        }
        Ok(request)
    }

    /// The format of the files.
    pub fn format(&self) -> Format {
        Format::new(self.column, &self.delimiters, LONGEST_LINE)
    }

    fn set(&mut self, letter: u8, text: &[u8], known: &mut Option<Level>) -> Result<(), Refusal> {
        let usage = Refusal::usage;
        match letter {
            b'C' => {
                let column = int(text).ok_or_else(|| usage("Invalid column number."))?;
                let column = usize::try_from(column).ok().filter(|column| *column > 0);
                self.column = column.ok_or_else(|| usage("Column number should be positive."))?;
            }
            b'c' => {
                let percent = parse_number(text).ok_or_else(|| usage("Not a floating point number"))?;
                // ministat complains of an unknown level only before the first known one.
                let level = Level::from_percent(percent).or(*known);
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
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(line: &str) -> Result<Request, String> {
        let words: Vec<Vec<u8>> = line.split_whitespace().map(|word| word.as_bytes().to_vec()).collect();
        Request::parse(&words, b"/bin/ministat", false).map_err(|refusal| {
            assert_eq!(refusal.code, 2);
            let text = String::from_utf8(refusal.text).unwrap();
            text.split_once("Usage: ").unwrap().0.to_owned()
        })
    }

    #[test]
    fn defaults_and_everything_given() {
        assert_eq!(parse(""), Ok(Request::default()));
        let expected = Request {
            column: 3,
            delimiters: b",;".to_vec(),
            level: Level::from_percent(99.5).unwrap(),
            width: Some(40),
            separate_bars: true,
            plot: false,
            verdicts: true,
            files: vec![b"a".to_vec(), b"-".to_vec()],
        };
        assert_eq!(parse("a -AC3 -c 99.50 - -d ,; -sw 40"), Ok(expected));
        assert!(!parse("-n").unwrap().verdicts && !parse("-n").unwrap().plot);
    }

    #[test]
    fn groups_glued_values_and_files_between() {
        let request = parse("-Aw40 x -s -C 2 -- -").unwrap();
        assert_eq!((request.plot, request.width, request.separate_bars), (false, Some(40), true));
        assert_eq!((request.column, request.files), (2, [&b"x"[..], b"-"].map(<[u8]>::to_vec).to_vec()));
        assert_eq!(parse("x -- -n --").unwrap().files, [&b"x"[..], b"-n", b"--"].map(<[u8]>::to_vec));
        let words = ["-n", "x", "-s", "--"].map(|word| word.as_bytes().to_vec());
        let posix = Request::parse(&words, b"ministat", true).unwrap();
        assert_eq!((posix.verdicts, posix.separate_bars, posix.files), (false, false, words[1..].to_vec()));
    }

    #[test]
    fn the_first_error_wins() {
        for (line, complaint) in [
            ("-C 2x", "Invalid column number."),
            ("-C 0 -Z", "Column number should be positive."),
            ("-C 99999999999999999999", "Column number should be positive."),
            ("-c 9o", "Not a floating point number"),
            ("-c 97", "No support for confidence level"),
            ("-c 97 -c 90", "No support for confidence level"),
            ("-w 4x", "Invalid width, not a number."),
            ("-w -5", "Unable to move beyond left margin."),
            ("-q", "/bin/ministat: invalid option -- 'q'\nUnknown option"),
            ("--modern", "/bin/ministat: invalid option -- '-'\nUnknown option"),
            ("a -w", "/bin/ministat: option requires an argument -- 'w'\nUnknown option"),
            ("a b c d e f g h", "Too many datasets."),
        ] {
            assert_eq!(parse(line), Err(format!("{complaint}\n")), "{line}");
        }
    }

    #[test]
    fn the_oddities_of_numbers() {
        assert_eq!(parse("-c 90 -c 97").unwrap().level.percent, 90.0);
        assert_eq!(parse("-C 4294967297").unwrap().column, 1, "cut off to 32 bits");
        assert_eq!(parse("-w 4294967316").unwrap().width, Some(20));
        assert_eq!(int(b""), Some(0));
        assert_eq!(int(b" "), None);
        assert_eq!(
            [&b"50"[..], b"80x", b"abc", b"-5", b"1"].map(columns),
            [Some(50), Some(80), None, None, None]
        );
    }

    proptest! {
        #[test]
        fn any_words(words: Vec<Vec<u8>>, posix: bool) {
            if let Ok(request) = Request::parse(&words, b"ministat", posix) {
                request.format();
            }
        }

        #[test]
        fn words_like_options(words in prop::collection::vec(r"-{0,2}[AnsqCcdw=x0-9. -]{0,5}|--help", 0..6)) {
            let words: Vec<Vec<u8>> = words.into_iter().map(String::into_bytes).collect();
            if let Ok(request) = Request::parse(&words, b"ministat", false) {
                prop_assert!(request.column > 0 && !request.delimiters.is_empty());
            }
        }
    }
}
