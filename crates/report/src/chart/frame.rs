//! Rows with names beside or above them, and one axis of values below.

use crate::chart::axis::{Axis, AxisRoom, Scale};
use crate::chart::drawing::{Anchor, Drawing};
use crate::chart::legend;
use crate::chart::measure::{LINE, width, wrap};
use crate::chart::path::{Area, SvgPath};
use crate::chart::quantity::{Interval, Quantity};

// Narrower drawings have names above the rows.
const BESIDE: f64 = 600.0;
// Between a name and the plot, in px.
const GAP: f64 = 12.0;
// The room that a mark at either end needs beyond it, in px.
const INSET: f64 = 7.0;
// Between two rows, in px.
const BETWEEN: f64 = 8.0;

#[derive(Debug)]
pub(crate) struct Frame {
    /// The width of the names; none where they are above the rows.
    names: Option<f64>,
    values: f64,
    /// The left edge of the names of a row's parts.
    pub(crate) parts: f64,
    pub(crate) left: f64,
    pub(crate) right: f64,
    under: bool,
    stretches: Vec<(f64, f64)>,
    /// The upper edge of the next row.
    pub(crate) y: f64,
}

impl Frame {
    /// Names and values of parts have widths in px; rows begin at `y`.
    pub(crate) fn new<'a>(
        across: f64,
        y: f64,
        names: impl Iterator<Item = &'a str>,
        values: impl Iterator<Item = String>,
        [parts, ends]: [f64; 2],
    ) -> Self {
        let names: Vec<f64> = names.map(width).collect();
        let values: Vec<f64> = values.map(|value| width(&value)).collect();
        // A value beside a name that has no room for it would cover the name.
        let under = names.iter().zip(&values).any(|(name, value)| name + value + GAP > across);
        let beside = across >= BESIDE;
        let with_gap = |width: f64| if width > 0.0 { width + GAP } else { 0.0 };
        let name = names.into_iter().fold(0.0, f64::max).min(0.26 * across).ceil();
        let value = values.into_iter().fold(0.0, f64::max).min(0.26 * across).ceil();
        let (name, value) = if beside { (Some(name), value) } else { (None, 0.0) };
        let parts_from = name.map_or(0.0, with_gap);
        Self {
            names: name,
            values: value,
            parts: parts_from,
            left: parts_from + with_gap(parts) + INSET,
            right: across - with_gap(value.max(ends)) - INSET,
            under,
            stretches: Vec::new(),
            y,
        }
    }

    pub(crate) fn axis(&self, scale: Scale, values: impl Iterator<Item = f64>, quantity: &Quantity) -> Axis {
        Axis::new(scale, values, quantity, AxisRoom::Across(self.right - self.left))
    }

    pub(crate) fn x(&self, axis: &Axis, value: f64) -> f64 {
        self.left + axis.place(value) * (self.right - self.left)
    }

    /// Begins a row of this height, in px, with its name and value; returns its upper edge.
    pub(crate) fn row(&mut self, drawing: &mut Drawing, name: &str, value: &str, height: f64) -> f64 {
        let start = self.y;
        if let Some(room) = self.names {
            let (names, values) = (wrap(name, room, 3), wrap(value, self.values.max(1.0), 3));
            let lines = names.len().max(values.len()) as f64 * LINE;
            let whole = height.max(lines);
            let base = |count: usize| start + (whole - count as f64 * LINE) / 2.0 + 11.0;
            drawing.lines("", Anchor::Start, 0.0, base(names.len()), &names);
            if !value.is_empty() {
                let x = drawing.width - self.values;
                drawing.lines("", Anchor::Start, x, base(values.len()), &values);
            }
            self.y += whole + BETWEEN;
            self.stretches.push((start, self.y));
            return start + (whole - height) / 2.0;
        }
        let mut y = start;
        if !name.is_empty() {
            y += drawing.paragraph("", Anchor::Start, (0.0, y + 11.0), name, drawing.width);
        }
        if !self.under && !name.is_empty() {
            drawing.text("", Anchor::End, drawing.width, start + 11.0, value);
        } else if !value.is_empty() {
            y += drawing.paragraph("muted", Anchor::Start, (0.0, y + 11.0), value, drawing.width);
        }
        y += 3.0;
        self.y = y + height + BETWEEN;
        if height > 0.0 {
            self.stretches.push((y - 1.0, y + height + 2.0));
        }
        y
    }

    pub(crate) fn band(&self, drawing: &mut Drawing, axis: &Axis, low: f64, high: f64) {
        // Behind the marks: their places are known only when all rows are drawn.
        let Some((top, bottom)) = self.extent() else { return };
        let (left, right) = (self.x(axis, low), self.x(axis, high));
        drawing.behind(|back| back.rect("band", Area { left, top, right, bottom }));
    }

    fn extent(&self) -> Option<(f64, f64)> {
        Some((self.stretches.first()?.0, self.stretches.last()?.1))
    }

    /// Through all plots, but no name above them.
    fn grid(&self, drawing: &mut Drawing, places: impl Iterator<Item = f64>) {
        let Some((top, bottom)) = self.extent() else { return };
        // One path for all lines, and one that covers them at names: a piece of each line for each
        // row would be most of a drawing of hundreds of rows.
        let (mut lines, mut covers) = (SvgPath::new(), SvgPath::new());
        places.for_each(|x| {
            lines.from(x, top).to(x, bottom);
        });
        for pair in self.stretches.windows(2).filter(|pair| pair[0].1 < pair[1].0) {
            let (top, bottom) = (pair[0].1, pair[1].0);
            covers.from(0.0, top).to(drawing.width, top).to(drawing.width, bottom).to(0.0, bottom).close();
        }
        drawing.behind(|back| {
            back.path("grid", &lines);
            back.path("cover", &covers);
        });
    }

    pub(crate) fn interval(&self, drawing: &mut Drawing, class: &str, axis: &Axis, y: f64, shown: &Interval) {
        let ends = [shown.low, shown.high].map(|end| end.map(|value| self.x(axis, value)));
        legend::interval(drawing, class, y, self.x(axis, shown.estimate), ends, [self.left, self.right]);
    }

    pub(crate) fn close(
        mut self,
        drawing: &mut Drawing,
        axis: &Axis,
        quantity: &Quantity,
        zero: bool,
        remarks: &[String],
    ) {
        let bottom = self.y;
        let place = |at: f64| self.left + at * (self.right - self.left);
        self.grid(drawing, axis.ticks.iter().map(|(at, _)| place(*at)));
        for (at, label) in &axis.ticks {
            drawing.tick_label(place(*at), bottom + 14.0, label);
        }
        drawing.line("axis", (self.left, bottom), (self.right, bottom));
        if zero {
            // Through all plots, before all rows, but through no name above them.
            let (x, mut line) = (self.x(axis, 0.0), SvgPath::new());
            for joined in self.stretches.chunk_by(|one, next| one.1 == next.0) {
                line.from(x, joined[0].0).to(x, joined[joined.len() - 1].1);
            }
            drawing.path("zero", &line);
        }
        self.y = bottom + 19.0;
        let x = if self.names.is_some() { self.left } else { 0.0 };
        for text in [quantity.title(axis.factor)].iter().chain(remarks) {
            self.y +=
                2.0 + drawing.paragraph("muted", Anchor::Start, (x, self.y + 13.0), text, drawing.width - x);
        }
        drawing.height = self.y + 6.0;
    }
}
