//! Forest plots: differences with their intervals, and the margin that matters.

use crate::cells;
use crate::chart::axis::Scale;
use crate::chart::drawing::Drawing;
use crate::chart::figure::Plot;
use crate::chart::frame::Frame;
use crate::chart::legend::{LegendSign, legend};
use crate::chart::quantity::{Interval, Quantity};
use crate::document::{Cell, Table};

/// Effects, one below the other, around zero.
#[derive(Debug, Clone)]
pub struct Forest {
    /// The difference that is drawn, relative to its base.
    pub quantity: Quantity,
    /// The kind of the intervals: `95 % simultaneous interval`.
    pub interval: String,
    /// A difference smaller than this, either way, does not matter in practice.
    pub margin: Option<f64>,
    /// From top to bottom.
    pub effects: Vec<ForestRow>,
}

/// A difference.
#[derive(Debug, Clone)]
pub struct ForestRow {
    /// The names of both conditions.
    pub name: String,
    /// The size of the effect; `None` if nothing is known of it.
    pub interval: Option<Interval>,
    /// The size in words where it is not stated as the axis shows it: `1.78 times (0.128 to 24.7)`.
    pub size: Option<String>,
    /// The verdict: `higher`, `no difference proven`.
    pub verdict: String,
}

const HEIGHT: f64 = 16.0;

impl Forest {
    /// An effect in words: `+31 (+28 to +34) %, higher`.
    fn effect_text(&self, effect: &ForestRow) -> String {
        let signed = |value| self.quantity.signed(value);
        let drawn = effect.interval.map(|shown| self.quantity.interval(&shown, signed));
        let size = effect.size.clone().or(drawn);
        let words = size.into_iter().chain([effect.verdict.clone()]).filter(|word| !word.is_empty());
        words.collect::<Vec<_>>().join(", ")
    }
}

impl Plot for Forest {
    fn draw(&self, width: f64) -> Drawing {
        let has_marks = self.effects.iter().any(|effect| effect.interval.is_some());
        let practical = self
            .margin
            .map(|margin| format!("less than {} does not matter in practice", self.quantity.text(margin)));
        let mut signs = vec![(LegendSign::Interval, self.interval.clone())];
        signs.extend(practical.map(|words| (LegendSign::Band, words)));
        let (mut drawing, top) = legend(width, if has_marks { &signs } else { &[] });
        let names = self.effects.iter().map(|effect| effect.name.as_str());
        let words = self.effects.iter().map(|effect| self.effect_text(effect));
        let mut frame = Frame::new(width, top, names, words, [0.0, 0.0]);
        let values =
            self.effects.iter().filter_map(|effect| effect.interval).flat_map(|shown| shown.points());
        let margins = self.margin.into_iter().flat_map(|margin| [margin, -margin]);
        let axis = frame.axis(Scale::FromZero, margins.chain(values), &self.quantity);
        for effect in &self.effects {
            let words = self.effect_text(effect);
            let height = if effect.interval.is_some() { HEIGHT } else { 0.0 };
            let y = frame.row(&mut drawing, &effect.name, &words, height);
            if let Some(shown) = &effect.interval {
                drawing.mark(&format!("{}: {words}", effect.name), |mark| {
                    frame.interval(mark, "c0", &axis, y + HEIGHT / 2.0, shown);
                });
            }
        }
        if !has_marks {
            // Names and words alone: an axis would show values that nothing has.
            drawing.height = frame.y;
            return drawing;
        }
        if let Some(margin) = self.margin {
            frame.band(&mut drawing, &axis, -margin, margin);
        }
        frame.close(&mut drawing, &axis, &self.quantity, true, &[]);
        drawing
    }

    fn table(&self) -> Table {
        let row = |effect: &ForestRow| {
            let signed = |value| self.quantity.signed(value);
            let Some(size) = &effect.size else {
                let [estimate, low, high] = Interval::cells(effect.interval, signed);
                return cells![&effect.name, estimate, low, high, &effect.verdict];
            };
            cells![&effect.name, Cell::measure(size), "", "", &effect.verdict]
        };
        let head = ["effect", &self.quantity.title(0), "lower end", "upper end", "verdict"];
        Table::with_rows(head, self.effects.iter().map(row))
    }
}
