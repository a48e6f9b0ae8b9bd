//! Numbers and times as people read them.

use std::time::{Duration, UNIX_EPOCH};

pub use record::{counted, in_thousands};
use stats::fixed;
use study::format_duration;

/// A value with about four significant digits: a smaller difference is none for a reader, and a
/// column can be compared by eye. In exponent form only beyond what a cell can hold.
pub fn figure(value: f64) -> String {
    if !value.is_finite() {
        return "-".to_owned();
    }
    // The exponent after rounding to four digits: 0.99999 is shown as 1.000, beside 1.001.
    let rounded = format!("{value:.3e}");
    let exponent: i32 = rounded.rsplit_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0);
    if value != 0.0 && !(-8..15).contains(&exponent) {
        return rounded;
    }
    let decimals = if value == 0.0 { 0 } else { (3 - exponent).clamp(0, 9) };
    fixed(value, usize::try_from(decimals).unwrap_or(0))
}

/// A part of `whole`, or a difference of parts: zero where only rounding of that size is left.
pub fn beyond_rounding(value: f64, whole: f64) -> f64 {
    if value.abs() < 1e-9 * whole.abs() { 0.0 } else { value }
}

/// A value with three significant digits, no zeros at its end, and groups: `6.7`, `41,200`.
pub fn rounded(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return figure(value);
    }
    let exponent = value.abs().log10().floor() as i32;
    let unit = 10f64.powi(exponent - 2);
    let text =
        format!("{:.*}", usize::try_from(2 - exponent).unwrap_or(0).min(9), (value / unit).round() * unit);
    let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
    let grouped = in_thousands(whole);
    match part.trim_end_matches('0') {
        "" => grouped,
        part => format!("{grouped}.{part}"),
    }
}

/// A percentage: one decimal, three below 1 %, and in exponent form where three would hide it.
pub fn percent(value: f64) -> String {
    match value.abs() {
        size if !size.is_finite() => "-".to_owned(),
        size if size < 0.0005 && size > 0.0 => format!("{value:.1e}"),
        size if size < 0.9995 && size > 0.0 => fixed(value, 3),
        _ => fixed(value, 1),
    }
}

/// The unit in words; empty for a plain number, `1` in the vocabulary of metrics.
pub fn plain(unit: &str) -> &str {
    if unit == "1" { "" } else { unit }
}

/// A value as it is written, with its unit if it has one.
pub fn with_unit(shown: String, unit: &str) -> String {
    match plain(unit) {
        "" => shown,
        unit => format!("{shown} {unit}"),
    }
}

/// A time span in its two largest units.
pub fn duration(time: Duration) -> String {
    let seconds = (time.as_secs_f64()).round() as u64;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        3600..86_400 => format!("{} h {:02} min", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{} d {:02} h", seconds / 86_400, seconds % 86_400 / 3600),
    }
}

/// [`duration`] of a number of seconds.
pub fn duration_of(seconds: f64) -> String {
    duration(Duration::try_from_secs_f64(seconds).unwrap_or_default())
}

/// A duration as a study has it, with spaces as sentences have them: `1 m 30 s`, `700 ms`.
pub fn spaced_duration(time: Duration) -> String {
    let mut text = String::new();
    for letter in format_duration(time).chars() {
        if text.ends_with(|last: char| last.is_ascii_digit() != letter.is_ascii_digit()) {
            text.push(' ');
        }
        text.push(letter);
    }
    text
}

/// An instant in ms since 1970 as `2026-11-20 13:40:05` (UTC), at the latest the end of 9999.
pub fn instant(unix_ms: i64) -> String {
    const LAST: u64 = 253_402_300_799_000;
    let since = Duration::from_millis(u64::try_from(unix_ms).unwrap_or(0).min(LAST));
    let text = humantime::format_rfc3339_seconds(UNIX_EPOCH + since).to_string();
    text.replace('T', " ").trim_end_matches('Z').to_owned()
}

/// A ratio to the baseline, in three significant digits: `11.7`, `0.0853`.
pub fn times(ratio: f64) -> String {
    if !(1e-6..1e6).contains(&ratio) {
        return figure(ratio);
    }
    let decimals = (2.0 - ratio.log10().floor()).max(0.0) as usize;
    format!("{ratio:.decimals$}")
}

/// An interval as `show` writes its ends: `-3 to 12`, or `at least -3` where nothing bounds it
/// above; a dash for none.
pub fn range(interval: Option<(f64, f64)>, show: impl Fn(f64) -> String) -> String {
    match interval.map(|ends| interval_ends(ends, show)) {
        Some([Some(low), Some(high)]) => format!("{low} to {high}"),
        Some([Some(low), None]) => format!("at least {low}"),
        Some([None, Some(high)]) => format!("at most {high}"),
        Some([None, None]) | None => "-".to_owned(),
    }
}

/// The ends of an interval as `show` writes them, in at most three significant digits or two of the
/// interval's width; `None` for an infinite one.
pub fn interval_ends((low, high): (f64, f64), show: impl Fn(f64) -> String) -> [Option<String>; 2] {
    let width = (high - low).abs();
    [low, high].map(|end| (!end.is_infinite()).then(|| shortened_end(end, show(end), width)))
}

