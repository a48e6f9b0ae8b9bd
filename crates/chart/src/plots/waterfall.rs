//! How one amount becomes another, step by step.

use crate::area::Area;
use crate::axis::Scale;
use crate::drawing::Drawing;
use crate::figure::Plot;
use crate::finite::{Finite, Interval};
use crate::frame::Frame;
use crate::legend::{Sign, legend};
use crate::quantity::Quantity;
use crate::table::{Cell, Table};

/// A ladder: offloads leave one after the other, and each step is credited with what it takes.
#[derive(Debug, Clone)]
pub struct Waterfall {
    /// What was measured.
    pub quantity: Quantity,
    /// What the intervals are: `95 % interval of the step`.
    pub interval: String,
    /// The name of the first amount, and how much it is.
    pub start: (String, Finite),
    /// In the order in which they are taken.
    pub steps: Vec<Step>,
    /// The name of what is left.
    pub end: String,
}

/// A step.
#[derive(Debug, Clone)]
pub struct Step {
    /// What changes.
    pub name: String,
    /// By how much.
    pub change: Interval,
}

const HEIGHT: f64 = 18.0;

/// A row of the drawing.
struct Row<'a> {
    name: &'a str,
    from: Finite,
    to: Finite,
    value: String,
    /// The end of a step may be anywhere in here.
    interval: Option<[Finite; 2]>,
    class: &'static str,
}

impl Waterfall {
    fn rows(&self) -> Vec<Row<'_>> {
        let plus = |a: Finite, b: Finite| Finite::new(a.value() + b.value()).unwrap_or(a);
        let whole = |name, value| Row {
            name,
            from: Finite::ZERO,
            to: value,
            value: self.quantity.shown(value),
            interval: None,
            class: "fill soft",
        };
        let mut rows = vec![whole(&self.start.0, self.start.1)];
        let mut level = self.start.1;
        for step in &self.steps {
            let (from, change) = (level, step.change);
            level = plus(from, change.estimate);
            rows.push(Row {
                name: &step.name,
                from,
                to: level,
                value: self.quantity.difference(change.estimate),
                interval: change.low.zip(change.high).map(|(low, high)| [plus(from, low), plus(from, high)]),
                class: if change.estimate < Finite::ZERO { "fill c1" } else { "fill c0" },
            });
        }
        rows.push(whole(&self.end, level));
        rows
    }

    fn about(&self, row: usize, name: &str, value: &str) -> String {
        match row.checked_sub(1).and_then(|step| self.steps.get(step)) {
            Some(step) => {
                let words = self.quantity.interval(&step.change, |value| self.quantity.signed(value));
                format!("{name}: {words}")
            }
            None => format!("{name}: {value}"),
        }
    }
}

impl Plot for Waterfall {
    fn draw(&self, width: f64) -> Drawing {
        let mut drawing = Drawing::new(width);
        let rows = self.rows();
        let mut signs = Vec::new();
        for (class, meaning) in [("c0", "more"), ("c1", "less")] {
            if rows.iter().any(|row| row.class.ends_with(class)) {
                signs.push((Sign::Block(class), meaning.to_owned()));
            }
        }
        if rows.iter().any(|row| row.interval.is_some()) {
            signs.push((Sign::Whisker, self.interval.clone()));
        }
        let top = legend(&mut drawing, 0.0, &signs);
        let names = rows.iter().map(|row| row.name);
        let mut frame = Frame::new(width, top, names, rows.iter().map(|row| row.value.clone()), [0.0, 0.0]);
        let reached = rows
            .iter()
            .flat_map(|row| [row.from, row.to].into_iter().chain(row.interval.into_iter().flatten()));
        let axis = frame.axis(Scale::FromZero, reached, &self.quantity);
        let mut before: Option<(f64, f64)> = None;
        for (index, row) in rows.iter().enumerate() {
            let top = frame.row(&mut drawing, row.name, &row.value, HEIGHT);
            let (from, to) = (frame.x(&axis, row.from), frame.x(&axis, row.to));
            if let Some((x, y)) = before.filter(|_| frame.names_are_beside()) {
                drawing.behind(|back| back.line("axis", (x, y), (x, top)));
            }
            let area = Area {
                left: from.min(to),
                top,
                right: from.max(to).max(from.min(to) + 1.0),
                bottom: top + HEIGHT,
            };
            drawing.mark(&self.about(index, row.name, &row.value), |mark| {
                mark.rect(row.class, area);
                if let Some(ends) = row.interval {
                    frame.whisker(mark, &axis, top + HEIGHT / 2.0, ends);
                }
            });
            before = Some((to, top + HEIGHT));
        }
        frame.close(&mut drawing, &axis, &self.quantity, true, &[]);
        drawing
    }

    fn table(&self) -> Table {
        let quantity = self.quantity.title(0);
        let change = format!("change of {quantity}");
        let mut table = Table::new(&["step", &quantity, &change, "lower end", "upper end"]);
        for (index, row) in self.rows().iter().enumerate() {
            let step = index.checked_sub(1).and_then(|step| self.steps.get(step)).map(|step| step.change);
            let signed = |value| Cell::number(value, |value| self.quantity.signed(value));
            table.row([
                Cell::text(row.name),
                Cell::number(Some(row.to), |value| self.quantity.plain(value)),
                signed(step.map(|step| step.estimate)),
                signed(step.and_then(|step| step.low)),
                signed(step.and_then(|step| step.high)),
            ]);
        }
        table
    }
}
