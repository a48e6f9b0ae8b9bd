//! Verdicts in words, which are chosen only here.

use crate::compare::{Comparison, Ratio, Verdict};
use crate::question::Margin;
use crate::wording::{ShownFigures, UNBOUNDED, confidence, decimals, fixed, signed};

impl Comparison {
    /// The verdict in a sentence, without a full stop: "ipv6 offloads=none is 33.3 % lower (95 %
    /// interval 31.0 to 35.6, 3 boots)". `label` names the condition; `unit` is the metric's, used
    /// without a percentage; `quality` is the meaning of a proven difference, such as "slower",
    /// where it is known.
    pub fn sentence(&self, label: &str, unit: &str, quality: Option<&str>) -> String {
        let quality = quality.map_or_else(String::new, |word| format!("{word}; "));
        if let Some(resolution) = self.resolution {
            if let Some(gap) = self.gap {
                return format!("{label}: {}, {}", self.verdict, gap.as_str());
            }
            return self.counted(label, unit, &quality, resolution);
        }
        if let Some(ratio) = self.ratio.filter(|_| !matches!(self.margin, Some(Margin::Absolute(_)))) {
            return self.times(label, &quality, ratio);
        }
        if self.is_equal() && self.verdict != Verdict::Equivalent {
            return format!("{label}: equal as far as the numbers tell ({} boots)", self.boots);
        }
        let shown = ShownFigures::from_comparison(self, unit);
        let Some((low, high)) = shown.interval else {
            let value = if self.boots == 0 { String::new() } else { format!(" ({})", shown.signed(1)) };
            let why = self.gap.map_or("there is no interval", |gap| gap.as_str());
            return format!("{label}: {}, {why}{value}", self.verdict);
        };
        let decimals = decimals((high - low) / 2.0, shown.value);
        let figures = |from: f64, to: f64| {
            let range =
                format!("{} to {}{}", fixed(from, decimals), fixed(to, decimals), shown.unit_of_range());
            let (level, measured) = (confidence(self.level), shown.as_measured(decimals));
            format!("{level} % interval {range}, {} boots{measured}{}", self.boots, shown.remark)
        };
        let signed = || format!("{}, {}", shown.signed(decimals), figures(low, high));
        let (size, unit) = (fixed(shown.value.abs(), decimals), &shown.unit);
        match self.verdict {
            Verdict::Higher => format!("{label} is {size}{unit} higher ({quality}{})", figures(low, high)),
            Verdict::Lower => {
                format!("{label} is {size}{unit} lower ({quality}{})", figures(-high, -low))
            }
            Verdict::Equivalent => {
                format!(
                    "{label}: equivalent within {}{} ({})",
                    self.margin_words(unit),
                    self.though(),
                    signed()
                )
            }
            Verdict::Inconclusive => format!(
                "{label}: inconclusive, neither a difference nor equivalence within {} is shown ({}){}",
                self.margin_words(unit),
                signed(),
                shown.could_have_been_seen(self.boots)
            ),
            Verdict::NoDifferenceProven => {
                format!("{label}: {} ({}){}", self.verdict, signed(), shown.could_have_been_seen(self.boots))
            }
        }
    }

    /// The verdict on counts without noise.
    fn counted(&self, label: &str, unit: &str, quality: &str, resolution: f64) -> String {
        let size = match (self.relative, self.difference.abs()) {
            (Some(share), _) => format!("{} % ", fixed(share.abs(), 3)),
            (None, size) => {
                let size = if size < 1e15 { format!("{size}") } else { fixed(size, 0) };
                format!("{} ", format!("{size} {unit}").trim_end())
            }
        };
        match self.verdict {
            Verdict::Higher | Verdict::Lower => {
                format!("{label} is {size}{} ({quality}counts are the same to {resolution} %)", self.verdict)
            }
            _ => {
                let share = signed(fixed(self.relative.unwrap_or(0.0), 3));
                format!("{label}: equivalent, {share} % is within the resolution of counts ({resolution} %)")
            }
        }
    }

