//! C's `%g`, which Rust lacks.

/// `value` in printf's `%.{precision}g`: `precision` significant digits, with an exponent of at
/// least two digits below -4 or from `precision` on, without trailing zeros (C17, 7.21.6.1).
pub(crate) fn g(value: f64, precision: usize) -> String {
    let sign = if value.is_sign_negative() { "-" } else { "" };
    if value.is_nan() {
        return format!("{sign}nan");
    }
    if value.is_infinite() {
        return format!("{sign}inf");
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
    use super::g;

    #[test]
    fn equals_printf() {
        let rows: Vec<(f64, String, String)> =
            serde_json::from_str(include_str!("../tests/fixtures/c-format.json")).unwrap();
        assert!(rows.len() > 800);
        for (value, short, wide) in rows {
            assert_eq!(g(value, 6), short, "%g of {value:e}");
            assert_eq!(format!("{:>13}", g(value, 8)), wide, "%13.8g of {value:e}");
        }
    }

    #[test]
    fn what_is_no_number() {
        let texts = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -f64::NAN].map(|value| g(value, 8));
        assert_eq!(texts, ["inf", "-inf", "nan", "-nan"]);
    }
}
