//! The two dialects of ministat.

/// The two dialects, which differ in arithmetic and in a few habits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// Debian's version 20150715.
    #[default]
    Debian,
    /// FreeBSD's: the median is the mean of the two middle values, the variance takes two passes,
    /// and the relative error includes that of the reference's mean. It also has `-q`.
    Freebsd,
}

impl Dialect {
    /// The dialect of a `--dialect` name.
    pub fn from_name(name: &[u8]) -> Option<Dialect> {
        match name {
            b"debian" => Some(Dialect::Debian),
            b"freebsd" => Some(Dialect::Freebsd),
            _ => None,
        }
    }

    /// The most bytes of a line: one less than C's `BUFSIZ` there. A longer line counts as several.
    pub fn longest_line(self) -> usize {
        match self {
            Dialect::Debian => 8191,
            Dialect::Freebsd => 1023,
        }
    }

    /// Whether it opens all files before it reads the first.
    pub fn opens_all_first(self) -> bool {
        self == Dialect::Freebsd
    }

    /// The exit code when a file cannot be opened.
    pub fn cannot_open_code(self) -> u8 {
        match self {
            Dialect::Debian => 1,
            Dialect::Freebsd => 2,
        }
    }
}
