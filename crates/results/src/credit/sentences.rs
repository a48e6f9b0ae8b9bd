//! Credit in sentences. A gain always has its base: +148 % over one end is -60 % from the other.

use stats::effects::Estimated;
use stats::signed;

use super::Credit;
use super::parts::{CombinedGain, CreditPart, SwitchingOrders};
use crate::words::number::{figure, percent, range, with_unit};
use crate::words::phrases::{in_brackets, listed, metric_words};

impl Credit {
    pub(super) fn sentences(&self) -> Vec<String> {
        let metric = metric_words(&self.metric.into());
        let mut sentences = Vec::new();
        if let Some(limit) = &self.saturated {
            sentences.push(format!(
                "{metric}: saturated, all on and all off both ran at the limit of {limit}, which hides what the offloads gain; the answer is in the CPU per unit of work"
            ));
            return sentences;
        }
        if let Some(why) = &self.whole_is_not_known {
            sentences.push(format!("{metric}: the whole gain, all on less all off, is not known: {why}"));
        }
        if let Some(whole) = &self.whole {
            let interval = interval_words(&whole.gain, self.unit, self.level).filter(|_| !self.exact);
            let interval = in_brackets(interval.as_deref());
            let there = gain_words(&whole.gain, self.unit, "off");
            sentences.push(if self.is_proven(&whole.gain) {
                let back = gain_words(&whole.loss, self.unit, "on");
                format!("{metric}: all on is {there}{interval}; all off is {back}{}", self.of_whole(whole))
            } else {
                format!("{metric}: no difference between all on and all off is proven, {there}{interval}")
            });
        }
        // Shares of a whole are in its sentence.
        let has_gain = self.whole.as_ref().is_some_and(|whole| self.is_proven(&whole.gain));
        let is_said = self.base() == Some("off") && self.adds_up && has_gain;
        let parts = self.parts.iter().filter(|part| !self.saturated_parts.contains(&part.name));
        let (proven, open): (Vec<&CreditPart>, Vec<&CreditPart>) =
            parts.partition(|part| self.is_proven(&part.change));
        if !is_said && !proven.is_empty() {
            let gain = |part: &&CreditPart| {
                format!("{} {}", part.name, gain_words(&part.change, self.unit, part.base))
            };
            sentences.push(format!("{metric}: {}", listed(&proven.iter().map(gain).collect::<Vec<_>>())));
        }
        if !open.is_empty() {
            let open: Vec<&str> = open.iter().map(|part| part.name.as_str()).collect();
            sentences.push(format!("{metric}: no difference is proven for {}", listed(&open)));
        }
        if !self.saturated_parts.is_empty() {
            sentences.push(format!(
                "{metric}: saturated for {}: both conditions ran at the same limit from outside, so look at the CPU per unit of work",
                listed(&self.saturated_parts)
            ));
        }
        sentences
    }

    /// Where the parts add up: `; of this tso 61.2 %, gro 38.8 %`.
    fn of_whole(&self, whole: &CombinedGain) -> String {
        // A ladder's steps go down, from on to off.
        let total: f64 = self.parts.iter().map(|part| part.change.value).sum();
        if !self.adds_up || self.parts.len() < 2 || whole.gain.value == 0.0 || total == 0.0 {
            return String::new();
        }
        let of_total = |part: &CreditPart| 100.0 * part.change.value / total;
        // Parts of opposite signs are no shares, though they add up.
        let are_shares = self.parts.iter().all(|part| (0.0..=100.0).contains(&of_total(part)));
        let size = |part: &CreditPart| match are_shares {
            true => format!("{} %", percent(of_total(part))),
            false => with_unit(figure(part.change.value), self.unit),
        };
        let share = |part: &CreditPart| {
            let open = if self.is_proven(&part.change) { "" } else { " (not proven)" };
            format!("{} {}{open}", part.name, size(part))
        };
        let orders = self.orders.as_ref().and_then(SwitchingOrders::lacking);
        let orders = orders.map_or(String::new(), |orders| format!("(from {orders}) "));
        format!("; of this {orders}{}", listed(&self.parts.iter().map(share).collect::<Vec<_>>()))
    }

    /// The base of the percentages of its parts.
    pub fn base(&self) -> Option<&'static str> {
        self.parts.first().map(|part| part.base)
    }
}

/// A change with its base: `+147.7 % over off`; without a percentage, in the metric's unit.
pub fn gain_words(change: &Estimated, unit: &str, base: &str) -> String {
    match change_words(change, unit).as_str() {
        "0" => format!("no change against {base}"),
        more if more.starts_with('+') => format!("{more} over {base}"),
        less => format!("{less} from {base}"),
    }
}

/// A change without its base, `+147.7 %`, `-1.2 ns`; zero has no sign and no unit.
pub fn change_words(change: &Estimated, unit: &str) -> String {
    let (size, shown) = match change.relative {
        Some(relative) => (relative, format!("{} %", percent(relative.abs()))),
        None => (change.value, with_unit(figure(change.value.abs()), unit)),
    };
    match shown.bytes().any(|digit| (b'1'..=b'9').contains(&digit)) {
        false => "0".to_owned(),
        true if size > 0.0 => format!("+{shown}"),
        true => format!("-{shown}"),
    }
}

/// `95 % interval +140 to +156 %`; `None` for too few boots.
fn interval_words(change: &Estimated, unit: &str, confidence: f64) -> Option<String> {
    let ends = match (change.relative, change.relative_interval, change.interval) {
        (Some(_), Some(relative), _) => format!("{} %", range(Some(relative), |end| signed(percent(end)))),
        (None, _, Some(absolute)) => with_unit(range(Some(absolute), |end| signed(figure(end))), unit),
        _ => return None,
    };
    Some(format!("{} % interval {ends}", stats::confidence(confidence)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(value: f64, relative: Option<f64>) -> Estimated {
        Estimated {
            value,
            interval: Some((value - 1.0, value + 1.0)),
            standard_error: Some(0.5),
            df: 4.0,
            p: Some(0.01),
            relative,
            relative_interval: relative.map(|relative| (relative - 2.5, relative + 2.5)),
        }
    }

    #[test]
    fn every_gain_names_its_base() {
        let words = |relative: f64, base| gain_words(&change(relative, Some(relative)), "Mbit/s", base);
        assert_eq!(words(148.0, "off"), "+148.0 % over off");
        assert_eq!(words(-59.68, "on"), "-59.7 % from on");
        assert_eq!(words(-0.05, "the step before"), "-0.050 % from the step before");
        assert_eq!(words(0.0, "off"), "no change against off");
        assert_eq!(words(-0.000_01, "off"), "-1.0e-5 % from off");
        assert_eq!(words(12.0, "the mean of all states"), "+12.0 % over the mean of all states");
    }

    #[test]
    fn without_a_percentage_the_unit_is_named() {
        assert_eq!(gain_words(&change(12.0, None), "ns", "off"), "+12.00 ns over off");
        assert_eq!(gain_words(&change(-12.0, None), "", "on"), "-12.00 from on");
        assert_eq!(
            interval_words(&change(-12.0, None), "ns", 0.95).unwrap(),
            "95 % interval -13.0 to -11.0 ns"
        );
    }

    #[test]
    fn intervals_are_of_what_is_shown() {
        let shown = change(10.0, Some(40.0));
        assert_eq!(interval_words(&shown, "ns", 0.9).unwrap(), "90 % interval +37.5 to +42.5 %");
        let few = Estimated { interval: None, relative_interval: None, ..shown };
        assert_eq!(interval_words(&few, "ns", 0.9), None);
    }
}
