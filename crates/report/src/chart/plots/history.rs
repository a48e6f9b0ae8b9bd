//! A value over versions, and where it changed.

use stats::change::Level;

use crate::cells;
use crate::chart::axis::{Axis, Scale};
use crate::chart::drawing::Drawing;
use crate::chart::figure::Plot;
use crate::chart::legend::{LegendSign, legend};
use crate::chart::path::SvgPath;
use crate::chart::plane::Plane;
use crate::chart::quantity::{Interval, Quantity};
use crate::document::Table;

/// One value per tagged study, with the levels that were found in them.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct HistoryPlot {
    /// The kind of the points' names: `kernel`.
    pub tags: String,
    pub quantity: Quantity,
    /// The kind of the intervals: `95 % interval`.
    pub interval: String,
    /// The tag of each study and the measured value.
    pub points: Vec<(String, Interval)>,
    /// Each with the change from the level before, and how sure it is; empty for the first level.
    pub levels: Vec<(Level, String)>,
}

impl Plot for HistoryPlot {
    fn draw(&self, width: f64) -> Drawing {
        let mut signs = vec![(LegendSign::Interval, self.interval.clone())];
        if self.levels.len() > 1 {
            signs.push((LegendSign::Line("thin soft dashed".to_owned()), "change".to_owned()));
        }
        let (mut drawing, top) = legend(width, &signs);
        let names: Vec<String> = self.points.iter().map(|(name, _)| name.clone()).collect();
        let tags = Quantity::new(&self.tags, "", self.quantity.show);
        let levels = self.levels.iter().map(|(level, _)| level.mean);
        let values = self.points.iter().flat_map(|(_, value)| value.points()).chain(levels);
        let y = Axis::new(Scale::Linear, values, &self.quantity, Plane::UP);
        let changes = self.levels.iter().skip(1);
        // A change is between two points: the line is in the middle of them.
        let flags: Vec<_> =
            changes.map(|(level, change)| (level.first as f64 - 0.5, change.clone())).collect();
        let x = |room| Axis::names(&names, room);
        let plane = Plane::new(&mut drawing, top, (&tags, x), (&self.quantity, y), 0.0, &flags);
        for (index, (level, _)) in self.levels.iter().enumerate() {
            let next = self.levels.get(index + 1).map_or(self.points.len(), |(next, _)| next.first);
            let ends = [level.first, next].map(|end| plane.place(end as f64 - 0.5, level.mean));
            drawing.line("stroke c1", ends[0], ends[1]);
        }
        for (index, (name, shown)) in self.points.iter().enumerate() {
            let words = self.quantity.interval(shown, self.quantity.show);
            let (x, y) = plane.place(index as f64, shown.estimate);
            let end =
                |value: Option<f64>, edge| value.map_or(edge, |value| plane.place(index as f64, value).1);
            let (low, high) = (end(shown.low, plane.foot), end(shown.high, plane.top));
            drawing.mark(&format!("{name}: {words}"), |mark| {
                mark.line("thin c0", (x, low), (x, high));
                let mut diamond = SvgPath::new();
                diamond.to(x - 4.0, y).to(x, y - 4.0).to(x + 4.0, y).to(x, y + 4.0);
                diamond.close();
                mark.path("fill c0", &diamond);
            });
        }
        drawing
    }

    fn table(&self) -> Table {
        let quantity = self.quantity.title(0);
        let heads = [self.tags.as_str(), &quantity, "lower end", "upper end", "level", "change"];
        let row = |(index, (name, value)): (usize, &(String, Interval))| {
            let level = self.levels.iter().rfind(|(level, _)| level.first <= index);
            let change = level.filter(|(level, _)| level.first == index).map_or("", |(_, change)| change);
            let mut cells = cells![name];
            cells.extend(Interval::cells(Some(*value), self.quantity.show));
            cells.push(self.quantity.cell(level.map(|(level, _)| level.mean)));
            cells.push(change.into());
            cells
        };
        Table::with_rows(heads, self.points.iter().enumerate().map(row))
    }
}
