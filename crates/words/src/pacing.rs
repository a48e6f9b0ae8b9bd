//! Paces as people write them: `500Mbit`, `1.5Gbit`.

use std::fmt;

use thiserror::Error;

use crate::duration::decimal;

/// A pace in bits of payload per second, in whole bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pacing(u64);

/// The units of `tc`(8), decimal, largest first, in bits per second. Case does not matter, as in
/// `tc`.
const UNITS: [(&str, u64); 5] =
    [("Tbit", 1_000_000_000_000), ("Gbit", 1_000_000_000), ("Mbit", 1_000_000), ("kbit", 1_000), ("bit", 1)];

/// Why a text is not a pace.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PacingError {
    /// The text does not end in a unit.
    #[error("a pace ends in `bit`, `kbit`, `Mbit`, `Gbit` or `Tbit`")]
    NoUnit,
    /// The text before the unit is not a number.
    #[error("the text before the unit is not a number")]
    NoNumber,
    /// The rate is not a whole number of bits.
    #[error("it is finer than a bit per second")]
    Fraction,
    /// The rate is outside of [`Pacing::LEAST`] to [`Pacing::MOST`].
    #[error("a pace lies between {} and {}", Pacing::LEAST, Pacing::MOST)]
    Range,
}

impl Pacing {
    /// The slowest: a datagram of one byte every 8 s.
    pub const LEAST: Pacing = Pacing(1);
    /// The fastest: more than any link.
    pub const MOST: Pacing = Pacing(1_000_000_000_000);

    /// Reads a pace: a number, which may have a fraction, and a unit.
    ///
    /// # Errors
    /// [`PacingError`].
    pub fn parse(text: &str) -> Result<Pacing, PacingError> {
        let text = text.trim();
        let unit = text.find(|c: char| c.is_ascii_alphabetic()).ok_or(PacingError::NoUnit)?;
        let (number, unit) = text.split_at(unit);
        let known = UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit));
        let (_, unit) = known.ok_or(PacingError::NoUnit)?;
        let (bits, is_finer) = decimal(number.trim(), (*unit).into()).ok_or(PacingError::NoNumber)?;
        let bits = u64::try_from(bits).map_err(|_| PacingError::Range)?;
        if is_finer { Err(PacingError::Fraction) } else { Pacing::of_bits(bits).ok_or(PacingError::Range) }
    }

    /// A pace in bits per second; `None` if it is out of range.
    pub fn of_bits(bits: u64) -> Option<Pacing> {
        (Self::LEAST.0..=Self::MOST.0).contains(&bits).then_some(Pacing(bits))
    }

    /// Bits of payload per second.
    pub fn bits(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Pacing {
    /// Writes the rate in the largest unit that gives a whole number.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fits = UNITS.iter().find(|(_, unit)| self.0.is_multiple_of(*unit));
        let (name, unit) = fits.copied().unwrap_or(("bit", 1));
        out.pad(&format!("{}{name}", self.0 / unit))
    }
}

crate::word::as_text!(Pacing, Pacing::parse);

/// A share in percent, kept to a ten-thousandth of a percent so that it reads back as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Percent(u32);

/// Parts of a percent.
const PARTS: f64 = 10_000.0;

/// Why a text is not a share.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PercentError {
    /// The text does not end in `%`.
    #[error("a percentage ends in `%`")]
    NoSign,
    /// The text before the sign is not a number.
    #[error("the text before `%` is not a number")]
    NoNumber,
    /// The percentage is outside of [`Percent::LEAST`] to [`Percent::MOST`].
    #[error("a percentage lies between {} and {}", Percent::LEAST, Percent::MOST)]
    Range,
}

impl Percent {
    /// The smallest share that can be written.
    pub const LEAST: Percent = Percent(1);
    /// The largest: the whole.
    pub const MOST: Percent = Percent(1_000_000);