    /// The verdict of a condition with a ratio to the baseline instead of a percentage.
    fn times(&self, label: &str, quality: &str, Ratio { value, interval: (low, high) }: Ratio) -> String {
        let decimals = decimals((high - low) / 2.0, value);
        let value = format!("{} times the baseline", fixed(value, decimals));
        let (low, high) = (fixed(low, decimals), fixed(high, decimals));
        let interval = format!("{} % interval {low} to {high}", confidence(self.level));
        let boots = match self.boots {
            1 => "1 boot".to_owned(),
            boots => format!("{boots} boots"),
        };
        let figures = format!("{interval}, {boots}; on the log scale: {UNBOUNDED}");
        match self.verdict {
            Verdict::Higher | Verdict::Lower => format!("{label} is {value} ({quality}{figures})"),
            Verdict::NoDifferenceProven => format!("{label}: {} ({value}, {figures})", self.verdict),
            Verdict::Equivalent | Verdict::Inconclusive => format!(
                "{label}: inconclusive, neither a difference nor equivalence within {} is shown ({value}, {figures})",
                self.margin_words("")
            ),
        }
    }

    fn margin_words(&self, unit: &str) -> String {
        match self.margin {
            Some(Margin::Percent(margin)) => format!("{margin} %"),
            Some(Margin::Absolute(margin)) => format!("{margin}{unit}"),
            None => String::new(),
        }
    }

    /// The note on a proven difference within the margin.
    fn though(&self) -> &'static str {
        match self.interval {
            Some((low, _)) if low > 0.0 => ", though proven higher",
            Some((_, high)) if high < 0.0 => ", though proven lower",
            _ => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::Gap;

    fn comparison(verdict: Verdict) -> Comparison {
        Comparison {
            condition: 1,
            baseline: 0,
            level: 0.95,
            mean: 66.7,
            baseline_mean: 100.0,
            difference: -33.3,
            standard_error: Some(0.5),
            interval: Some((-35.6, -31.0)),
            relative: Some(-33.312),
            relative_interval: Some((-35.6, -31.04)),
            boots: 3,
            df: 2.0,
            p: Some(1e-4),
            detectable: Some(4.2),
            detectable_interval: Some((2.2, 26.0)),
            detectable_relative: Some(4.2),
            detectable_relative_interval: Some((2.19, 26.4)),
            verdict,
            ..Comparison::default()
        }
    }

    #[test]
    fn lower_and_higher() {
        let lower = comparison(Verdict::Lower);
        assert_eq!(
            lower.sentence("ipv6 offloads=none", "Mbit/s", None),
            "ipv6 offloads=none is 33.3 % lower (95 % interval 31.0 to 35.6, 3 boots)"
        );
        let higher = Comparison {
            relative: Some(0.5123),
            relative_interval: Some((0.4987, 0.5261)),
            level: 0.995,
            ..comparison(Verdict::Higher)
        };
        assert_eq!(
            higher.sentence("mtu=9000", "1/s", Some("faster")),
            "mtu=9000 is 0.512 % higher (faster; 99.5 % interval 0.499 to 0.526, 3 boots)"
        );
    }

    #[test]
    fn what_was_measured_is_named_beside_what_is_stated() {
        let lower = Comparison {
            unadjusted: Some(-34.0),
            unadjusted_relative: Some(-34.02),
            ..comparison(Verdict::Lower)
        };
        assert_eq!(
            lower.sentence("ipv6", "1/s", None),
            "ipv6 is 33.3 % lower (95 % interval 31.0 to 35.6, 3 boots; corrected for the looks, 34.0 % as measured)"
        );
        let same = Comparison { unadjusted_relative: Some(-33.33), ..lower };
        let said = same.sentence("ipv6", "1/s", None);
        assert!(!said.contains("measured"), "{said}");
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
            comparison.sentence("checksum=off", "ns", None),
            "checksum=off is 1.23 ns higher (95 % interval 1.10 to 1.37 ns, 3 boots; no percentage: boots spread so much \
             that, with the error of this comparison, zero is within the baseline's interval)"
        );
        let of_zero = Comparison { baseline_mean: 0.0, ..comparison };
        let said = of_zero.sentence("checksum=off", "ns", None);
        assert!(said.ends_with("3 boots; no percentage: the baseline is zero)"), "{said}");
    }

