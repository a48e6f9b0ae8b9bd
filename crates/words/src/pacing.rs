//! Paces as people write them: `500Mbit`, `1.5Gbit`.

use std::fmt;

use crate::duration::decimal;

/// A pace in bits of payload per second, in whole bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pacing(u64);

/// The units of `tc`(8), largest first, in bits per second.
const UNITS: [(&str, u64); 5] =
    [("Tbit", 1_000_000_000_000), ("Gbit", 1_000_000_000), ("Mbit", 1_000_000), ("kbit", 1_000), ("bit", 1)];

const PACE_REMEDY: &str = "write it as \"500Mbit\" or \"1.5Gbit\", 1bit to 1Tbit per second";

impl Pacing {
    /// The slowest: a datagram of one byte every 8 s.
    pub const LEAST: Pacing = Pacing(1);
    /// The fastest: more than any link.
    pub const MOST: Pacing = Pacing(1_000_000_000_000);

    /// Reads a pace: a number, which may have a fraction, and a unit.
    ///
    /// # Errors
    /// The remedy for a text that is not a pace.
    pub fn parse(text: &str) -> Result<Pacing, &'static str> {
        let read = || {
            let text = text.trim();
            let (number, unit) = text.split_at(text.find(|c: char| c.is_ascii_alphabetic())?);
            // Case does not matter, as in `tc`.
            let (_, unit) = UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit))?;
            let (bits, is_finer) = decimal(number.trim(), (*unit).into())?;
            Pacing::of_bits(u64::try_from(bits).ok().filter(|_| !is_finer)?)
        };
        read().ok_or(PACE_REMEDY)
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
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The largest unit that gives a whole number reads back as the same pace.
        let fits = UNITS.iter().find(|(_, unit)| self.0.is_multiple_of(*unit));
        let (name, unit) = fits.copied().unwrap_or(("bit", 1));
        out.pad(&format!("{}{name}", self.0 / unit))
    }
}

crate::word::as_text!(Pacing, Pacing::parse);

/// A share in percent, kept to a ten-thousandth of a percent so that it reads back as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Percent(u32);

const PARTS: f64 = 10_000.0;

const SHARE_REMEDY: &str = "write it as \"2%\" or \"0.5%\", 0.0001% to 100%";

impl Percent {
    /// The smallest share that can be written.
    pub const LEAST: Percent = Percent(1);
    /// The largest: the whole.
    pub const MOST: Percent = Percent(1_000_000);

    /// Reads a share, a number and `%`.
    ///
    /// # Errors
    /// The remedy for a text that is not a share.
    pub fn parse(text: &str) -> Result<Percent, &'static str> {
        let read = || {
            let number = text.trim().strip_suffix('%')?.trim();
            let is_plain = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
            let parts = (number.parse::<f64>().ok().filter(|_| is_plain)? * PARTS).round();
            (1.0..=f64::from(Percent::MOST.0)).contains(&parts).then_some(Percent(parts as u32))
        };
        read().ok_or(SHARE_REMEDY)
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
        let not_paces =
            ["", "500", "500M", "500Mibit", "bit", "-1bit", "1.bit", "1.2.3kbit", "0.5bit", "1.2345kbit"];
        for text in not_paces.into_iter().chain(["0Mbit", "1.1Tbit", "99999999999999999999Gbit"]) {
            assert_eq!(Pacing::parse(text), Err(PACE_REMEDY), "{text}");
        }
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
        for text in ["2", "", "%", "-2%", "1e1%", "inf%", "0%", "100.1%"] {
            assert_eq!(Percent::parse(text), Err(SHARE_REMEDY), "{text}");
        }
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
