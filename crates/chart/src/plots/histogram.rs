//! How often each value was.

use crate::axis::Scale;
use crate::colour::{series, stroke};
use crate::drawing::Drawing;
use crate::figure::Plot;
use crate::finite::Finite;
use crate::legend::{Sign, legend};
use crate::path::Path;
use crate::plane::{Along, Plane};
use crate::quantity::Quantity;
use crate::table::{Cell, Table};

/// Shares of samples per bin, as steps; several sets lie over each other.
#[derive(Debug, Clone)]
pub struct Histogram {
    /// What was measured, and how it goes across. Bins that are equally wide on that scale are
    /// compared by their height.
    pub across: (Quantity, Scale),
    /// How a percentage is written.
    pub percent: fn(f64) -> String,
    /// The sets.
    pub series: Vec<Series>,
}

/// A set of samples.
#[derive(Debug, Clone)]
pub struct Series {
    /// Its name.
    pub name: String,
    /// From left to right, without overlaps.
    pub bins: Vec<Bin>,
}

/// A stretch of values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bin {
    /// The lower end.
    pub low: Finite,
    /// The upper end.
    pub high: Finite,
    /// How many samples are in it.
    pub count: u64,
}

impl Series {
    fn total(&self) -> u64 {
        self.bins.iter().fold(0, |sum: u64, bin| sum.saturating_add(bin.count))
    }

    /// The share of a bin in %.
    fn share(&self, bin: &Bin) -> Finite {
        Finite::new(100.0 * bin.count as f64 / self.total().max(1) as f64).unwrap_or(Finite::ZERO)
    }
}

impl Histogram {
    fn up(&self) -> Quantity {
        Quantity::new("samples in a bin", "%", self.percent).relative("of all")
    }
}

impl Plot for Histogram {
    fn draw(&self, width: f64) -> Drawing {
        let mut drawing = Drawing::new(width);
        let named = self.series.iter().enumerate().filter(|(_, one)| !one.name.is_empty());
        let signs: Vec<(Sign, String)> =
            named.map(|(index, one)| (Sign::Line(index), one.name.clone())).collect();
        let top = legend(&mut drawing, 0.0, &signs);
        let bins = || self.series.iter().flat_map(|one| one.bins.iter().map(move |bin| (one, bin)));
        let quantity = self.up();
        let across = Along {
            quantity: &self.across.0,
            scale: self.across.1,
            values: bins().flat_map(|(_, bin)| [bin.low, bin.high]).collect(),
            names: &[],
        };
        let values = bins().map(|(one, bin)| one.share(bin)).collect();
        let up = Along { quantity: &quantity, scale: Scale::FromZero, values, names: &[] };
        let plane = Plane::new(&mut drawing, top, &across, &up, 0.0, &[]);
        for (index, one) in self.series.iter().enumerate() {
            let mut path = Path::new();
            let mut before: Option<Finite> = None;
            for bin in &one.bins {
                let share = one.share(bin);
                if before != Some(bin.low) {
                    if let Some(end) = before {
                        let (x, y) = plane.place(end, Finite::ZERO);
                        path.to(x, y);
                    }
                    let (x, y) = plane.place(bin.low, Finite::ZERO);
                    path.to(x, y);
                }
                for edge in [bin.low, bin.high] {
                    let (x, y) = plane.place(edge, share);
                    path.to(x, y);
                }
                before = Some(bin.high);
            }
            let Some(end) = before else { continue };
            let (x, y) = plane.place(end, Finite::ZERO);
            path.to(x, y);
            drawing.mark(&format!("{}: {} samples", one.name, one.total()), |mark| {
                if self.series.len() == 1 {
                    mark.path(&format!("tint {}", series(index)), &path);
                }
                mark.path(&stroke(index), &path);
            });
        }
        drawing
    }

    fn table(&self) -> Table {
        let (across, share) = (self.across.0.title(0), self.up().title(0));
        let (low, high) = (format!("from: {across}"), format!("to: {across}"));
        let mut table = Table::new(&["set", &low, &high, "samples", &share]);
        for one in &self.series {
            for bin in &one.bins {
                let edge = |value| Cell::number(Some(value), |value| self.across.0.plain(value));
                let count = Finite::new(bin.count as f64);
                table.row([
                    Cell::text(&one.name),
                    edge(bin.low),
                    edge(bin.high),
                    Cell::number(count, |_| bin.count.to_string()),
                    Cell::number(Some(one.share(bin)), |value| (self.percent)(value.value())),
                ]);
            }
        }
        table
    }
}