    #[test]
    fn nothing_proven_says_what_could_have_been() {
        let close = Comparison {
            relative: Some(-0.04),
            relative_interval: Some((-6.3, 5.9)),
            detectable_relative: Some(2.07),
            detectable_relative_interval: Some((1.08, 13.02)),
            ..comparison(Verdict::NoDifferenceProven)
        };
        let ends_at_zero = Comparison { relative_interval: Some((-6.3, -0.04)), ..close.clone() };
        let said = ends_at_zero.sentence("ipv6", "1/s", None);
        assert!(said.contains("95 % interval -6.3 to 0.0, 3 boots"), "{said}");
        let unknown = Comparison { detectable: None, detectable_relative: None, ..close.clone() };
        assert_eq!(
            [close, unknown].map(|one| one.sentence("ipv6", "1/s", None)),
            [
                "ipv6: no difference proven (0.0 %, 95 % interval -6.3 to 5.9, 3 boots); a difference of 2.1 % would have been \
                 seen with 80 % power (1.1 to 13 %, as far as 3 boots tell the spread)",
                "ipv6: no difference proven (0.0 %, 95 % interval -6.3 to 5.9, 3 boots)",
            ]
        );
    }

    #[test]
    fn equivalence_names_its_margin() {
        let within = Comparison {
            difference: 0.31,
            interval: Some((-0.4, 1.0)),
            relative: Some(0.31),
            relative_interval: Some((-0.4, 1.0)),
            boots: 5,
            margin: Some(Margin::Percent(2.0)),
            ..comparison(Verdict::Equivalent)
        };
        let proven = Comparison {
            interval: Some((0.1, 0.5)),
            relative_interval: Some((0.11, 0.51)),
            ..within.clone()
        };
        let absolute = Comparison { margin: Some(Margin::Absolute(1.5)), ..within.clone() };
        let neither = Comparison { verdict: Verdict::Inconclusive, ..within.clone() };
        assert_eq!(
            [within, proven, absolute, neither].map(|one| one.sentence("ipv6", "ns", None)),
            [
                "ipv6: equivalent within 2 % (+0.31 %, 95 % interval -0.40 to 1.00, 5 boots)",
                "ipv6: equivalent within 2 %, though proven higher (+0.31 %, 95 % interval 0.11 to 0.51, 5 boots)",
                "ipv6: equivalent within 1.5 ns (+0.31 ns, 95 % interval -0.40 to 1.00 ns, 5 boots)",
                "ipv6: inconclusive, neither a difference nor equivalence within 2 % is shown (+0.31 %, 95 % interval -0.40 to \
                 1.00, 5 boots); a difference of 4.2 % would have been seen with 80 % power (2.2 to 26 %, as far as 5 boots tell \
                 the spread)",
            ]
        );
    }

    #[test]
    fn too_few_boots() {
        let one = Comparison {
            interval: None,
            relative_interval: None,
            boots: 1,
            df: 0.0,
            gap: Some(Gap::OneBootInCommon),
            ..comparison(Verdict::Inconclusive)
        };
        let none = Comparison { boots: 0, relative: None, gap: Some(Gap::NoError), ..one.clone() };
        assert_eq!(
            [one, none].map(|one| one.sentence("ipv6", "1/s", None)),
            [
                "ipv6: inconclusive, only 1 boot measured both it and the baseline, an interval needs 2 or more (-33.3 %)",
                "ipv6: inconclusive, too few boots measured several conditions to estimate the error",
            ]
        );
    }

    #[test]
    fn sizes_near_the_ends_of_numbers_are_numbers() {
        let absolute = |difference: f64, half: f64| {
            let interval = Some((difference - half, difference + half));
            let one = Comparison {
                difference,
                interval,
                relative: None,
                relative_interval: None,
                level: 1.0 - 1e-9,
                ..comparison(Verdict::Lower)
            };
            one.sentence("a", "s", None)
        };
        let small = absolute(-3.21e-12, 4.5e-13);
        assert!(
            small.starts_with("a is 3.21e-12 s lower (99.9999999 % interval 2.76e-12 to 3.66e-12 s, 3 boots"),
            "{small}"
        );
        let large = absolute(-1e308, 1e306);
        assert!(
            large.starts_with("a is 1.000e308 s lower (99.9999999 % interval 9.900e307 to 1.010e308 s"),
            "{large}"
        );
    }
}
