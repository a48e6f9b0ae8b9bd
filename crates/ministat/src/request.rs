//! The command line.

use crate::dialect::Dialect;
use crate::getopt::{Getopt, Grammar, Item};
use crate::level::Level;
use crate::lines::Format;
use crate::number::{strtod, strtol};
use crate::refusal::Refusal;
use crate::symbols::MAX_SETS;

/// The caller: facts that are not on the command line.
#[derive(Clone, Copy, Debug)]
pub struct Caller<'a> {
    /// The program's name as getopt prints it: argv\[0\], with its path.
    pub program: &'a [u8],
    /// Whether POSIXLY_CORRECT is set: no options after files.
    pub posix: bool,
    /// Whether long options are known: not under the name ministat.
    pub long_options: bool,
}

/// The request.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The program whose arithmetic and habits are followed.
    pub dialect: Dialect,
    /// More than ministat: any number of sets, any level with exact quantiles, a plot without
    /// ambiguities.
    pub modern: bool,
    /// Whether to print only the usage.
    pub help: bool,
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
    /// Whether names and header are left out.
    pub quiet: bool,
    /// The files in order; `-` is standard input, and so is an empty list.
    pub files: Vec<Vec<u8>>,
}

const LONG_WITH_VALUE: &[&[u8]] = &[b"dialect"];

impl Request {
    /// Reads the words after the program's name.
    ///
    /// # Errors
    /// The [`Refusal`] that ministat ends with, for the first error.
    pub fn parse(words: &[Vec<u8>], caller: Caller<'_>) -> Result<Request, Refusal> {
        let mut request = Request::new();
        if caller.long_options {
            request.read_long_options(words, caller)?;
        }
        let grammar = caller.grammar(request.dialect);
        let mut level = None;
        for item in Getopt::new(grammar, words) {
            match item {
                Item::Flag(b'A') => request.plot = false,
                Item::Flag(b'n') => (request.plot, request.verdicts) = (false, false),
                Item::Flag(b's') => request.separate_bars = true,
                Item::Flag(_) => request.quiet = true,
                Item::Value(b'C', text) => request.column = request.column(text)?,
                // ministat complains of an unknown level only before the first known one.
                Item::Value(b'c', text) => level = Some(request.level(text, level)?),
                Item::Value(b'd', text) => request.delimiters = request.delimiters(text)?,
                Item::Value(_, text) => request.width = Some(request.width(text)?),
                Item::Long(..) => {}
                Item::File(name) => request.files.push(name.to_vec()),
                Item::Unknown(letter) => {
                    return Err(request.getopt(caller, "invalid option -- '@'", &[letter]));
                }
                Item::Incomplete(letter) => {
                    return Err(request.getopt(caller, "option requires an argument -- '@'", &[letter]));
                }
            }
        }
        request.level = level.unwrap_or(request.level);
        if request.modern {
            // Exact quantiles instead of the table's, and for any level.
            request.level = Level::exact(request.level.percent()).unwrap_or(request.level);
        } else if request.files.len() > MAX_SETS {
            return Err(request.usage("Too many datasets."));
        }
        Ok(request)
    }

    /// The format of the files.
    pub fn format(&self) -> Format {
        Format::new(self.column, &self.delimiters, self.dialect.longest_line())
    }

    fn new() -> Request {
        Request {
            dialect: Dialect::Debian,
            modern: false,
            help: false,
            column: 1,
            delimiters: b" \t".to_vec(),
            level: Level::default(),
            width: None,
            separate_bars: false,
            plot: true,
            verdicts: true,
            quiet: false,
            files: Vec::new(),
        }
    }

    /// They come first, because they decide which other options exist.
    fn read_long_options(&mut self, words: &[Vec<u8>], caller: Caller<'_>) -> Result<(), Refusal> {
        let mut dialect = None;
        for item in Getopt::new(caller.grammar(Dialect::Freebsd), words) {
            match item {
                Item::Long(b"help", None) => self.help = true,
                Item::Long(b"modern", None) => self.modern = true,
                Item::Long(b"dialect", Some(name)) => {
                    dialect = Dialect::from_name(name);
                    dialect.ok_or_else(|| self.usage("Unknown dialect, not debian or freebsd."))?;
                }
                Item::Long(b"dialect", None) => {
                    return Err(self.getopt(caller, "option '--@' requires an argument", b"dialect"));
                }
                Item::Long(name @ (b"help" | b"modern"), Some(_)) => {
                    return Err(self.getopt(caller, "option '--@' doesn't allow an argument", name));
                }
                Item::Long(name, _) => return Err(self.getopt(caller, "unrecognized option '--@'", name)),
                _ => {}
            }
        }
        // By default, `--modern` uses the arithmetic without cancellation.
        self.dialect = dialect.unwrap_or(if self.modern { Dialect::Freebsd } else { Dialect::Debian });
        Ok(())
    }

    fn column(&self, text: &[u8]) -> Result<usize, Refusal> {
        let column = int(text).ok_or_else(|| self.usage("Invalid column number."))?;
        match usize::try_from(column) {
            Ok(column) if column > 0 => Ok(column),
            _ => Err(self.usage("Column number should be positive.")),
        }
    }

    fn level(&self, text: &[u8], earlier: Option<Level>) -> Result<Level, Refusal> {
        let (percent, length) = strtod(text);
        if length < text.len() {
            return Err(self.usage("Not a floating point number"));
        }
        if self.modern {
            return Level::exact(percent)
                .ok_or_else(|| self.usage("A confidence level is more than 0% and less than 100%."));
        }
        let known = Level::from_percent(percent).or(earlier);
        known.ok_or_else(|| self.usage("No support for confidence level"))
    }

