//! A bound as a person writes it: `throughput < -2%`.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};
use study::metric::Metric;

use super::{Bound, BoundUnit};
use crate::resolve_metric;

// The units of each unit of the vocabulary of metrics; the first word is the one that is shown.
const UNITS: &[(&str, &[BoundUnit])] = &[
    ("ns", &[("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("μs", 1e3), ("ms", 1e6), ("s", 1e9)]),
    ("Mbit/s", &[("Mbit/s", 1.0), ("bit/s", 1e-6), ("kbit/s", 1e-3), ("Gbit/s", 1e3)]),
    ("1/s", &[("/s", 1.0), ("1/s", 1.0)]),
    // `%` is always a share of the baseline.
    ("%", &[("points", 1.0)]),
    ("bytes", &[("bytes", 1.0)]),
    ("1", &[("", 1.0)]),
];

// Longer texts are refused before they are read: no metric and number need as much.
const LONGEST: usize = 200;

const EXAMPLE: &str = "write a bound as throughput < -2%";

fn absolute(metric: Metric) -> String {
    let words: Vec<&str> = units_of(metric).iter().map(|(word, _)| *word).collect();
    match words.as_slice() {
        [] | [""] => "a plain number".to_owned(),
        words => format!("a difference in {}", words.join(", ")),
    }
}

fn units_of(metric: Metric) -> &'static [BoundUnit] {
    UNITS.iter().find(|(unit, _)| *unit == metric.unit).map_or(&[], |(_, units)| units)
}

impl Bound {
    /// The limit as people read it: `-2%`, `+20us`.
    pub fn limit_in_words(&self) -> String {
        let sign = if self.value > 0.0 { "+" } else { "" };
        format!("{sign}{}{}", self.value, self.unit.map_or("%", |(word, _)| word))
    }

    /// Reads the part of a bound after the metric's name: `< -2%`.
    ///
    /// # Errors
    /// The reason why it is no bound, and the remedy.
    pub(crate) fn of_metric(metric: Metric, rest: &str) -> Result<Self, String> {
        // A file of acknowledgements has this part of a bound alone.
        if rest.len() > LONGEST {
            return Err(too_long());
        }
        let rest = rest.trim();
        let Some(limit) = rest.strip_prefix(['<', '>']) else { return Err(no_sign(rest)) };
        if limit.contains(['<', '>', '=']) {
            return Err(format!("{rest:?} has another comparison than < or >: {EXAMPLE}"));
        }
        let limit = limit.trim();
        let is_of_number = |letter: char| letter.is_ascii_digit() || matches!(letter, '.' | '+' | '-');
        let (number, unit) =
            limit.split_at(limit.find(|letter| !is_of_number(letter)).unwrap_or(limit.len()));
        let Ok(value) = number.parse::<f64>() else {
            return Err(format!(
                "{limit:?} is no limit: write a number with its unit, such as -2% of the baseline"
            ));
        };
        // No text of this length is beyond the largest number. -0 is written as 0.
        let value = value + 0.0;
        let unit = match unit.trim() {
            "%" if value <= -100.0 => {
                return Err(format!(
                    "no metric can fall by {}% or more of its baseline: write a limit above -100%",
                    -value
                ));
            }
            "%" => None,
            unit => match units_of(metric).iter().find(|(word, _)| *word == unit) {
                Some(known) => Some(*known),
                None if unit.is_empty() => {
                    return Err(format!(
                        "the limit {number} of {} has no unit: write {number}% of the baseline, or {}",
                        metric.key,
                        absolute(metric)
                    ));
                }
                None => {
                    return Err(format!(
                        "{} has no unit {unit:?}: write % of the baseline, or {}",
                        metric.key,
                        absolute(metric)
                    ));
                }
            },
        };
        let bound = Self { metric, fails_above: rest.starts_with('>'), value, unit };
        if bound.is_broken_by((0.0, 0.0)) {
            let other = Bound { value: -value, ..bound }.limit_in_words();
            return Err(format!(
                "{bound} fails a study that does not differ from its baseline: write {other}, which allows as much"
            ));
        }
        Ok(bound)
    }
}

fn too_long() -> String {
    format!("a bound has at most {LONGEST} bytes, such as throughput < -2%")
}

fn no_sign(text: &str) -> String {
    format!("{text:?} has no < or >: {EXAMPLE}")
}

impl FromStr for Bound {
    // The reason why a text is no bound, and the remedy.
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.len() > LONGEST {
            return Err(too_long());
        }
        let Some(sign) = text.find(['<', '>']) else { return Err(no_sign(text)) };
        let metric = resolve_metric(text[..sign].trim()).map_err(|unknown| unknown.to_string())?;
        Self::of_metric(metric, &text[sign..])
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.fails_above { '>' } else { '<' };
        write!(f, "{} {sign} {}", self.metric.key, self.limit_in_words())
    }
}

impl Serialize for Bound {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use study::metric::METRICS;

    use super::*;

    fn read(text: &str) -> Bound {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn bounds_are_shares_of_the_baseline_or_differences() {
        for (text, key, fails_above, limit, shown) in [
            ("throughput < -2%", "throughput", false, (-2.0, true), "throughput < -2%"),
            (
                "instructions_packet>+0.5 %",
                "instructions_packet",
                true,
                (0.5, true),
                "instructions_packet > +0.5%",
            ),
            ("latency_p99 > +20us", "latency_p99", true, (20_000.0, false), "latency_p99 > +20us"),
            ("latency_p99 > 1.5 ms", "latency_p99", true, (1.5e6, false), "latency_p99 > +1.5ms"),
            ("throughput < -1 Gbit/s", "throughput", false, (-1000.0, false), "throughput < -1Gbit/s"),
            ("cpu > 3 points", "transmitter.cpu", true, (3.0, false), "transmitter.cpu > +3points"),
            ("transactions < -100/s", "transactions", false, (-100.0, false), "transactions < -100/s"),
            ("receiver.drops > 0", "receiver.drops", true, (0.0, false), "receiver.drops > 0"),
            ("throughput < -0%", "throughput", false, (0.0, true), "throughput < 0%"),
        ] {
            let bound = read(text);
            assert_eq!((bound.metric.key, bound.fails_above), (key, fails_above), "{text}");
            assert_eq!((bound.number(), bound.is_percent()), limit, "{text}");
            assert_eq!(bound.to_string(), shown);
        }
    }

    #[test]
    fn what_is_no_bound_is_refused_with_the_way_out() {
        for (text, words) in [
            ("", "has no < or >"),
            ("throughput -2%", "has no < or >"),
            ("throughput <= -2%", "another comparison"),
            ("throughput < > -2%", "another comparison"),
            ("troughput < -2%", "did you mean throughput?"),
            ("throughput < ", "write a number"),
            ("throughput < %", "write a number"),
            ("throughput < --2%", "write a number"),
            ("throughput < 1.2.3%", "write a number"),
            ("throughput < -inf%", "write a number"),
            ("throughput < -2", "write -2% of the baseline, or a difference in Mbit/s"),
            ("throughput < -2us", "has no unit \"us\""),
            ("receiver.drops > 3 packets", "or a plain number"),
            ("cpu > 2e1%", "has no unit"),
            ("throughput < -100%", "-100%"),
            ("throughput < \u{1b}[2J", "\\u{1b}"),
            (
                "throughput < 2%",
                "throughput < +2% fails a study that does not differ from its baseline: write -2%",
            ),
            ("throughput < 100Mbit/s", "write -100Mbit/s"),
            ("latency_p99 > -20us", "write +20us"),
            ("loss > -1points", "write +1points"),
            ("receiver.drops > -0.5", "write +0.5"),
        ] {
            let said = text.parse::<Bound>().unwrap_err();
            assert!(said.contains(words), "{text:?}: {said}");
        }
        let long = format!("throughput < -{}%", "9".repeat(LONGEST));
        let refused = [long.parse(), Bound::of_metric(read("throughput < 0%").metric, &long)];
        assert_eq!(refused, [(); 2].map(|()| Err(too_long())));
    }

    #[test]
    fn every_metric_has_units_and_the_first_is_its_own() {
        for metric in METRICS {
            let units = units_of(*metric);
            assert!(units.first().is_some_and(|(_, factor)| *factor == 1.0), "{}: {units:?}", metric.key);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused_and_what_is_read_reads_back(text in "\\PC{0,40}") {
            if let Ok(bound) = text.parse::<Bound>() {
                prop_assert_eq!(bound.to_string().parse(), Ok(bound));
            }
        }

        #[test]
        fn every_bound_reads_back_as_it_is_shown(
            metric in prop::sample::select(METRICS),
            sign in prop::sample::select(vec!["<", ">", " < ", "\t> "]),
            size in 0_i32..99_999,
            unit in 0_usize..8,
        ) {
            let units = units_of(metric);
            let unit = if unit < units.len() { units[unit].0 } else { "%" };
            let minus = if sign.contains('<') { "-" } else { "" };
            let text = format!("{}{sign}{minus}{}{unit}", metric.key, f64::from(size) / 1000.0);
            let bound: Bound = text.parse().unwrap();
            prop_assert_eq!(bound.metric.key, metric.key);
            prop_assert_eq!(bound.to_string().parse(), Ok(bound));
        }
    }
}
