//! A gain in words, always with its base: +148 % over one end is -60 % from the other.

use stats::effects::Estimated;

use crate::words::number::{figure, percent, plain, range};

/// A change with its base: `+147.7 % over off`, `-59.6 % from on`; in the metric's unit if there is
/// no percentage.
pub(super) fn gain(change: &Estimated, unit: &str, base: &str) -> String {
    match share(change, unit).as_str() {
        "0" => format!("no change against {base}"),
        more if more.starts_with('+') => format!("{more} over {base}"),
        less => format!("{less} from {base}"),
    }
}

/// The change where its base is said elsewhere: `+147.7 %`, `-1.2 ns`; a change that is shown as
/// zero has no sign and no unit.
pub(super) fn share(change: &Estimated, unit: &str) -> String {
    let (size, shown) = match change.relative {
        Some(relative) => (relative, format!("{} %", percent(relative.abs()))),
        None => {
            (change.value, format!("{} {}", figure(change.value.abs()), plain(unit)).trim_end().to_owned())
        }
    };
    match shown.bytes().any(|digit| (b'1'..=b'9').contains(&digit)) {
        false => "0".to_owned(),
        true if size > 0.0 => format!("+{shown}"),
        true => format!("-{shown}"),
    }
}

/// Its interval in the same unit, with its level: `95 % interval 140 to 156 %`; `None` for too few
/// boots.
pub(super) fn interval(change: &Estimated, unit: &str, confidence: f64) -> Option<String> {
    let confidence = stats::confidence(confidence);
    match (change.relative, change.relative_interval, change.interval) {
        (Some(_), Some(relative), _) => {
            Some(format!("{confidence} % interval {} %", range(Some(relative), percent)))
        }
        (None, _, Some(absolute)) => Some(
            format!("{confidence} % interval {} {}", range(Some(absolute), figure), plain(unit))
                .trim_end()
                .to_owned(),
        ),
        _ => None,
    }
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
        let words = |relative: f64, base| gain(&change(relative, Some(relative)), "Mbit/s", base);
        assert_eq!(words(148.0, "off"), "+148.0 % over off");
        assert_eq!(words(-59.68, "on"), "-59.7 % from on");
        assert_eq!(words(-0.05, "the step before"), "-0.050 % from the step before");
        assert_eq!(words(0.0, "off"), "no change against off");
        assert_eq!(words(-0.000_01, "off"), "-1.0e-5 % from off");
        assert_eq!(words(12.0, "the mean of all states"), "+12.0 % over the mean of all states");
    }

    #[test]
    fn without_a_percentage_the_unit_is_named() {
        assert_eq!(gain(&change(12.0, None), "ns", "off"), "+12.00 ns over off");
        assert_eq!(gain(&change(-12.0, None), "", "on"), "-12.00 from on");
        assert_eq!(interval(&change(-12.0, None), "ns", 0.95).unwrap(), "95 % interval -13.0 to -11.0 ns");
    }

    #[test]
    fn intervals_are_of_what_is_shown() {
        let shown = change(10.0, Some(40.0));
        assert_eq!(interval(&shown, "ns", 0.9).unwrap(), "90 % interval 37.5 to 42.5 %");
        let few = Estimated { interval: None, relative_interval: None, ..shown };
        assert_eq!(interval(&few, "ns", 0.9), None);
    }
}
