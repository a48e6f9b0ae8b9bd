//! Errors of the core, and the end of the program with its standard error and exit code.

use thiserror::Error;

/// Why there is no table or no plot.
#[derive(Clone, Debug, PartialEq, Error)]
#[expect(missing_docs, reason = "the messages name the fields")]
pub enum MinistatError {
    #[error("Dataset {0} must contain at least 3 data points")]
    TooFewPoints(String),
    #[error("cannot plot {0}: a value, or the mean, is infinite or not a number; -A leaves the plot out")]
    NotFinite(String),
    #[error("cannot plot values that are {0:e} apart; -A leaves the plot out")]
    NoScale(f64),
    #[error("cannot plot in {width} columns: give -w 2 to {limit}, or -A to leave the plot out")]
    Width { width: usize, limit: usize },
}

/// Why there are no results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// The text for standard error, with newlines. File names are not converted.
    pub text: Vec<u8>,
    /// The exit code.
    pub code: u8,
}

impl Rejection {
    /// A wrong command line: the complaint, and the usage.
    pub fn usage(complaint: &str) -> Rejection {
        Rejection { text: [complaint, "\n", USAGE].concat().into_bytes(), code: 2 }
    }

    /// A refusal as [`Rejection::usage`], after getopt's own complaint.
    pub(crate) fn getopt(program: &[u8], complaint: &str, option: u8) -> Rejection {
        let (before, after) = complaint.split_once('@').unwrap_or((complaint, ""));
        let usage = Rejection::usage("Unknown option");
        let text =
            [program, b": ", before.as_bytes(), &[option], after.as_bytes(), b"\n", &usage.text].concat();
        Rejection { text, ..usage }
    }

    /// A file cannot be opened.
    pub fn cannot_open(name: &[u8], reason: &str) -> Rejection {
        Rejection::from_line(&[b"ministat: Cannot open ", name, b": ", reason.as_bytes()], 1)
    }

    /// A file cannot be read to its end.
    pub fn cannot_read(name: &[u8], reason: &str) -> Rejection {
        Rejection::from_line(&[b"ministat: cannot read ", name, b": ", reason.as_bytes()], 2)
    }

    /// A token in the column is not a number.
    pub fn invalid_data(name: &[u8], line: u64) -> Rejection {
        Rejection::from_line(&[format!("ministat: Invalid data on line {line} in ").as_bytes(), name], 2)
    }

    /// A set has too few values.
    pub fn too_few_points(name: &[u8]) -> Rejection {
        Rejection::from_line(&[b"Dataset ", name, b" must contain at least 3 data points"], 2)
    }

    /// Anything else.
    pub fn other(reason: &str, code: u8) -> Rejection {
        Rejection::from_line(&[b"ministat: ", reason.as_bytes()], code)
    }

    fn from_line(line: &[&[u8]], code: u8) -> Rejection {
        Rejection { text: [&line.concat(), b"\n".as_slice()].concat(), code }
    }
}

const USAGE: &str = "\
Usage: ministat [-C column] [-c confidence] [-d delimiter(s)] [-Ans] [-w width] [file [file ...]]
\tconfidence = {80%, 90%, 95%, 98%, 99%, 99.5%}
\t-A : print statistics only. suppress the graph.
\t-C : column number to extract (starts and defaults to 1)
\t-d : delimiter(s) string, default to \" \\t\"
\t-n : print summary statistics only, no graph/test
\t-s : print avg/median/stddev bars on separate lines
\t-w : width of graph/test output (default 74 or terminal width)
";
