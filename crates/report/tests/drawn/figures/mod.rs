//! Figures of made-up studies.

mod bars;
pub(crate) mod curves;
pub(crate) mod effects;
mod paths;
pub(crate) mod runs;

use netassay_report::chart::{Figure, Interval, Quantity};

/// A figure of each kind.
pub(crate) fn every_kind() -> Vec<Figure> {
    vec![
        runs::dots(),
        runs::many_dots(),
        bars::throughput(),
        bars::cpu(),
        effects::forest(),
        bars::credit(),
        curves::strip(),
        curves::histogram(),
        curves::load(),
        paths::lanes(),
        paths::flame(),
        runs::history(),
    ]
}

pub(crate) fn about(estimate: f64, half: f64) -> Interval {
    Interval::new(estimate, Some((estimate - half, estimate + half)))
}

/// Four significant digits.
pub(crate) fn digits(value: f64) -> String {
    let exponent = value.abs().max(1e-9).log10().floor() as i32;
    let decimals = usize::try_from(3 - exponent).unwrap_or(0).min(6);
    let shown = format!("{value:.decimals$}");
    if shown.contains('.') { shown.trim_end_matches('0').trim_end_matches('.').to_owned() } else { shown }
}

fn one_decimal(value: f64) -> String {
    format!("{value:.1}")
}

fn time(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{} ns", digits(ns)),
        ns if ns < 1e6 => format!("{} µs", digits(ns / 1e3)),
        ns => format!("{} ms", digits(ns / 1e6)),
    }
}

/// Noise between -1 and 1, the same one every time.
pub(crate) struct Noise(pub u64);

impl Noise {
    pub(crate) fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as f64 / f64::from(1_u32 << 30) - 1.0
    }

    /// About normal.
    fn bell(&mut self) -> f64 {
        (0..4).map(|_| self.next()).sum::<f64>() / 1.155
    }
}

fn throughput_in_mbit() -> Quantity {
    Quantity::new("throughput", "Mbit/s", digits)
}

fn percent_of(name: &str, base: &str) -> Quantity {
    Quantity::new(name, "%", one_decimal).relative(base)
}
