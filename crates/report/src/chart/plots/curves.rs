//! Lines over a quantity.

use crate::cells;
use crate::chart::axis::{Axis, Scale, ends};
use crate::chart::colour::{series, stroke};
use crate::chart::drawing::{Anchor, Drawing};
use crate::chart::figure::Plot;
use crate::chart::legend::{LegendSign, legend};
use crate::chart::measure::{self, LINE, fit};
use crate::chart::path::{SvgPath, drawn_note, thinned_line};
use crate::chart::plane::{Plane, remark};
use crate::chart::quantity::Quantity;
use crate::document::Table;

/// Curves: a series inside a run over its time, latency over offered load.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct Curves {
    pub across: (Quantity, Scale),
    pub up: (Quantity, Scale),
    pub curves: Vec<Curve>,
    /// Places across that mean something, such as a knee, with the meaning.
    pub flags: Vec<(f64, String)>,
}

/// A line.
#[derive(Debug, Clone)]
pub struct Curve {
    /// Its name.
    pub name: String,
    /// Its points, across and up, from left to right.
    pub points: Vec<(f64, f64)>,
    /// Each point was measured on its own, and is shown as a dot too.
    pub measured: bool,
}

// Drawings so wide have the names of few lines beside their ends.
const BESIDE: f64 = 600.0;
// The largest number of lines that have their names beside their ends.
const FEW: usize = 12;

/// Places at least `gap` apart and near the wanted ones, within `low` and `high`; in their order.
pub(crate) fn spread(wanted: &[f64], gap: f64, low: f64, high: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|a, b| wanted[*a].total_cmp(&wanted[*b]));
    let mut places = wanted.to_vec();
    let mut least = low;
    for index in &order {
        places[*index] = places[*index].max(least);
        least = places[*index] + gap;
    }
    // Down may have pushed the last beyond the end: up pushes them back, and keeps the gaps.
    let mut most = high;
    for index in order.iter().rev() {
        places[*index] = places[*index].min(most);
        most = places[*index] - gap;
    }
    places
}

impl Plot for Curves {
    fn draw(&self, width: f64) -> Drawing {
        // Names at the ends of lines are read faster than a legend, but need room.
        let beside = width >= BESIDE && self.curves.len() <= FEW;
        let alone = self.curves.len() == 1 && self.curves[0].name.is_empty();
        let names = self.curves.iter().map(|curve| measure::width(&curve.name));
        let room = if beside { names.fold(0.0, f64::max).min(0.24 * width).ceil() } else { 0.0 };
        let named = self.curves.iter().enumerate().filter(|_| !beside && !alone);
        let signs: Vec<(LegendSign, String)> =
            named.map(|(index, curve)| (LegendSign::Line(stroke(index)), curve.name.clone())).collect();
        let (mut drawing, top) = legend(width, &signs);
        let points = || self.curves.iter().flat_map(|curve| &curve.points);
        let ((across, across_scale), (up, up_scale)) = (&self.across, &self.up);
        let flags = self.flags.iter().map(|flag| flag.0);
        let xs = points().map(|point| point.0).chain(flags);
        let x = |room| Axis::new(*across_scale, xs, across, room);
        let y = Axis::new(*up_scale, points().map(|point| point.1), up, Plane::UP);
        let gutter = if room > 0.0 { room + 8.0 } else { 0.0 };
        let plane = Plane::new(&mut drawing, top, (across, x), (up, y), gutter, &self.flags);
        let (mut drawn, mut lasts) = (0, Vec::new());
        for (index, curve) in self.curves.iter().enumerate() {
            let places: Vec<(f64, f64)> = curve.points.iter().map(|(x, y)| plane.place(*x, *y)).collect();
            let kept = thinned_line(&places);
            drawn += kept.len();
            let mut path = SvgPath::new();
            for (x, y) in &kept {
                path.to(*x, *y);
            }
            let Some(last) = kept.last() else { continue };
            lasts.push((index, *last));
            let (low, high) = ends(curve.points.iter().map(|point| point.1)).unwrap_or_default();
            let (count, [low, high]) = (curve.points.len(), [low, high].map(|end| up.text(end)));
            drawing.mark(&format!("{}: {count} points, {low} to {high}", curve.name), |mark| {
                // A line of more points than columns is a band: it needs no weight.
                let class =
                    if kept.len() < places.len() { format!("thin {}", series(index)) } else { stroke(index) };
                mark.path(&class, &path);
                mark.shared(&format!("dots {}", series(index)), |dots| {
                    for ((x, y), point) in places.iter().zip(&curve.points).filter(|_| curve.measured) {
                        let words = format!("{}: {}", across.text(point.0), up.text(point.1));
                        dots.dot(*x, *y, &words);
                    }
                });
            });
        }
        if room > 0.0 {
            let name = |index: usize| fit(&self.curves[index].name, room);
            // What ends early has its name there, if it is free.
            lasts.retain(|(index, (x, y))| {
                let early = x + 8.0 + measure::width(&name(*index)) <= plane.right;
                !early || !drawing.text_if_free("", Anchor::Start, x + 8.0, y + 4.0, &name(*index))
            });
            let wanted: Vec<f64> = lasts.iter().map(|end| end.1.1).collect();
            for ((index, at), y) in lasts.iter().zip(spread(&wanted, LINE, plane.top, plane.foot - 12.0)) {
                let class = format!("thin {}", series(*index));
                drawing.behind(|back| back.line(&class, *at, (plane.right + 9.0, y)));
                drawing.text("", Anchor::Start, plane.right + 12.0, y + 4.0, &name(*index));
            }
        }
        let said = drawn_note(drawn, points().count(), "points");
        remark(&mut drawing, said.as_slice());
        drawing
    }

    fn table(&self) -> Table {
        let (across, up) = (&self.across.0, &self.up.0);
        let points = self.curves.iter().flat_map(|curve| curve.points.iter().map(move |at| (curve, at)));
        let row = |(curve, (x, y)): (&Curve, &(f64, f64))| {
            cells![&curve.name, across.cell(Some(*x)), up.cell(Some(*y))]
        };
        Table::with_rows(["line", &across.title(0), &up.title(0)], points.map(row))
    }
}
