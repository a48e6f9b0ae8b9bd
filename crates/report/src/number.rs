//! Numbers and times as people read them.

use std::time::{Duration, UNIX_EPOCH};

/// A value with about four significant digits, never in exponent form: figures that differ by less than that do not
/// differ for a reader, and a column of them can be compared by eye.
#[must_use]
pub fn figure(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() {
        return "-".to_owned();
    }
    let decimals = match size {
        s if s >= 1000.0 || s == 0.0 => 0,
        s if s >= 100.0 => 1,
        s if s >= 10.0 => 2,
        s if s >= 1.0 => 3,
        s if s >= 0.1 => 4,
        _ => 5,
    };
    format!("{value:.decimals$}")
}

/// A percentage with one decimal.
#[must_use]
pub fn percent(value: f64) -> String {
    if value.is_finite() { format!("{value:.1}") } else { "-".to_owned() }
}

/// A time span in its two largest units.
#[must_use]
pub fn duration(time: Duration) -> String {
    let seconds = (time.as_secs_f64()).round() as u64;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        3600..86_400 => format!("{} h {:02} min", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{} d {:02} h", seconds / 86_400, seconds % 86_400 / 3600),
    }
}

/// An instant in milliseconds since 1970 as UTC date and time, `2026-11-20 13:40:05`.
#[must_use]
pub fn instant(unix_ms: i64) -> String {
    let since = Duration::from_millis(u64::try_from(unix_ms).unwrap_or(0));
    let text = humantime::format_rfc3339_seconds(UNIX_EPOCH + since).to_string();
    text.replace('T', " ").trim_end_matches('Z').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_keep_four_digits() {
        let shown = [42613.07, 999.96, 12.345, 1.2345, 0.12345, 0.012345, 0.0, -3.5].map(figure);
        assert_eq!(shown, ["42613", "1000.0", "12.35", "1.234", "0.1235", "0.01235", "0", "-3.500"]);
        assert_eq!(figure(f64::NAN), "-");
    }

    #[test]
    fn times_show_two_units() {
        let shown = [0.4, 59.0, 61.0, 3600.0, 90_000.0].map(|s| duration(Duration::from_secs_f64(s)));
        assert_eq!(shown, ["0 s", "59 s", "1 min 01 s", "1 h 00 min", "1 d 01 h"]);
    }

    #[test]
    fn instants_are_utc() {
        assert_eq!(instant(0), "1970-01-01 00:00:00");
        assert_eq!(instant(1_795_181_965_000), "2026-11-20 13:39:25");
        assert_eq!(instant(-1000), "1970-01-01 00:00:00");
    }
}
