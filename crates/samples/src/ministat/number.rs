//! Numbers as C reads and writes them in the C locale.

/// The number of the whole text, leading blanks included; `None` if anything is left over, even a
/// blank. Correctly rounded; too large is infinite.
pub fn parse_number(text: &[u8]) -> Option<f64> {
    short_decimal(text).or_else(|| str::from_utf8(&text[leading(text, is_space)..]).ok()?.parse().ok())
}

/// The usual number, in a third of std's time: at most 15 digits without an exponent. Their
/// number and the power of ten are exact, so that the one division rounds correctly.
fn short_decimal(text: &[u8]) -> Option<f64> {
    let (sign, unsigned) = text.strip_prefix(b"-").map_or((1.0, text), |rest| (-1.0, rest));
    if unsigned.len() > 16 {
        return None;
    }
    let (mut mantissa, mut scale, mut next_scale) = (0_i64, 1_i64, 1);
    for byte in unsigned {
        match byte {
            b'0'..=b'9' => {
                mantissa = 10 * mantissa + i64::from(byte - b'0');
                scale *= next_scale;
            }
            b'.' if next_scale == 1 => next_scale = 10,
            _ => return None,
        }
    }
    let digits = unsigned.len() - usize::from(next_scale == 10);
    (1..=15).contains(&digits).then(|| sign * (mantissa as f64 / scale as f64))
}

/// The leading number, clamped to the type, and its length; 0 and 0 without a number.
pub(crate) fn strtol(text: &[u8]) -> (i64, usize) {
    let blanks = leading(text, is_space);
    let negative = text.get(blanks) == Some(&b'-');
    let start = blanks + usize::from(matches!(text.get(blanks), Some(b'-' | b'+')));
    let digits = leading(&text[start..], |byte| byte.is_ascii_digit());
    if digits == 0 {
        return (0, 0);
    }
    let value = text[start..start + digits].iter().fold(0_i64, |value, digit| {
        let digit = i64::from(digit - b'0');
        value.saturating_mul(10).saturating_add(if negative { -digit } else { digit })
    });
    (value, start + digits)
}

pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

fn leading(text: &[u8], is: impl Fn(u8) -> bool) -> usize {
    text.iter().take_while(|byte| is(**byte)).count()
}

/// printf's `%.{precision}g` (C17, 7.21.6.1).
pub(crate) fn g(value: f64, precision: usize) -> String {
    if value.is_nan() {
        // No file has one: it is the result of an operation, which is negative on amd64.
        return "-nan".to_owned();
    }
    if value.is_infinite() {
        return value.to_string();
    }
    // Rust rounds correctly, ties to even, as the C library.
    let scientific = format!("{value:.*e}", precision.max(1) - 1);
    let (mantissa, exponent) = scientific.split_once('e').expect("LowerExp writes an e");
    let exponent: i32 = exponent.parse().expect("LowerExp writes a number after the e");
    let decimals = precision.max(1) as i32 - 1 - exponent;
    if exponent < -4 || decimals < 0 {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{}e{sign}{:02}", without_trailing_zeros(mantissa), exponent.abs())
    } else {
        without_trailing_zeros(&format!("{value:.*}", decimals as usize)).to_owned()
    }
}

fn without_trailing_zeros(digits: &str) -> &str {
    if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn assert_whole(text: &str, expected: f64) {
        let value = parse_number(text.as_bytes());
        assert_eq!(value.map(f64::to_bits), Some(expected.to_bits()), "{text}: {value:?}");
    }

    #[test]
    fn what_c_takes_for_a_number() {
        for (text, value) in [
            ("1", 1.0),
            ("-0", -0.0),
            ("+.5", 0.5),
            ("5.", 5.0),
            ("1e3", 1e3),
            ("1.5E-3", 1.5e-3),
            ("\u{b}\u{c} 7", 7.0),
            ("123456789012345678901234567890", 123456789012345678901234567890.0),
            ("9007199254740993", 9007199254740992.0),
            ("0.1", 0.1),
            ("1e400", f64::INFINITY),
            ("-1e400", f64::NEG_INFINITY),
            ("1e-400", 0.0),
            ("4.9e-324", 5e-324),
            ("1e99999999999999999999", f64::INFINITY),
            ("InF", f64::INFINITY),
            ("-infinity", f64::NEG_INFINITY),
        ] {
            assert_whole(text, value);
        }
    }

    #[test]
    fn what_c_does_not() {
        for text in [
            "", " ", "-", "+", ".", "e5", "1e", "1e+", "1 ", "1,", "5#x", "--1", "0x10", "infi", "nan(1)",
            "1.2.3", "1_000", "١", "\u{a0}1",
        ] {
            assert_eq!(parse_number(text.as_bytes()), None, "{text:?}");
        }
    }

    #[test]
    fn whole_numbers_are_clamped() {
        assert_eq!(strtol(b" \n+12x"), (12, 5));
        assert_eq!(strtol(b"-9223372036854775809"), (i64::MIN, 20));
        assert_eq!(strtol(b"99999999999999999999"), (i64::MAX, 20));
        assert_eq!(strtol(b"-"), (0, 0));
    }

    proptest! {
        #[test]
        fn decimals_are_rust_s(text in r"[-+]?[0-9]{0,22}(\.[0-9]{0,22})?(e[-+]?[0-9]{1,3})?") {
            prop_assert_eq!(parse_number(text.as_bytes()).map(f64::to_bits), text.parse().ok().map(f64::to_bits));
        }

        #[test]
        fn any_bytes(text: Vec<u8>) {
            parse_number(&text);
            prop_assert!(strtol(&text).1 <= text.len());
        }
    }

    #[test]
    fn equals_printf() {
        let rows: Vec<(f64, String, String)> =
            serde_json::from_str(include_str!("../../tests/fixtures/c-format.json")).unwrap();
        assert!(rows.len() > 800);
        for (value, short, wide) in rows {
            assert_eq!(g(value, 6), short, "%g of {value:e}");
            assert_eq!(format!("{:>13}", g(value, 8)), wide, "%13.8g of {value:e}");
        }
    }

    #[test]
    fn what_is_no_number() {
        let texts = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -f64::NAN].map(|value| g(value, 8));
        assert_eq!(texts, ["inf", "-inf", "-nan", "-nan"]);
    }
}
