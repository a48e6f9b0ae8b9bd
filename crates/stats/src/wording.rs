//! Results in words: numbers and sentences.

use crate::compare::RobustCheck;

const MOST_DECIMALS: usize = 9;

/// A number with this many decimals; in exponent form with the same last digit if it is too long. A
/// result of zero has no sign.
pub fn fixed(value: f64, decimals: usize) -> String {
    let shown = if value.abs() >= 1e15 {
        format!("{value:.3e}")
    } else if decimals > MOST_DECIMALS && value.abs() < 1e-3 {
        let digits = value.abs().log10().floor() as i32 + i32::try_from(decimals).unwrap_or(i32::MAX);
        if value == 0.0 || digits < 0 {
            "0".to_owned()
        } else {
            format!("{value:.*e}", digits.min(16) as usize)
        }
    } else {
        format!("{value:.*}", decimals.min(MOST_DECIMALS))
    };
    match shown.strip_prefix('-') {
        Some(size) if is_zero(size) => size.to_owned(),
        _ => shown,
    }
}

/// A confidence level in %, to two decimals, and to as many as distinguish it from 100 or 0: `95`,
/// `99.17`, `99.9999`.
pub fn confidence(level: f64) -> String {
    let room = 100.0 * level.min(1.0 - level);
    let decimals = if room >= 0.01 { 2 } else { (1.0 - room.log10().floor()).clamp(2.0, 15.0) as usize };
    let shown = format!("{:.decimals$}", 100.0 * level);
    shown.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A number in words, with `+` if it is above zero.
pub fn signed(shown: String) -> String {
    let is_positive = shown.starts_with(|first: char| first.is_ascii_digit()) && !is_zero(&shown);
    if is_positive { format!("+{shown}") } else { shown }
}

fn is_zero(shown: &str) -> bool {
    shown.bytes().all(|digit| matches!(digit, b'0' | b'.'))
}

impl RobustCheck {
    /// The sentence of a check that disagrees with a verdict, without a full stop. `is_proven`: the
    /// verdict is a difference.
    pub fn sentence(&self, is_proven: bool) -> String {
        let size = self.relative.map_or_else(String::new, |share| format!("{} %, ", signed(fixed(share, 1))));
        let p = if self.p < 0.0001 { "p < 0.0001".to_owned() } else { format!("p {:.4}", self.p) };
        let finding = if is_proven {
            format!("no difference is seen ({size}{p}): the verdict rests on single runs")
        } else {
            format!("there is a difference ({size}{p}): single runs hide the difference from the verdict")
        };
        format!("robust check disagrees: by the medians of the boots' runs {finding}")
    }
}

/// The smallest difference that the data could show with 80 % power, in a sentence without a full
/// stop: `least` to `most` of several comparisons, where a `fall` and a `rise` of these sizes are
/// the largest possible ones. Sizes are shown in `unit`, which has a space before it or is empty.
pub fn power_sentence(
    (least, most): (f64, f64),
    (fall, rise): (f64, f64),
    show: impl Fn(f64) -> String,
    unit: &str,
) -> String {
    let what = match (most <= fall, most <= rise) {
        (true, true) => "a difference",
        (false, true) => "a rise",
        (true, false) => "a fall",
        (false, false) => return "no possible difference would have been seen with 80 % power".to_owned(),
    };
    let (least, most) = (show(least), show(most));
    let sizes = if least == most { least } else { format!("{least} to {most}") };
    format!("{what} of {sizes}{unit} would have been seen with 80 % power, if boots spread as measured")
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
        let small = [(1e-12, 13), (-1.234e-12, 14), (0.0, 12), (-1e-14, 13), (0.5, 12), (2e-320, 322)];
        let small = small.map(|(value, decimals)| fixed(value, decimals));
        assert_eq!(small, ["1.0e-12", "-1.23e-12", "0", "0", "0.500000000", "2.00e-320"]);
        assert_eq!(["-", "NaN", "0", "10"].map(|shown| signed(shown.to_owned())), ["-", "NaN", "0", "+10"]);
    }

    #[test]
    fn a_level_never_reads_as_certainty_or_nothing() {
        let levels = [0.95, 0.995, 1.0 - 0.05 / 6.0, 0.9, 0.999_999, 1.0 - 1e-10, 1.0 - f64::EPSILON, 1e-7];
        let shown = levels.map(confidence);
        let expected =
            ["95", "99.5", "99.17", "90", "99.9999", "99.99999999", "99.999999999999972", "0.00001"];
        assert_eq!(shown, expected);
    }
}
