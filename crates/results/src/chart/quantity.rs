//! Quantities: the meaning of an axis and the form of its numbers.

use crate::chart::finite::{Finite, Interval};

/// A quantity with its unit and base, and the writer of its values.
#[derive(Debug, Clone)]
pub struct Quantity {
    /// `throughput`.
    pub name: String,
    /// `Mbit/s`; empty for a plain number.
    pub unit: String,
    /// The base of the values: `of udp4 default`, `per received byte`; empty where the unit says
    /// all.
    pub base: String,
    /// The writer of a value, without its unit.
    pub show: fn(f64) -> String,
    /// Values that the axis reaches at least: panels that are compared reach the same.
    pub reach: Vec<Finite>,
}

impl Quantity {
    /// A quantity without a base, on an axis that reaches its values.
    #[must_use]
    pub fn new(name: &str, unit: &str, show: fn(f64) -> String) -> Self {
        Self { name: name.to_owned(), unit: unit.to_owned(), base: String::new(), show, reach: Vec::new() }
    }

    /// The quantity relative to `base`: `of udp4 default`.
    #[must_use]
    pub fn relative(mut self, base: &str) -> Self {
        base.clone_into(&mut self.base);
        self
    }

    /// The name with unit and base, for values in units of this power of ten.
    pub(crate) fn title(&self, factor: i32) -> String {
        let power = if factor == 0 { String::new() } else { format!("10^{factor} ") };
        let unit = format!("{power}{} {}", self.unit, self.base);
        match unit.trim() {
            "" => self.name.clone(),
            unit => format!("{}, {unit}", self.name),
        }
    }

    /// A value as it is written, without its unit.
    pub(crate) fn plain(&self, value: Finite) -> String {
        (self.show)(value.value())
    }

    pub(crate) fn shown(&self, value: Finite) -> String {
        self.with_unit(self.plain(value))
    }

    /// A difference, with its sign, without its unit.
    pub(crate) fn signed(&self, value: Finite) -> String {
        let plain = self.plain(value);
        if value.value() > 0.0 && !plain.starts_with('+') { format!("+{plain}") } else { plain }
    }

    /// `12 (10 to 14) Mbit/s`; the estimate alone where both ends are the same.
    pub(crate) fn interval(&self, interval: &Interval, write: impl Fn(Finite) -> String) -> String {
        let estimate = Some(interval.estimate);
        if interval.low == estimate && interval.high == estimate {
            return self.with_unit(write(interval.estimate));
        }
        self.with_unit(format!("{} ({})", write(interval.estimate), interval.range(write)))
    }

    fn with_unit(&self, value: String) -> String {
        if self.unit.is_empty() { value } else { format!("{value} {}", self.unit) }
    }
}

pub(crate) fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}
