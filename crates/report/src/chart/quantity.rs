//! Quantities: the meaning of an axis and the form of its numbers.

use results::{interval_ends, range};

use crate::document::Cell;

/// A quantity with its unit, base and writer of values: the same in tables, sentences, figures.
#[derive(Debug, Clone)]
pub struct Quantity {
    /// `throughput`.
    pub name: String,
    /// `Mbit/s`; empty for a plain number.
    pub unit: String,
    /// The base: `of udp4 default`, `per received byte`; empty where the unit says all.
    pub base: String,
    /// The writer of a value, without its unit.
    pub show: fn(f64) -> String,
    /// Values that the axis reaches at least: panels that are compared reach the same.
    pub reach: Vec<f64>,
}

/// An estimate with its interval, in the unit of the axis on which it is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The likeliest value.
    pub estimate: f64,
    /// The lower end; none where nothing bounds it.
    pub low: Option<f64>,
    /// The upper end; none where nothing bounds it.
    pub high: Option<f64>,
}

impl Interval {
    /// An estimate with both ends of its interval, if it has one; infinite ends bound nothing.
    pub fn new(estimate: f64, ends: Option<(f64, f64)>) -> Self {
        let end = |end: f64| Some(end).filter(|end| end.is_finite());
        Self { estimate, low: ends.and_then(|ends| end(ends.0)), high: ends.and_then(|ends| end(ends.1)) }
    }

    /// The values that an axis must reach.
    pub(crate) fn points(&self) -> impl Iterator<Item = f64> + use<> {
        // An open end is an arrow to the edge: it gets as much room as the other end has.
        let across = |end: Option<f64>| end.map(|end| 2.0 * self.estimate - end);
        let ends = [self.low.or_else(|| across(self.high)), self.high.or_else(|| across(self.low))];
        std::iter::once(self.estimate).chain(ends.into_iter().flatten())
    }

    fn ends(&self) -> (f64, f64) {
        (self.low.unwrap_or(f64::NEG_INFINITY), self.high.unwrap_or(f64::INFINITY))
    }

    pub(crate) fn cells(shown: Option<Self>, show: impl Fn(f64) -> String) -> [Cell; 3] {
        let Some(shown) = shown else { return [Cell::EMPTY; 3] };
        let [low, high] = interval_ends(shown.ends(), &show).map(|end| end.map_or(Cell::EMPTY, Cell::Number));
        [Cell::Number(show(shown.estimate)), low, high]
    }
}

impl Quantity {
    /// A quantity without a base, on an axis that reaches its values.
    pub fn new(name: &str, unit: &str, show: fn(f64) -> String) -> Self {
        Self { name: name.to_owned(), unit: unit.to_owned(), base: String::new(), show, reach: Vec::new() }
    }

    /// The quantity relative to `base`: `of udp4 default`.
    #[must_use]
    pub fn relative(mut self, base: &str) -> Self {
        base.clone_into(&mut self.base);
        self
    }

    /// The quantity on an axis that reaches at least these values.
    #[must_use]
    pub fn reaching(mut self, values: impl IntoIterator<Item = f64>) -> Self {
        self.reach = values.into_iter().collect();
        self
    }

    pub(crate) fn title(&self, factor: i32) -> String {
        let power = if factor == 0 { String::new() } else { format!("10^{factor} ") };
        let unit = format!("{power}{} {}", self.unit, self.base);
        match unit.trim() {
            "" => self.name.clone(),
            unit => format!("{}, {unit}", self.name),
        }
    }

    /// A value with its unit: `41234 Mbit/s`.
    pub fn text(&self, value: f64) -> String {
        self.with_unit((self.show)(value))
    }

    pub(crate) fn cell(&self, value: Option<f64>) -> Cell {
        value.map_or(Cell::EMPTY, |value| Cell::Number((self.show)(value)))
    }

    /// A difference, with its sign, without its unit.
    pub fn signed(&self, value: f64) -> String {
        stats::signed((self.show)(value))
    }

    /// `12 (10 to 14) Mbit/s`; the estimate alone without an interval, and where both ends are the
    /// same. `write` writes a number.
    pub fn interval(&self, shown: &Interval, write: impl Fn(f64) -> String) -> String {
        let estimate = write(shown.estimate);
        if shown.low == shown.high {
            return self.with_unit(estimate);
        }
        self.with_unit(format!("{estimate} ({})", range(Some(shown.ends()), write)))
    }

    pub(crate) fn with_unit(&self, value: String) -> String {
        if self.unit.is_empty() { value } else { format!("{value} {}", self.unit) }
    }
}
