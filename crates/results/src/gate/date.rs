//! A day of the calendar.

use std::fmt;

/// A day of the Gregorian calendar; days are compared in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    year: i64,
    month: u8,
    day: u8,
}

// Milliseconds of a day.
const DAY: i64 = 86_400_000;

impl Date {
    /// A day by its numbers, which are not checked.
    #[must_use]
    pub fn new(year: u16, month: u8, day: u8) -> Self {
        Self { year: i64::from(year), month, day }
    }

    /// The day, in UTC, of an instant in milliseconds since 1970: Howard Hinnant's
    /// `civil_from_days` (<https://howardhinnant.github.io/date_algorithms.html>), in which years
    /// begin in March.
    #[must_use]
    pub fn of_instant(unix_ms: i64) -> Self {
        let days = unix_ms.div_euclid(DAY) + 719_468;
        let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        let from_march = (5 * of_year + 2) / 153;
        let day = of_year - (153 * from_march + 2) / 5 + 1;
        let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
        let year = year + 400 * era + i64::from(month <= 2);
        // Both are within a month's and a year's bounds.
        Self { year, month: month as u8, day: day as u8 }
    }
}

/// `2027-03-01`.
impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_days_are_found() {
        // `date -u -d @SECONDS +%F`.
        for (seconds, day) in [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (951_782_400, "2000-02-29"),
            (951_868_800, "2000-03-01"),
            (1_795_392_000, "2026-11-23"),
            (4_107_542_400, "2100-03-01"),
        ] {
            assert_eq!(Date::of_instant(seconds * 1000).to_string(), day);
        }
    }

    proptest! {
        #[test]
        fn the_next_day_is_later(days in -700_000_i64..700_000) {
            let of = |days: i64| Date::of_instant(days * DAY);
            prop_assert!(of(days) < of(days + 1));
            prop_assert_eq!(of(days), Date::of_instant(days * DAY + DAY - 1));
        }
    }
}