fn shortened_end(value: f64, shown: String, width: f64) -> String {
    // The error of an interval's end is far larger than the omitted digits. A sign and a unit stay.
    let sign_ends = shown.find(|letter: char| letter.is_ascii_digit()).unwrap_or(0);
    let (sign, size) = shown.split_at(sign_ends);
    let number_ends =
        size.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(size.len());
    let (number, unit) = size.split_at(number_ends);
    let digits = number.trim_start_matches(['0', '.']).bytes().filter(u8::is_ascii_digit).count();
    // In exponent form it is short already.
    if digits <= 3 || unit.starts_with('e') {
        return shown;
    }
    // Rounding may carry: 99.96 has one decimal less than 99.9.
    let exponent = format!("{value:.2e}").rsplit_once('e').and_then(|(_, power)| power.parse().ok());
    let exponent: i32 = exponent.unwrap_or(0);
    // Both ends of a narrow interval would be the same in three digits.
    let of_width = if width > 0.0 && width.is_finite() { width.log10().floor() as i32 - 1 } else { i32::MAX };
    let last = of_width.min(exponent - 2);
    let decimals = usize::try_from(-last);
    let shown_decimals = number.split_once('.').map_or(0, |(_, part)| part.len());
    if decimals.is_ok_and(|decimals| decimals >= shown_decimals) {
        return shown;
    }
    let digits = usize::try_from(exponent - last).unwrap_or(2);
    let rounded = format!("{:.digits$e}", value.abs()).parse().unwrap_or(value.abs());
    format!("{sign}{}{unit}", fixed(rounded, decimals.unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_of_a_clock_that_is_wrong_is_a_date_too() {
        assert_eq!(instant(i64::MIN), "1970-01-01 00:00:00");
        assert_eq!(instant(i64::MAX), "9999-12-31 23:59:59");
    }

    #[test]
    fn figures_keep_four_digits() {
        let shown = [42613.07, 999.96, 12.345, 1.2345, 0.99999, 0.012345, 0.0, -3.5].map(figure);
        assert_eq!(shown, ["42613", "1000", "12.35", "1.234", "1.000", "0.01235", "0", "-3.500"]);
        assert_eq!([f64::NAN, -0.0].map(figure), ["-", "0"]);
        assert_eq!([1e-12, 1.0e308, 999_999.0e9].map(figure), ["1.000e-12", "1.000e308", "1.000e15"]);
    }

    #[test]
    fn rounded_figures_are_short() {
        let shown = [0.0, 6.7, 26.0, 0.000_3, 999.9, 41_234.0, 1_234_567.0, -1500.0].map(rounded);
        assert_eq!(shown, ["0", "6.7", "26", "0.0003", "1,000", "41,200", "1,230,000", "-1,500"]);
    }

    #[test]
    fn an_interval_has_three_digits_at_its_ends() {
        let of = |low, high| range(Some((low, high)), |value| stats::signed(percent(value)));
        assert_eq!(of(-2257.4, 12_345.0), "-2260 to +12300");
        assert_eq!(of(-100.0, 159.5), "-100 to +160");
        assert_eq!(of(99.96, 0.427), "+100 to +0.427");
        assert_eq!(of(-7.3, 45.67), "-7.3 to +45.7");
        let unit = |value| format!("{} Mbit/s", figure(value));
        assert_eq!(range(Some((1.2345, 0.99999)), unit), "1.23 Mbit/s to 1.00 Mbit/s");
        assert_eq!(range(Some((f64::NAN, 1e20)), figure), "- to 1.000e20");
        assert_eq!(range(Some((-0.0, 0.0)), figure), "0 to 0");
        // One interval in two signs has the same digits, and a narrow one tells its ends apart.
        assert_eq!(range(Some((-5916.4, -3831.2)), figure), "-5920 to -3830");
        assert_eq!(range(Some((3831.2, 5916.4)), figure), "3830 to 5920");
        assert_eq!(range(Some((1294.2, 1304.4)), figure), "1294 to 1304");
        assert_eq!(range(Some((-111.83, -107.21)), figure), "-111.8 to -107.2");
        assert_eq!(range(Some((f64::NEG_INFINITY, 1234.5)), figure), "at most 1230");
        assert_eq!(range(Some((-3.06, f64::INFINITY)), percent), "at least -3.1");
        assert_eq!(range(Some((f64::NEG_INFINITY, f64::INFINITY)), figure), "-");
    }

    #[test]
    fn small_percentages_keep_their_digits() {
        assert_eq!(
            [0.0, 0.0978, -0.5, -0.0004, 12.34, f64::NAN].map(percent),
            ["0.0", "0.098", "-0.500", "-4.0e-4", "12.3", "-"]
        );
    }

    #[test]
    fn times_show_two_units() {
        let shown = [0.4, 59.0, 61.0, 3600.0, 90_000.0].map(|s| duration(Duration::from_secs_f64(s)));
        assert_eq!(shown, ["0 s", "59 s", "1 min 01 s", "1 h 00 min", "1 d 01 h"]);
    }

    #[test]
    fn a_duration_of_a_sentence_has_a_space_before_its_unit() {
        let shown = [20, 90_000, 1500].map(|ms| spaced_duration(Duration::from_millis(ms)));
        assert_eq!(shown, ["20 ms", "1 m 30 s", "1 s 500 ms"]);
    }

    #[test]
    fn instants_are_utc() {
        assert_eq!(instant(0), "1970-01-01 00:00:00");
        assert_eq!(instant(1_795_181_965_000), "2026-11-20 13:39:25");
        assert_eq!(instant(-1000), "1970-01-01 00:00:00");
    }
}
