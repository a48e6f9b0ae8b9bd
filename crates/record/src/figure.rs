//! Figures in sentences.

/// The digits of a whole number in groups of three.
pub fn in_thousands(whole: &str) -> String {
    let mut grouped = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) && grouped != "-" {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A count with its noun: `1 run`, `3 runs`, `3 studies`.
pub fn counted(count: usize, noun: &str) -> String {
    match noun.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'o', 'u'])) {
        _ if count == 1 => format!("1 {noun}"),
        Some(stem) => format!("{count} {stem}ies"),
        None => format!("{count} {noun}s"),
    }
}

pub(crate) fn count(number: u64) -> String {
    in_thousands(&number.to_string())
}

pub(crate) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

pub(crate) fn whole_percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

pub(crate) fn bits(rate: f64) -> String {
    match rate {
        rate if rate >= 1e9 => format!("{:.2} Gbit/s", rate / 1e9),
        rate if rate >= 1e6 => format!("{:.1} Mbit/s", rate / 1e6),
        rate => format!("{:.1} kbit/s", rate / 1e3),
    }
}

/// A time, given in ns.
pub(crate) fn milliseconds(ns: u64) -> String {
    format!("{:.0} ms", ns as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_written_to_be_read() {
        assert_eq!(
            ["0", "999", "1,000", "1,204,331"].map(str::to_owned),
            [0, 999, 1000, 1_204_331].map(count)
        );
        assert_eq!((percent(0.4014), whole_percent(0.4014)), ("40.1 %".to_owned(), "40 %".to_owned()));
        assert_eq!([9.41e8, 1.5e10, 8e4].map(bits), ["941.0 Mbit/s", "15.00 Gbit/s", "80.0 kbit/s"]);
        assert_eq!(milliseconds(1_500_000), "2 ms");
    }
}
