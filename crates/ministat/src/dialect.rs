//! Whose ministat is spoken.

/// The two lines of descent, which differ in arithmetic and in a few habits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// Debian's version 20150715.
    #[default]
    Debian,
    /// FreeBSD's: the mean of the two middle values as the median, the variance in two passes, and
    /// a relative error that knows that the reference's mean is uncertain too. It also has `-q`.
    Freebsd,
}

impl Dialect {
    /// The dialect of this name, as `--dialect` takes it.
    pub fn from_name(name: &[u8]) -> Option<Dialect> {
        match name {
            b"debian" => Some(Dialect::Debian),
            b"freebsd" => Some(Dialect::Freebsd),
            _ => None,
        }
    }

    /// How many bytes of a line are read at once: one less than C's `BUFSIZ` there. A longer line
    /// counts as several.
    pub fn longest_line(self) -> usize {
        match self {
            Dialect::Debian => 8191,
            Dialect::Freebsd => 1023,
        }
    }

    /// Whether all files are opened before the first is read.
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