    fn delimiters(&self, text: &[u8]) -> Result<Vec<u8>, Refusal> {
        if text.is_empty() { Err(self.usage("Can't use empty delimiter string")) } else { Ok(text.to_vec()) }
    }

    fn width(&self, text: &[u8]) -> Result<usize, Refusal> {
        let width = int(text).ok_or_else(|| self.usage("Invalid width, not a number."))?;
        usize::try_from(width).map_err(|_| self.usage("Unable to move beyond left margin."))
    }

    fn usage(&self, complaint: &str) -> Refusal {
        Refusal::usage(complaint, self.dialect)
    }

    fn getopt(&self, caller: Caller<'_>, complaint: &str, option: &[u8]) -> Refusal {
        Refusal::getopt(caller.program, complaint, option, self.dialect)
    }
}

impl Caller<'_> {
    fn grammar(&self, dialect: Dialect) -> Grammar {
        Grammar {
            flags: if dialect == Dialect::Freebsd { b"Ansq" } else { b"Ans" },
            with_value: b"Ccdw",
            long: self.long_options.then_some(LONG_WITH_VALUE),
            options_first: self.posix,
        }
    }
}

/// The plot's width for a terminal's `COLUMNS`; `None` if that is not a number or too small.
pub fn columns(text: &[u8]) -> Option<usize> {
    let (columns, _) = strtol(text);
    usize::try_from(columns as i32).ok().filter(|columns| *columns > 1)
}

/// All of `text` as C's strtol reads it, truncated to an int. The empty text is 0.
fn int(text: &[u8]) -> Option<i32> {
    let (value, length) = strtol(text);
    (length == text.len()).then_some(value as i32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse_as(long_options: bool, line: &str) -> Result<Request, String> {
        let words: Vec<Vec<u8>> = line.split_whitespace().map(|word| word.as_bytes().to_vec()).collect();
        let caller = Caller { program: b"/bin/ministat", posix: false, long_options };
        Request::parse(&words, caller).map_err(|refusal| {
            assert_eq!(refusal.code, 2);
            let text = String::from_utf8(refusal.text).unwrap();
            text.split_once("Usage: ").unwrap().0.to_owned()
        })
    }

    fn parse(line: &str) -> Result<Request, String> {
        parse_as(false, line)
    }

    #[test]
    fn defaults_and_everything_given() {
        assert_eq!(parse(""), Ok(Request::new()));
        let expected = Request {
            column: 3,
            delimiters: b",;".to_vec(),
            level: Level::from_percent(99.5).unwrap(),
            width: Some(40),
            separate_bars: true,
            plot: false,
            verdicts: true,
            files: vec![b"a".to_vec(), b"-".to_vec()],
            ..Request::new()
        };
        assert_eq!(parse("a -AC3 -c 99.50 - -d ,; -sw 40"), Ok(expected));
        assert!(!parse("-n").unwrap().verdicts && !parse("-n").unwrap().plot);
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
        assert_eq!(parse("-c 90 -c 97").unwrap().level.percent(), 90.0);
        assert_eq!(parse("-c 0x5a").unwrap().level.percent(), 90.0);
        assert_eq!(parse("-C 4294967297").unwrap().column, 1, "cut off to 32 bits");
        assert_eq!(parse("-w 4294967316").unwrap().width, Some(20));
        assert_eq!(int(b""), Some(0));
        assert_eq!(int(b" "), None);
        assert_eq!(
            [&b"50"[..], b"80x", b"abc", b"-5", b"1"].map(columns),
            [Some(50), Some(80), None, None, None]
        );
    }

    #[test]
    fn long_options() {
        let parse = |line| parse_as(true, line);
        let request = parse("-q a --dialect freebsd").unwrap();
        assert!(request.quiet && request.dialect == Dialect::Freebsd && !request.modern);
        let request = parse("--modern -c 97.5 a b c d e f g h").unwrap();
        assert_eq!((request.dialect, request.level), (Dialect::Freebsd, Level::exact(97.5).unwrap()));
        assert_eq!(parse("--modern --dialect=debian").unwrap().dialect, Dialect::Debian);
        assert_eq!(parse("--modern").unwrap().level, Level::exact(95.0).unwrap());
        assert!(parse("a --help").unwrap().help);
        for (line, complaint) in [
            ("-q", "/bin/ministat: invalid option -- 'q'\nUnknown option"),
            ("--dialect gnu", "Unknown dialect, not debian or freebsd."),
            ("--dialect", "/bin/ministat: option '--dialect' requires an argument\nUnknown option"),
            ("--modern=1", "/bin/ministat: option '--modern' doesn't allow an argument\nUnknown option"),
            ("--x", "/bin/ministat: unrecognized option '--x'\nUnknown option"),
            ("--modern -c 100", "A confidence level is more than 0% and less than 100%."),
        ] {
            assert_eq!(parse(line), Err(format!("{complaint}\n")), "{line}");
        }
    }

    proptest! {
        #[test]
        fn any_words(words: Vec<Vec<u8>>, posix: bool, long_options: bool) {
            let caller = Caller { program: b"ministat", posix, long_options };
            if let Ok(request) = Request::parse(&words, caller) {
                request.format();
            }
        }

        #[test]
        fn words_like_options(words in prop::collection::vec(r"-{0,2}[AnsqCcdw=x0-9. -]{0,5}|--modern|--dialect", 0..6)) {
            let words: Vec<Vec<u8>> = words.into_iter().map(String::into_bytes).collect();
            for long_options in [false, true] {
                let caller = Caller { program: b"ministat", posix: false, long_options };
                if let Ok(request) = Request::parse(&words, caller) {
                    prop_assert!(request.column > 0 && !request.delimiters.is_empty());
                }
            }
        }
    }
}
