//! Where a number becomes words.

/// A number with so many decimals; in exponent form beyond what a sentence can hold. What rounds to zero has no sign.
#[must_use]
pub fn fixed(value: f64, decimals: usize) -> String {
    let shown = if value.abs() >= 1e15 { format!("{value:.3e}") } else { format!("{value:.decimals$}") };
    match shown.strip_prefix('-') {
        Some(size) if is_zero(size) => size.to_owned(),
        _ => shown,
    }
}

/// A number in words, with `+` before it where the words are above zero.
#[must_use]
pub fn signed(shown: String) -> String {
    let is_positive = shown.starts_with(|first: char| first.is_ascii_digit()) && !is_zero(&shown);
    if is_positive { format!("+{shown}") } else { shown }
}

fn is_zero(shown: &str) -> bool {
    shown.bytes().all(|digit| matches!(digit, b'0' | b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rounds_to_zero_has_no_sign() {
        let shown = [-0.04, -0.0, 0.0, 0.04, -0.06, 0.06, -2e15, f64::NEG_INFINITY].map(|value| {
            let shown = fixed(value, 1);
            (signed(shown.clone()), shown)
        });
        let words = |signed: &str, shown: &str| (signed.to_owned(), shown.to_owned());
        let zero = || words("0.0", "0.0");
        let [below, above] = [words("-0.1", "-0.1"), words("+0.1", "0.1")];
        let vast = words("-2.000e15", "-2.000e15");
        assert_eq!(shown, [zero(), zero(), zero(), zero(), below, above, vast, words("-inf", "-inf")]);
        assert_eq!(["-", "NaN", "0", "10"].map(|shown| signed(shown.to_owned())), ["-", "NaN", "0", "+10"]);
    }
}
