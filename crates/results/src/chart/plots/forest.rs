//! Forest plots: differences with their intervals, and the margin that matters.

use crate::chart::axis::Scale;
use crate::chart::drawing::Drawing;
use crate::chart::figure::Plot;
use crate::chart::finite::{Finite, Interval};
use crate::chart::frame::Frame;
use crate::chart::legend::{LegendSign, legend};
use crate::chart::quantity::Quantity;
use crate::chart::table::{FigureCell, FigureTable};

/// Effects, one below the other, around zero.
#[derive(Debug, Clone)]
pub struct Forest {
    /// The difference that is drawn, relative to its base.
    pub quantity: Quantity,
    /// The kind of the intervals: `95 % simultaneous interval`.
    pub interval: String,
    /// A difference smaller than this, either way, does not matter in practice.
    pub margin: Option<Finite>,
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
    /// The verdict: `higher`, `no difference proven`.
    pub verdict: String,
}

const HEIGHT: f64 = 16.0;

impl Forest {
    /// An effect in words: `+31 (+28 to +34) %, higher`.
    fn words(&self, effect: &ForestRow) -> String {
        let words =
            effect.interval.map(|shown| self.quantity.interval(&shown, |value| self.quantity.signed(value)));
        let words: Vec<&str> = [words.as_deref(), Some(effect.verdict.as_str())]
            .into_iter()
            .flatten()
            .filter(|word| !word.is_empty())
            .collect();
        words.join(", ")
    }

    /// The margin as it is written: `less than 2 %`.
    fn practical(&self) -> Option<String> {
        let margin = self.margin?;
        Some(format!("less than {} does not matter in practice", self.quantity.shown(margin)))
    }

    fn has_marks(&self) -> bool {
        self.effects.iter().any(|effect| effect.interval.is_some())
    }

    /// Names and words alone: an axis would show values that nothing has.
    fn draw_words(&self, width: f64) -> Drawing {
        let mut drawing = Drawing::new(width);
        let names = self.effects.iter().map(|effect| effect.name.as_str());
        let words = self.effects.iter().map(|effect| self.words(effect));
        let mut frame = Frame::new(width, 0.0, names, words, [0.0, 0.0]);
        for effect in &self.effects {
            frame.row(&mut drawing, &effect.name, &self.words(effect), 0.0);
        }
        frame.close_without_axis(&mut drawing);
        drawing
    }

    fn values(&self) -> impl Iterator<Item = Finite> {
        let margins = self.margin.into_iter().flat_map(|margin| [Some(margin), Finite::new(-margin.value())]);
        let effects = self.effects.iter().filter_map(|effect| effect.interval);
        margins.flatten().chain(effects.flat_map(|shown| shown.points()))
    }
}

impl Plot for Forest {
    fn draw(&self, width: f64) -> Drawing {
        if !self.has_marks() {
            return self.draw_words(width);
        }
        let mut drawing = Drawing::new(width);
        let mut signs = vec![(LegendSign::Interval, self.interval.clone())];
        signs.extend(self.practical().map(|words| (LegendSign::Band, words)));
        let top = legend(&mut drawing, 0.0, &signs);
        let names = self.effects.iter().map(|effect| effect.name.as_str());
        let mut frame =
            Frame::new(width, top, names, self.effects.iter().map(|effect| self.words(effect)), [0.0, 0.0]);
        let axis = frame.axis(Scale::FromZero, self.values(), &self.quantity);
        for effect in &self.effects {
            let words = self.words(effect);
            let height = if effect.interval.is_some() { HEIGHT } else { 0.0 };
            let y = frame.row(&mut drawing, &effect.name, &words, height);
            if let Some(shown) = &effect.interval {
                drawing.mark(&format!("{}: {words}", effect.name), |mark| {
                    frame.interval(mark, "c0", &axis, y + HEIGHT / 2.0, shown);
                });
            }
        }
        if let Some(margin) = self.margin {
            let below = Finite::new(-margin.value()).unwrap_or(Finite::ZERO);
            frame.band(&mut drawing, &axis, below, margin);
        }
        frame.close(&mut drawing, &axis, &self.quantity, true, &[]);
        drawing
    }

    fn table(&self) -> FigureTable {
        let quantity = self.quantity.title(0);
        let mut table = FigureTable::new(&["effect", &quantity, "lower end", "upper end", "verdict"]);
        for effect in &self.effects {
            let of = |pick: fn(&Interval) -> Option<Finite>| {
                FigureCell::number(effect.interval.as_ref().and_then(pick), |value| {
                    self.quantity.signed(value)
                })
            };
            table.row([
                FigureCell::text(&effect.name),
                of(|shown| Some(shown.estimate)),
                of(|shown| shown.low),
                of(|shown| shown.high),
                FigureCell::text(&effect.verdict),
            ]);
        }
        table
    }
}
