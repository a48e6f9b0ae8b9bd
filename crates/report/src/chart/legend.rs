//! Legends: the meanings of colours and signs of a drawing.

use crate::chart::drawing::{Anchor, Drawing};
use crate::chart::measure::{self, LINE, fit};
use crate::chart::path::{Area, SvgPath};

/// A sign; some have the classes that they are drawn with.
#[derive(Debug, Clone)]
pub(crate) enum LegendSign {
    Dot(&'static str),
    Block(String),
    Line(String),
    Mean,
    Interval,
    Whisker,
    Band,
}

const SIGN: f64 = 20.0;
const GAP: f64 = 18.0;

/// A drawing of this width that begins with signs and their meanings, in as many lines as they
/// need, and the place where these end.
pub(crate) fn legend(width: f64, items: &[(LegendSign, String)]) -> (Drawing, f64) {
    let mut drawing = Drawing::new(width);
    let (mut x, mut line) = (0.0, 0.0);
    for (sign, meaning) in items {
        let meaning = fit(meaning, width - SIGN);
        let room = SIGN + measure::width(&meaning);
        if x > 0.0 && x + room > width {
            (x, line) = (0.0, line + LINE + 2.0);
        }
        sign.draw(&mut drawing, x, line + 7.0);
        drawing.text("muted", Anchor::Start, x + SIGN, line + 11.0, &meaning);
        x += room + GAP;
    }
    (drawing, if items.is_empty() { 0.0 } else { line + LINE + 9.0 })
}

impl LegendSign {
    fn draw(&self, drawing: &mut Drawing, x: f64, y: f64) {
        match self {
            Self::Dot(class) => {
                let mut path = SvgPath::new();
                path.dot(x + 7.0, y);
                drawing.path(&format!("dots {class}"), &path);
            }
            Self::Block(class) => {
                drawing.rect(class, Area { left: x + 2.0, top: y - 5.0, right: x + 13.0, bottom: y + 5.0 });
            }
            Self::Line(class) => drawing.line(class, (x, y), (x + 15.0, y)),
            Self::Mean => drawing.line("stroke ink", (x + 7.0, y - 6.0), (x + 7.0, y + 6.0)),
            Self::Interval => interval(drawing, "ink", y, x + 7.5, [Some(x), Some(x + 15.0)], [x, x + 15.0]),
            Self::Whisker => whisker(drawing, y, [x, x + 15.0]),
            Self::Band => {
                drawing.rect("band", Area { left: x, top: y - 6.0, right: x + 15.0, bottom: y + 6.0 });
            }
        }
    }
}

/// An interval over a bar, whose end is the estimate.
pub(crate) fn whisker(drawing: &mut Drawing, y: f64, [low, high]: [f64; 2]) {
    // The halo of paper keeps the lines apart from a bar of any colour.
    for (class, half) in [("halo", 5.0), ("stroke ink", 4.0)] {
        let mut path = SvgPath::new();
        path.from(low, y).to(high, y);
        for x in [low, high] {
            path.from(x, y - half).to(x, y + half);
        }
        drawing.path(class, &path);
    }
}

pub(crate) fn interval(
    drawing: &mut Drawing,
    class: &str,
    y: f64,
    estimate: f64,
    ends: [Option<f64>; 2],
    edges: [f64; 2],
) {
    let reached = [ends[0].unwrap_or(edges[0]), ends[1].unwrap_or(edges[1])];
    let mut path = SvgPath::new();
    path.from(reached[0], y).to(reached[1], y);
    for ((end, x), inwards) in ends.into_iter().zip(reached).zip([6.0, -6.0]) {
        match end {
            Some(_) => path.from(x, y - 4.0).to(x, y + 4.0),
            // Nothing bounds this end: an arrow to the edge of the plot.
            None => path.from(x + inwards, y - 4.0).to(x, y).to(x + inwards, y + 4.0),
        };
    }
    path.from(estimate - 4.5, y).to(estimate, y - 4.5).to(estimate + 4.5, y).to(estimate, y + 4.5).close();
    drawing.path(&format!("range {class}"), &path);
}
