//! The cells of tables: their digits, signs, units and tones, the same in every form of a page.

use std::borrow::Cow;

use results::{figure, percent, plain, range, times};
use stats::{Comparison, Ratio, Verdict, fixed, signed};
use study::Name;
use study::metric::Better;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::document::colour::Tone;

const CUT: &str = "…";

/// A cell of a table. Its type decides its alignment and colour, and whether it may be cut.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Words; none where there is nothing to say.
    Text(String),
    /// The name of a condition: shortened where it has no room.
    Name(Name),
    /// A number in the unit that its column's heading has.
    Number(String),
    /// A number with its unit, an interval, a time; with the tone of a proven difference.
    Measure(String, Option<Tone>),
    /// A verdict.
    Verdict(String, Tone),
    /// A command of the shell.
    Command(String),
    /// A value that is not known, or does not exist.
    Missing,
}

impl Cell {
    /// An empty cell: the column does not apply to the row.
    pub const EMPTY: Self = Self::Text(String::new());

    /// A number with its unit, an interval or a time, as it is written.
    pub fn measure(text: impl Into<String>) -> Self {
        Self::Measure(text.into(), None)
    }

    /// A percentage.
    pub fn percent(value: f64) -> Self {
        Self::Number(percent(value))
    }

    /// A number with this many decimals.
    pub fn fixed(value: f64, decimals: usize) -> Self {
        Self::Number(fixed(value, decimals))
    }

    /// A difference in %, with its sign.
    pub fn change(value: f64) -> Self {
        Self::Number(signed(percent(value)))
    }

    /// A number as it is written, with its unit if it has one.
    pub fn with_unit(number: String, unit: &str) -> Self {
        match plain(unit) {
            "" => Self::Number(number),
            unit => Self::measure(format!("{number} {unit}")),
        }
    }

    /// Both ends of an interval, as `show` writes a number.
    pub fn interval(ends: Option<(f64, f64)>, show: impl Fn(f64) -> String) -> Self {
        ends.map_or(Self::Missing, |ends| Self::measure(range(Some(ends), show)))
    }

    /// Both ends of a difference's interval, each with its sign.
    pub fn signed_interval(ends: Option<(f64, f64)>, show: fn(f64) -> String) -> Self {
        Self::interval(ends, |end| signed(show(end)))
    }

    /// A difference: in % of the baseline, else as a ratio to it, else in the metric's unit, so
    /// that a size is always shown. `names_percent`: no heading has the percent sign.
    pub fn difference(comparison: &Comparison, unit: &str, names_percent: bool) -> [Self; 2] {
        if let Some(relative) = comparison.relative {
            let size = Self::with_unit(signed(percent(relative)), if names_percent { "%" } else { "" });
            return [size, Self::signed_interval(comparison.relative_interval, percent)];
        }
        if let Some(Ratio { value, interval }) = comparison.ratio {
            return [Self::with_unit(times(value), "times"), Self::interval(Some(interval), times)];
        }
        let size = Self::with_unit(signed(figure(comparison.difference)), unit);
        [size, Self::signed_interval(comparison.interval, figure)]
    }

    /// The verdict of a comparison in these words, where this direction is better.
    pub fn verdict(words: impl Into<String>, verdict: Verdict, better: Option<Better>) -> Self {
        Self::Verdict(words.into(), Tone::from_verdict(verdict, better))
    }

    /// Its text, on one line as wide as it looks, whatever name it holds.
    pub fn text(&self) -> Cow<'_, str> {
        words::sanitised_line(match self {
            Self::Text(text)
            | Self::Number(text)
            | Self::Measure(text, _)
            | Self::Verdict(text, _)
            | Self::Command(text) => text,
            Self::Name(name) => name,
            Self::Missing => "-",
        })
    }

    /// The tone of a verdict or of a proven difference.
    pub fn tone(&self) -> Option<Tone> {
        match self {
            Self::Verdict(_, tone) => Some(*tone),
            Self::Measure(_, tone) => *tone,
            _ => None,
        }
    }

    pub(super) fn is_number(&self) -> bool {
        matches!(self, Self::Number(_) | Self::Missing) || *self == Self::EMPTY
    }

    pub(super) fn is_measured(&self) -> bool {
        matches!(self, Self::Number(_) | Self::Measure(..))
    }

    pub(super) fn width(&self) -> usize {
        self.text().width()
    }
}

impl From<&Name> for Cell {
    fn from(name: &Name) -> Self {
        Self::Name(name.clone())
    }
}

impl From<f64> for Cell {
    fn from(value: f64) -> Self {
        Self::Number(figure(value))
    }
}

macro_rules! as_displayed {
    ($kind:ident: $($value:ty)*) => {$(
        impl From<$value> for Cell {
            fn from(value: $value) -> Self {
                Self::$kind(value.to_string())
            }
        }
    )*};
}

as_displayed! { Text: &str &String String }
as_displayed! { Number: i64 u32 u64 usize }

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(known: Option<T>) -> Self {
        known.map_or(Self::Missing, Into::into)
    }
}

/// The cells of a row, each of whatever has a cell.
#[macro_export]
macro_rules! cells {
    ($($cell:expr),* $(,)?) => {
        vec![$($crate::document::Cell::from($cell)),*]
    };
}

/// Cuts a text to this number of columns.
pub(super) fn cut(text: &str, width: usize) -> Cow<'_, str> {
    if text.width() <= width {
        return text.into();
    }
    let room = width.saturating_sub(CUT.width());
    let taken = |letters: &mut dyn Iterator<Item = char>, room: usize| -> Vec<char> {
        let mut used = 0;
        letters
            .take_while(|letter| {
                used += letter.width().unwrap_or(0);
                used <= room
            })
            .collect()
    };
    // Names of functions and conditions differ at their beginnings or at their ends.
    let start: String = taken(&mut text.chars(), room - room / 2).into_iter().collect();
    let end: String = taken(&mut text.chars().rev(), room / 2).into_iter().rev().collect();
    format!("{start}{CUT}{end}").into()
}
