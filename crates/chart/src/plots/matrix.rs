//! What pairs of switches do together.

use crate::area::Area;
use crate::drawing::{Anchor, Drawing};
use crate::figure::Plot;
use crate::finite::Interval;
use crate::legend::{Sign, legend};
use crate::measure::{self, LINE, wrap};
use crate::plane::remark;
use crate::plots::forest::{Effect, Forest};
use crate::quantity::Quantity;
use crate::table::Table;

/// Interactions of factors: how much more two together change than each alone.
#[derive(Debug, Clone)]
pub struct Matrix {
    /// What an interaction is measured in.
    pub quantity: Quantity,
    /// What the intervals are: `95 % interval`.
    pub interval: String,
    /// The factors.
    pub names: Vec<String>,
    /// Pairs of these.
    pub pairs: Vec<Interaction>,
}

/// What two factors do together.
#[derive(Debug, Clone)]
pub struct Interaction {
    /// The numbers of both factors, from 0.
    pub factors: [usize; 2],
    /// How much.
    pub value: Interval,
    /// What that proves: `higher`, `no difference proven`.
    pub verdict: String,
}

const HEIGHT: f64 = 34.0;
const WIDEST: f64 = 110.0;

impl Interaction {
    /// Its interval is on one side of zero: `c0` above, `c1` below.
    fn side(&self) -> Option<&'static str> {
        match (self.value.low, self.value.high) {
            (Some(low), _) if low.value() > 0.0 => Some("c0"),
            (_, Some(high)) if high.value() < 0.0 => Some("c1"),
            _ => None,
        }
    }
}

impl Matrix {
    fn name(&self, pair: &Interaction) -> String {
        let name = |index: usize| self.names.get(index).map_or("?", String::as_str);
        format!("{} with {}", name(pair.factors[0]), name(pair.factors[1]))
    }

    /// The same as rows, for drawings in which the cells would be too narrow.
    fn rows(&self) -> Forest {
        let effect = |pair: &Interaction| Effect {
            name: self.name(pair),
            interval: Some(pair.value),
            verdict: pair.verdict.clone(),
        };
        Forest {
            quantity: self.quantity.clone(),
            interval: self.interval.clone(),
            margin: None,
            effects: self.pairs.iter().map(effect).collect(),
        }
    }
}

impl Plot for Matrix {
    fn draw(&self, width: f64) -> Drawing {
        let count = self.names.len();
        let numbered = |index: usize| format!("{}  {}", index + 1, self.names[index]);
        let names = (0..count).map(|index| measure::width(&numbered(index)));
        let left = names.fold(0.0, f64::max).min(0.34 * width).ceil() + 12.0;
        let cell = ((width - left) / count.max(1) as f64).min(WIDEST);
        let values = self.pairs.iter().map(|pair| measure::width(&self.quantity.signed(pair.value.estimate)));
        if values.fold(0.0, f64::max) > cell - 6.0 {
            return self.rows().draw(width);
        }
        let mut drawing = Drawing::new(width);
        let mut signs = Vec::new();
        for (class, meaning) in [("c0", "more together, proven"), ("c1", "less together, proven")] {
            if self.pairs.iter().any(|pair| pair.side() == Some(class)) {
                signs.push((Sign::Block(class), meaning.to_owned()));
            }
        }
        let top = legend(&mut drawing, 0.0, &signs) + LINE + 6.0;
        let corner = |row: usize, column: usize| (left + column as f64 * cell, top + row as f64 * HEIGHT);
        for index in 0..count {
            let (x, y) = corner(index, index);
            drawing.text("muted", Anchor::Middle, x + cell / 2.0, top - 8.0, &(index + 1).to_string());
            let lines = wrap(&numbered(index), left - 12.0, 2);
            let base = y + (HEIGHT - lines.len() as f64 * LINE) / 2.0 + 11.0;
            drawing.lines("", Anchor::Start, 0.0, base, &lines);
            let area = Area { left: x, top: y, right: x + cell - 2.0, bottom: y + HEIGHT - 2.0 };
            drawing.rect("band", area);
        }
        let placed = |pair: &&Interaction| pair.factors.iter().all(|factor| *factor < count);
        for pair in self.pairs.iter().filter(placed) {
            let [a, b] = pair.factors;
            let (x, y) = corner(a.max(b), a.min(b));
            let words = self.quantity.interval(&pair.value, |value| self.quantity.signed(value));
            drawing.mark(&format!("{}: {words}, {}", self.name(pair), pair.verdict), |mark| {
                let area = Area { left: x, top: y, right: x + cell - 2.0, bottom: y + HEIGHT - 2.0 };
                let class = pair.side().map_or_else(|| "cell".to_owned(), |side| format!("tint {side}"));
                mark.rect(&class, area);
                let class = if pair.side().is_some() { "flat" } else { "flat muted" };
                let value = self.quantity.signed(pair.value.estimate);
                mark.text(class, Anchor::Middle, x + cell / 2.0 - 1.0, y + HEIGHT / 2.0 + 3.0, &value);
            });
        }
        drawing.height = top + count as f64 * HEIGHT + 4.0;
        remark(&mut drawing, &[self.quantity.title(0)]);
        drawing
    }

    fn table(&self) -> Table {
        self.rows().table()
    }
}
