//! C's strtod and strtol in the C locale, which accept more than Rust's parsers: leading blanks,
//! hexadecimal fractions, `nan(…)`.

/// The number of the whole text; `None` if anything is left over, even a blank.
pub fn parse_number(text: &[u8]) -> Option<f64> {
    match decimal(text) {
        Some((value, length)) if length == text.len() => Some(value),
        _ => match strtod(text) {
            (value, length) if length == text.len() && length > 0 => Some(value),
            _ => None,
        },
    }
}

/// The value of the number at the start of `text` and its length, leading blanks included; 0 and 0
/// if there is none. Correctly rounded; too large is infinite.
pub(crate) fn strtod(text: &[u8]) -> (f64, usize) {
    let blanks = leading(text, is_space);
    let (negative, sign) = sign(&text[blanks..]);
    let start = blanks + sign;
    match unsigned(&text[start..]) {
        Some((value, length)) => (if negative { -value } else { value }, start + length),
        None => (0.0, 0),
    }
}

/// The decimal whole number at the start of `text`, clamped to the type, and its length; 0 and 0 if
/// there is none.
pub(crate) fn strtol(text: &[u8]) -> (i64, usize) {
    let blanks = leading(text, is_space);
    let (negative, sign) = sign(&text[blanks..]);
    let start = blanks + sign;
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

/// The decimal number at the start of `text`, without leading blanks, and its length: the usual
/// case. Of a hexadecimal number it is the 0 before the x.
#[inline]
pub fn decimal(text: &[u8]) -> Option<(f64, usize)> {
    let (negative, start) = sign(text);
    let (mantissa, whole_end) = digits(text, start, 0);
    let (mantissa, mut end, count, decimals) = if text.get(whole_end) == Some(&b'.') {
        let (mantissa, end) = digits(text, whole_end + 1, mantissa);
        (mantissa, end, end - start - 1, end - whole_end - 1)
    } else {
        (mantissa, whole_end, whole_end - start, 0)
    };
    if count == 0 {
        return None;
    }
    let mut power = -(decimals as i64);
    if matches!(text.get(end), Some(b'e' | b'E')) {
        let length = exponent_length(&text[end..]);
        if length > 0 {
            power = power.saturating_add(strtol(&text[end + 1..end + length]).0);
            end += length;
        }
    }
    // 19 digits fit into 64 bits. Whole numbers up to 2^53 and these powers of ten are exact
    // doubles, so that one multiplication or division rounds correctly.
    let value = match power {
        _ if count > 19 || mantissa > 1 << 53 => parsed(&text[start..end]),
        0 => mantissa as f64,
        -22..0 => mantissa as f64 / POWERS_OF_TEN[-power as usize],
        1..=22 => mantissa as f64 * POWERS_OF_TEN[power as usize],
        _ => parsed(&text[start..end]),
    };
    Some((if negative { -value } else { value }, end))
}

/// The exact ones.
const POWERS_OF_TEN: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

fn parsed(text: &[u8]) -> f64 {
    let text = str::from_utf8(text).expect("digits, points, signs and e are ASCII");
    text.parse().expect("Rust parses digits with a point and an exponent")
}

/// `value` with the digits from `at` on appended, and their end.
#[inline]
fn digits(text: &[u8], mut at: usize, mut value: u64) -> (u64, usize) {
    while let Some(digit) = text.get(at).map(|byte| byte.wrapping_sub(b'0')).filter(|digit| *digit < 10) {
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        at += 1;
    }
    (value, at)
}

/// Whether a minus comes first, and the length of the sign.
#[inline]
fn sign(text: &[u8]) -> (bool, usize) {
    match text.first() {
        Some(b'-') => (true, 1),
        Some(b'+') => (false, 1),
        _ => (false, 0),
    }
}

fn unsigned(text: &[u8]) -> Option<(f64, usize)> {
    let starts_with =
        |word: &[u8]| text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    if starts_with(b"0x")
        && let Some((value, length)) = hexadecimal(&text[2..])
    {
        return Some((value, 2 + length));
    }
    if starts_with(b"infinity") {
        return Some((f64::INFINITY, 8));
    }
    if starts_with(b"inf") {
        return Some((f64::INFINITY, 3));
    }
    if starts_with(b"nan") {
        return Some((f64::NAN, 3 + leading_payload(&text[3..])));
    }
    // A second sign is not part of the number.
    if sign(text).1 > 0 { None } else { decimal(text) }
}

/// The length of a `(…)` after `nan`.
fn leading_payload(text: &[u8]) -> usize {
    if text.first() != Some(&b'(') {
        return 0;
    }
    let inside = leading(&text[1..], |byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if text.get(1 + inside) == Some(&b')') { inside + 2 } else { 0 }
}

fn exponent_length(text: &[u8]) -> usize {
    let start = 1 + sign(&text[1..]).1;
    match leading(&text[start..], |byte| byte.is_ascii_digit()) {
        0 => 0,
        digits => start + digits,
    }
}

/// The rest after `0x`, if it has a digit.
fn hexadecimal(text: &[u8]) -> Option<(f64, usize)> {
    let mut mantissa = 0_u64;
    let mut exponent = 0_i64;
    let mut lost = false;
    let mut digits = 0;
    let mut point = false;
    let mut length = 0;
    for byte in text {
        match char::from(*byte).to_digit(16) {
            Some(digit) => {
                digits += 1;
                if mantissa >> 60 == 0 {
                    mantissa = mantissa << 4 | u64::from(digit);
                    exponent -= if point { 4 } else { 0 };
                } else {
                    lost |= digit != 0;
                    exponent += if point { 0 } else { 4 };
                }
            }
            None if *byte == b'.' && !point => point = true,
            None => break,
        }
        length += 1;
    }
    if digits == 0 {
        return None;
    }
    if matches!(text.get(length), Some(b'p' | b'P')) {
        let end = length + exponent_length(&text[length..]);
        if end > length {
            let (power, _) = strtol(&text[length + 1..end]);
            exponent = exponent.saturating_add(power);
            length = end;
        }
    }
    Some((scaled(mantissa, lost, exponent), length))
}

/// mantissa × 2^exponent, rounded to the nearest double, ties to even. `lost`: a little more was
/// cut off.
fn scaled(mantissa: u64, lost: bool, exponent: i64) -> f64 {
    if mantissa == 0 {
        return 0.0;
    }
    let shift = mantissa.leading_zeros();
    let mantissa = u128::from(mantissa << shift);
    // The value is at least 2^top and less than twice that.
    let top = exponent.saturating_add(63 - i64::from(shift));
    if top > 1023 {
        return f64::INFINITY;
    }
    // Below the smallest normal number, 2^-1022, each halving costs a bit of the 53.
    let missing = (-1022 - top).max(0);
    if missing > 53 {
        return 0.0;
    }
    let cut = 11 + missing as u32;
    let kept = (mantissa >> cut) as u64;
    let rest = mantissa & ((1 << cut) - 1);
    let half = 1 << (cut - 1);
    let up = rest > half || (rest == half && (lost || kept & 1 == 1));
    // The leading bit of `kept` adds one to the exponent's field, and so may the carry of rounding.
    let field = if missing > 0 { 0 } else { (top + 1022) as u64 };
    f64::from_bits((field << 52) + kept + u64::from(up))
}

fn leading(text: &[u8], is: impl Fn(u8) -> bool) -> usize {
    text.iter().take_while(|byte| is(**byte)).count()
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
            ("nan", f64::NAN),
            ("-NaN(12_x)", -f64::NAN),
            ("0x10", 16.0),
            ("-0X1.8p3", -12.0),
            ("0x.8", 0.5),
            ("0x1p-1074", 5e-324),
            ("0x1p-1075", 0.0),
            ("0x1.000001p-1075", 5e-324),
            ("0x1p-1076", 0.0),
            ("0x1p1024", f64::INFINITY),
            ("0x1.fffffffffffff8p1023", f64::INFINITY),
            ("0x1.fffffffffffff7p1023", f64::MAX),
            ("0x1.00000000000008p0", 1.0),
            ("0x1.000000000000080000001p0", 1.0 + f64::EPSILON),
            ("0x1.00000000000018p0", 1.0 + 2.0 * f64::EPSILON),
            ("0x0.000000000000000000000000001p108", 1.0),
            ("0x0p99999999999999999999", 0.0),
        ] {
            assert_whole(text, value);
        }
    }

    #[test]
    fn what_c_does_not() {
        for text in [
            "", " ", "-", "+", ".", "e5", "1e", "1e+", "1 ", "1,", "5#x", "--1", "0x", "0x.", "0x1p", "0xg",
            "infi", "nan(", "nan(-)", "1.2.3", "1_000", "١", "\u{a0}1",
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
        fn hexadecimal_digits_of_a_double_give_it_back(bits: u64) {
            let value = f64::from_bits(bits & !(1 << 63));
            prop_assume!(value.is_finite());
            let (field, fraction) = (value.to_bits() >> 52, value.to_bits() & ((1 << 52) - 1));
            let (lead, exponent) = if field == 0 { (0, -1022) } else { (1, field as i64 - 1023) };
            let text = format!("0x{lead}.{fraction:013x}p{exponent}");
            prop_assert_eq!(parse_number(text.as_bytes()), Some(value));
        }

        #[test]
        fn any_bytes(text: Vec<u8>) {
            let (_, length) = strtod(&text);
            prop_assert!(length <= text.len() && strtol(&text).1 <= text.len());
        }
    }
}
