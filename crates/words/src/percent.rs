//! Shares as people write them: `2%`, `0.5 %`.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;

use crate::mistake::Mistake;
use crate::suggest::quoted;

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

    /// Reads the value of the key `name`.
    ///
    /// # Errors
    /// The mistake, with the remedy.
    pub fn read(name: &str, text: &str) -> Result<Percent, Mistake> {
        Self::parse(text).map_err(|error| {
            let out_of_range = error == PercentError::Range;
            if out_of_range {
                let message = format!("`{}` must be {} to {}", quoted(name), Self::LEAST, Self::MOST);
                return Mistake { message, help: None, out_of_range };
            }
            let message = format!("`{}` is not a percentage: {error}", quoted(text));
            Mistake { message, help: Some("write it as \"2%\" or \"0.5%\"".to_owned()), out_of_range }
        })
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

impl Serialize for Percent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Percent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Percent, D::Error> {
        let text = String::deserialize(deserializer)?;
        Percent::parse(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
