//! What a comparison comes to, in words. This is the only place that chooses them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::comparison::Comparison;

/// What a comparison comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The whole interval of the difference lies above zero.
    Higher,
    /// The whole interval lies below zero.
    Lower,
    /// The interval holds zero: there may be a difference, but these data do not show it.
    NoDifferenceProven,
    /// Fewer than two boots measured both conditions, so there is no interval.
    Inconclusive,
}

impl Verdict {
    /// The verdict that an interval of the difference gives.
    pub(crate) fn of(interval: Option<(f64, f64)>) -> Verdict {
        match interval {
            None => Verdict::Inconclusive,
            Some((low, _)) if low > 0.0 => Verdict::Higher,
            Some((_, high)) if high < 0.0 => Verdict::Lower,
            Some(_) => Verdict::NoDifferenceProven,
        }
    }

    /// The words.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Higher => "higher",
            Verdict::Lower => "lower",
            Verdict::NoDifferenceProven => "no difference proven",
            Verdict::Inconclusive => "inconclusive",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.as_str())
    }
}

impl Comparison {
    /// The verdict in a sentence, without a full stop: "ipv6 offloads=none is 33.3 % lower (95 % interval 31.0 to 35.6,
    /// 3 boots)". `label` names the condition; `unit` is the metric's, used where there is no percentage.
    pub fn sentence(&self, label: &str, unit: &str) -> String {
        let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
        let (value, interval, unit, remark) = match (self.relative, self.relative_interval) {
            (Some(value), Some(interval)) => (value, Some(interval), " %".to_owned(), ""),
            (Some(value), None) if self.interval.is_none() => (value, None, " %".to_owned(), ""),
            _ => (
                self.difference,
                self.interval,
                unit,
                "; no percentage: the baseline cannot be told from zero",
            ),
        };
        let Some((low, high)) = interval else {
            return format!(
                "{label}: {}, {}{}",
                self.verdict,
                self.why_inconclusive(),
                if self.boots == 0 { String::new() } else { format!(" ({}{unit})", signed(value, 1)) },
            );
        };
        let decimals = decimals((high - low) / 2.0, value);
        let figures = |from: f64, to: f64| {
            let level = percent(self.level);
            let range = format!("{from:.decimals$} to {to:.decimals$}");
            // A unit of % is said by the value itself.
            let unit = if unit == " %" { "" } else { unit.as_str() };
            format!("{level} % interval {range}{unit}, {} boots{remark}", self.boots)
        };
        match self.verdict {
            Verdict::Higher => format!("{label} is {value:.decimals$}{unit} higher ({})", figures(low, high)),
            Verdict::Lower => {
                format!("{label} is {:.decimals$}{unit} lower ({})", -value, figures(-high, -low))
            }
            Verdict::NoDifferenceProven | Verdict::Inconclusive => {
                format!(
                    "{label}: {} ({}{unit}, {})",
                    self.verdict,
                    signed(value, decimals),
                    figures(low, high)
                )
            }
        }
    }

    fn why_inconclusive(&self) -> &'static str {
        match self.boots {
            0 => "no boot measured both it and the baseline",
            _ => "only 1 boot measured both it and the baseline, an interval needs 2 or more",
        }
    }
}

/// Decimals that show two significant digits of the interval's half width: more would be noise. For an interval without
/// width, one for a value from 1, and enough to see a smaller one.
fn decimals(half_width: f64, value: f64) -> usize {
    let shown = if half_width > value.abs() * 1e-9 { half_width } else { value.abs().min(1.0) };
    if shown > 0.0 { (1.0 - shown.log10().floor()).clamp(0.0, 9.0) as usize } else { 1 }
}

/// A number with its sign; zero has none, whatever it was before rounding.
fn signed(value: f64, decimals: usize) -> String {
    let text = format!("{value:+.decimals$}");
    if text.bytes().any(|digit| (b'1'..=b'9').contains(&digit)) { text } else { text[1..].to_owned() }
}

/// 0.95 as "95", 0.995 as "99.5".
fn percent(level: f64) -> String {
    format!("{}", (level * 1e8).round() / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison(verdict: Verdict) -> Comparison {
        Comparison {
            condition: 1,
            baseline: 0,
            level: 0.95,
            mean: 66.7,
            baseline_mean: 100.0,
            difference: -33.3,
            interval: Some((-35.6, -31.0)),
            relative: Some(-33.312),
            relative_interval: Some((-35.6, -31.04)),
            boots: 3,
            boots_left_out: 0,
            df: 2.0,
            verdict,
        }
    }

    #[test]
    fn lower_and_higher() {
        let lower = comparison(Verdict::Lower);
        assert_eq!(
            lower.sentence("ipv6 offloads=none", "10^6 bits/s"),
            "ipv6 offloads=none is 33.3 % lower (95 % interval 31.0 to 35.6, 3 boots)"
        );
        let higher = Comparison {
            relative: Some(0.5123),
            relative_interval: Some((0.4987, 0.5261)),
            level: 0.995,
            ..comparison(Verdict::Higher)
        };
        assert_eq!(
            higher.sentence("mtu=9000", "1/s"),
            "mtu=9000 is 0.512 % higher (99.5 % interval 0.499 to 0.526, 3 boots)"
        );
    }

    #[test]
    fn no_percentage_of_a_baseline_around_zero() {
        let comparison = Comparison {
            difference: 1.2345,
            interval: Some((1.1, 1.369)),
            relative: None,
            relative_interval: None,
            ..comparison(Verdict::Higher)
        };
        assert_eq!(
            comparison.sentence("checksum=off", "ns"),
            "checksum=off is 1.23 ns higher (95 % interval 1.10 to 1.37 ns, 3 boots; no percentage: the baseline cannot \
             be told from zero)"
        );
    }

    #[test]
    fn nothing_proven() {
        let close = Comparison {
            relative: Some(-0.04),
            relative_interval: Some((-6.3, 5.9)),
            ..comparison(Verdict::NoDifferenceProven)
        };
        assert_eq!(
            close.sentence("ipv6", "1/s"),
            "ipv6: no difference proven (0.0 %, 95 % interval -6.3 to 5.9, 3 boots)"
        );
    }

    #[test]
    fn too_few_boots() {
        let one = Comparison {
            interval: None,
            relative_interval: None,
            boots: 1,
            df: 0.0,
            ..comparison(Verdict::Inconclusive)
        };
        assert_eq!(
            one.sentence("ipv6", "1/s"),
            "ipv6: inconclusive, only 1 boot measured both it and the baseline, an interval needs 2 or more (-33.3 %)"
        );
        let none = Comparison { boots: 0, relative: None, ..one };
        assert_eq!(
            none.sentence("ipv6", "1/s"),
            "ipv6: inconclusive, no boot measured both it and the baseline"
        );
    }

    #[test]
    fn an_interval_without_width_shows_its_value() {
        assert_eq!(decimals(0.0, 33.3), 1);
        assert_eq!(decimals(1e-14, 0.0123), 3);
        assert_eq!(decimals(0.0, 0.0), 1);
        assert_eq!(decimals(2300.0, 1e6), 0);
    }
}
