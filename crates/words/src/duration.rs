//! Durations as people write them: `700ms`, `2s`, `1m30s`, `1.5h`.

use std::time::Duration;

/// Units, largest first, with their length in nanoseconds.
const UNITS: [(&str, u128); 6] = [
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

const REMEDY: &str = "write it as \"700ms\", \"2s\" or \"1m30s\"";

/// Reads a duration: one or more numbers, each with a unit (`h`, `m`, `s`, `ms`, `us`, `ns`), added
/// up. Fractions of a nanosecond are cut off.
///
/// # Errors
/// The remedy for a text that is not a duration.
pub fn parse_duration(text: &str) -> Result<Duration, &'static str> {
    total_of(text).ok_or(REMEDY)
}

fn total_of(text: &str) -> Option<Duration> {
    let mut rest = text.trim();
    let mut total: u128 = 0;
    loop {
        let (number, after) = split(rest, |c| c.is_ascii_digit() || c == '.');
        let (unit, after) = split(after, |c| !c.is_ascii_digit() && c != '.' && !c.is_whitespace());
        let (_, length) = UNITS.iter().find(|(name, _)| *name == unit)?;
        let (part, _) = decimal(number, *length)?;
        total = total.saturating_add(part);
        rest = after.trim_start();
        if rest.is_empty() {
            let seconds = u64::try_from(total / 1_000_000_000).ok()?;
            return Some(Duration::new(seconds, (total % 1_000_000_000) as u32));
        }
    }
}

/// Writes a duration as [`parse_duration`] reads it: `1m30s`, `700ms`, `0s`.
pub fn format_duration(duration: Duration) -> String {
    let mut rest = duration.as_nanos();
    if rest == 0 {
        return "0s".to_owned();
    }
    let mut text = String::new();
    for (unit, length) in UNITS {
        let count = rest / length;
        if count > 0 {
            text.push_str(&format!("{count}{unit}"));
            rest %= length;
        }
    }
    text
}

/// `serde(with = …)`: a duration as its text.
pub mod text {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    /// Writes the duration as text.
    ///
    /// # Errors
    /// The serializer's errors.
    pub fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&super::format_duration(*duration))
    }

    /// Reads the text.
    ///
    /// # Errors
    /// The text is not a duration.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        super::parse_duration(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

/// `serde(with = …)`: a duration as its text, or null.
pub(crate) mod maybe_text {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(duration: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
        duration.map(super::format_duration).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
        let text = Option::<String>::deserialize(from)?;
        text.map(|text| super::parse_duration(&text).map_err(serde::de::Error::custom)).transpose()
    }
}

fn split(text: &str, belongs: impl Fn(char) -> bool) -> (&str, &str) {
    let end = text.find(|c| !belongs(c)).unwrap_or(text.len());
    text.split_at(end)
}

/// In whole parts, and whether less than one is left over. Beyond 128 bits the largest number.
pub(crate) fn decimal(number: &str, unit: u128) -> Option<(u128, bool)> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let is_plain = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !is_plain(whole) || !is_plain(fraction) {
        return None;
    }
    let mut parts = whole.parse().unwrap_or(u128::MAX).saturating_mul(unit);
    let (mut place, mut is_left) = (unit, false);
    for digit in fraction.bytes().map(|byte| u128::from(byte - b'0')) {
        is_left |= !place.is_multiple_of(10) && digit > 0;
        place /= 10;
        parts = parts.saturating_add(place * digit);
    }
    Some((parts, is_left))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn people_write_durations_in_many_ways() {
        for (text, milliseconds) in [
            ("700ms", 700),
            ("2s", 2_000),
            ("1m30s", 90_000),
            ("1m 30s", 90_000),
            ("1.5h", 5_400_000),
            ("0.25s", 250),
            ("0s", 0),
            (" 10s ", 10_000),
        ] {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
        assert_eq!(parse_duration("1500us"), Ok(Duration::from_micros(1_500)));
    }

    #[test]
    fn what_is_not_a_duration_is_refused() {
        for text in ["", "10", "10 s", "10sec", "-1s", "1.s", "1.2.3s", "99999999999999999999h"] {
            assert_eq!(parse_duration(text), Err(REMEDY), "{text}");
        }
    }

    proptest! {
        #[test]
        fn writing_then_reading_loses_nothing(nanoseconds in any::<u64>()) {
            let duration = Duration::from_nanos(nanoseconds);
            prop_assert_eq!(parse_duration(&format_duration(duration)), Ok(duration));
        }

        #[test]
        fn reading_never_panics(text in "\\PC{0,40}|[0-9.hmsun ]{0,40}") {
            let _ = parse_duration(&text);
        }
    }
}