    /// Reads a share, a number and `%`.
    ///
    /// # Errors
    /// [`PercentError`].
    pub fn parse(text: &str) -> Result<Percent, PercentError> {
        let number = text.trim().strip_suffix('%').ok_or(PercentError::NoSign)?.trim();
        let is_plain = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        let number: f64 = number.parse().ok().filter(|_| is_plain).ok_or(PercentError::NoNumber)?;
        let parts = (number * PARTS).round();
        if !(1.0..=f64::from(Percent::MOST.0)).contains(&parts) {
            return Err(PercentError::Range);
        }
        Ok(Percent(parts as u32))
    }

    /// The number before the sign.
    pub fn value(self) -> f64 {
        f64::from(self.0) / PARTS
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(&format!("{}%", self.value()))
    }
}

crate::word::as_text!(Percent, Percent::parse);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn paces_as_people_write_them() {
        for (text, bits, shown) in [
            ("500Mbit", 500_000_000, "500Mbit"),
            (" 1.5 gbit ", 1_500_000_000, "1500Mbit"),
            ("8bit", 8, "8bit"),
            ("0.5kbit", 500, "500bit"),
            ("1tbit", 1_000_000_000_000, "1Tbit"),
            ("2.50Mbit", 2_500_000, "2500kbit"),
        ] {
            let pace = Pacing::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!((pace.bits(), pace.to_string().as_str()), (bits, shown), "{text}");
        }
        for (text, error) in [
            ("", PacingError::NoUnit),
            ("500", PacingError::NoUnit),
            ("500M", PacingError::NoUnit),
            ("500Mibit", PacingError::NoUnit),
            ("bit", PacingError::NoNumber),
            ("-1bit", PacingError::NoNumber),
            ("1.bit", PacingError::NoNumber),
            ("1.2.3kbit", PacingError::NoNumber),
            ("0.5bit", PacingError::Fraction),
            ("1.2345kbit", PacingError::Fraction),
            ("0Mbit", PacingError::Range),
            ("1.1Tbit", PacingError::Range),
            ("99999999999999999999Gbit", PacingError::Range),
        ] {
            assert_eq!(Pacing::parse(text), Err(error), "{text}");
        }
        assert_eq!(PacingError::Range.to_string(), "a pace lies between 1bit and 1Tbit");
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(bits in 1..=1_000_000_000_000_u64) {
            let pace = Pacing(bits);
            prop_assert_eq!(Pacing::parse(&pace.to_string()), Ok(pace));
            let json = serde_json::to_string(&pace).unwrap();
            prop_assert_eq!(serde_json::from_str::<Pacing>(&json).unwrap(), pace);
        }

        #[test]
        fn no_text_makes_it_panic(text in "\\PC{0,12}|[0-9.]{0,30}[kMGT]?bit") {
            let _ = Pacing::parse(&text);
        }
    }
}

#[cfg(test)]
mod percent_tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn shares_as_people_write_them() {
        for (text, value) in [("2%", 2.0), (" 0.5 %", 0.5), ("100%", 100.0), ("0.0001%", 0.0001)] {
            assert_eq!(Percent::parse(text).map(Percent::value), Ok(value), "{text}");
        }
        for (text, error) in [
            ("2", PercentError::NoSign),
            ("", PercentError::NoSign),
            ("%", PercentError::NoNumber),
            ("-2%", PercentError::NoNumber),
            ("1e1%", PercentError::NoNumber),
            ("inf%", PercentError::NoNumber),
            ("0%", PercentError::Range),
            ("100.1%", PercentError::Range),
        ] {
            assert_eq!(Percent::parse(text), Err(error), "{text}");
        }
        assert_eq!(PercentError::Range.to_string(), "a percentage lies between 0.0001% and 100%");
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(parts in 1..=1_000_000_u32) {
            let share = Percent(parts);
            prop_assert_eq!(Percent::parse(&share.to_string()), Ok(share));
            let json = serde_json::to_string(&share).unwrap();
            prop_assert_eq!(serde_json::from_str::<Percent>(&json).unwrap(), share);
        }

        #[test]
        fn no_text_makes_it_panic(text in "\\PC{0,12}") {
            let _ = Percent::parse(&text);
        }
    }
}
