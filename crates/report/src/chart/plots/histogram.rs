//! Histograms: a row for each set of samples.

use results::percent;

use crate::chart::axis::{Axis, AxisRoom, Scale};
use crate::chart::colour::series;
use crate::chart::drawing::{Anchor, Drawing};
use crate::chart::figure::Plot;
use crate::chart::frame::Frame;
use crate::chart::measure::width;
use crate::chart::path::SvgPath;
use crate::chart::quantity::Quantity;
use crate::document::{Cell, Table};

/// Shares of samples per bucket as outlines, one below the other, all on one scale.
#[derive(Debug, Clone)]
pub struct Histogram {
    /// The quantity, on a logarithmic scale: heights compare where buckets are equally wide.
    pub quantity: Quantity,
    /// The counted thing: `transactions`.
    pub noun: &'static str,
    /// The sets, from top to bottom.
    pub series: Vec<SampleSet>,
}

/// A set of samples.
#[derive(Debug, Clone)]
pub struct SampleSet {
    /// Its name.
    pub name: String,
    /// The origin of the samples: `6 runs, 3 boots`.
    pub about: String,
    /// From left to right, without overlaps; empty ones may be left out.
    pub buckets: Vec<Bucket>,
}

/// A stretch of values.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct Bucket {
    pub low: f64,
    pub high: f64,
    pub count: u64,
}

// The height of the largest share, in px.
const HEIGHT: f64 = 64.0;
// Above it, so that the label of the uppermost tick touches no other row, in px.
const ABOVE: f64 = 8.0;
// The least height of a bucket that is not empty, in px.
const LEAST: f64 = 1.0;

impl SampleSet {
    fn total(&self) -> u64 {
        self.buckets.iter().fold(0, |sum: u64, bucket| sum.saturating_add(bucket.count))
    }

    /// The share of a bucket in %.
    pub fn share(&self, bucket: &Bucket) -> f64 {
        100.0 * bucket.count as f64 / self.total().max(1) as f64
    }

    /// Its largest bucket, the first of several.
    pub fn largest(&self) -> Option<&Bucket> {
        self.buckets.iter().rev().max_by_key(|bucket| bucket.count)
    }
}

impl Histogram {
    fn largest_share(&self) -> f64 {
        let shares = self.series.iter().filter_map(|one| Some(one.share(one.largest()?)));
        shares.fold(0.0, f64::max)
    }

    fn series_text(&self, one: &SampleSet) -> String {
        let most = one.largest().map_or_else(String::new, |bucket| {
            let [low, high] = [bucket.low, bucket.high].map(self.quantity.show);
            format!("; most, {} %, from {low} to {high}", percent(one.share(bucket)))
        });
        self.counted(one) + &most
    }

    fn counted(&self, one: &SampleSet) -> String {
        let about = if one.about.is_empty() { String::new() } else { format!(", {}", one.about) };
        format!("{} {}{about}", one.total(), self.noun)
    }

    fn outline(
        &self,
        one: &SampleSet,
        base: f64,
        x: impl Fn(f64) -> f64,
        high: impl Fn(f64) -> f64,
    ) -> SvgPath {
        let mut path = SvgPath::new();
        let mut end: Option<f64> = None;
        for bucket in one.buckets.iter().filter(|bucket| bucket.count > 0) {
            let (left, right) = (x(bucket.low), x(bucket.high));
            // Where empty buckets are left out the outline returns to its base.
            if end != Some(bucket.low) {
                if let Some(end) = end {
                    path.to(x(end), base);
                }
                path.to(left, base);
            }
            let top = base - high(one.share(bucket)).max(LEAST);
            path.to(left, top).to(right, top);
            end = Some(bucket.high);
        }
        if let Some(end) = end {
            path.to(x(end), base);
        }
        path
    }
}

impl Plot for Histogram {
    fn draw(&self, across: f64) -> Drawing {
        let mut drawing = Drawing::new(across);
        let up = Quantity::new(&format!("share of {} per bucket", self.noun), "%", percent);
        let axis_up = Axis::new(Scale::FromZero, [self.largest_share()], &up, AxisRoom::Up(HEIGHT));
        let head = up.title(axis_up.factor);
        let top = drawing.paragraph("muted", Anchor::Start, (0.0, 11.0), &head, across) + 4.0;
        let ticks = axis_up.ticks.iter().map(|(_, label)| width(label)).fold(0.0, f64::max);
        let names = self.series.iter().map(|one| one.name.as_str());
        let abouts = self.series.iter().map(|one| one.about.clone());
        let mut frame = Frame::new(across, top, names, abouts, [ticks, 0.0]);
        let buckets = self.series.iter().flat_map(|one| &one.buckets);
        let edges = buckets.flat_map(|bucket| [bucket.low, bucket.high]);
        let axis = frame.axis(Scale::Logarithmic, edges, &self.quantity);
        let mut flat = false;
        for (index, one) in self.series.iter().enumerate() {
            let base = frame.row(&mut drawing, &one.name, &one.about, ABOVE + HEIGHT) + ABOVE + HEIGHT;
            let high = |share: f64| axis_up.place(share) * HEIGHT;
            for (at, label) in &axis_up.ticks {
                let y = base - at * HEIGHT;
                drawing.behind(|back| back.line("grid", (frame.left, y), (frame.right, y)));
                drawing.text_if_free("muted", Anchor::End, frame.parts + ticks, y + 4.0, label);
            }
            drawing.line("axis", (frame.left, base), (frame.right, base));
            flat |= one.buckets.iter().any(|bucket| bucket.count > 0 && high(one.share(bucket)) < LEAST);
            let path = self.outline(one, base, |value| frame.x(&axis, value), high);
            drawing.mark(&format!("{}: {}", one.name, self.series_text(one)), |mark| {
                mark.path(&format!("tint {}", series(index)), &path);
                mark.path(&format!("thin {}", series(index)), &path);
            });
        }
        let least = format!("Each bucket with any {} is at least {LEAST} px high.", self.noun);
        frame.close(&mut drawing, &axis, &self.quantity, false, flat.then_some(least).as_slice());
        drawing
    }

    fn table(&self) -> Table {
        let across = &self.quantity;
        let mut head = vec![format!("from: {}", across.title(0)), format!("to: {}", across.title(0))];
        head.extend(self.series.iter().map(|one| format!("{}, % of {}", one.name, self.counted(one))));
        let edges = |bucket: &Bucket| (bucket.low, bucket.high);
        let mut rows: Vec<(f64, f64)> =
            self.series.iter().flat_map(|one| one.buckets.iter().map(edges)).collect();
        rows.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1)));
        rows.dedup();
        let row = |row: (f64, f64)| {
            let share = |one: &SampleSet| {
                let bucket = one.buckets.iter().find(|bucket| edges(bucket) == row);
                bucket.map_or(Cell::EMPTY, |bucket| Cell::percent(one.share(bucket)))
            };
            let ends = [row.0, row.1].map(|end| across.cell(Some(end)));
            ends.into_iter().chain(self.series.iter().map(share)).collect()
        };
        Table::with_rows(head, rows.into_iter().map(row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outline_returns_to_its_base_where_buckets_are_left_out() {
        let bucket = |low: f64, high: f64, count| Bucket { low, high, count };
        let series = SampleSet {
            name: String::new(),
            about: String::new(),
            buckets: vec![
                bucket(1.0, 2.0, 60),
                bucket(2.0, 3.0, 39),
                bucket(3.0, 4.0, 0),
                bucket(7.0, 8.0, 1),
            ],
        };
        let plot = Histogram {
            quantity: Quantity::new("time", "s", |value| format!("{value}")),
            noun: "samples",
            series: vec![series],
        };
        let path = plot.outline(&plot.series[0], 100.0, |value| value, |share| share / 2.0);
        let mut drawing = Drawing::new(200.0);
        drawing.path("", &path);
        // The last bucket has half a px, and is drawn with one.
        let outline = "M1 100V70H2V80.5H3V100H7V99H8v1";
        assert!(drawing.markup().as_str().contains(outline), "{}", drawing.markup().as_str());
        assert_eq!(plot.series_text(&plot.series[0]), "100 samples; most, 60.0 %, from 1 to 2");
        assert_eq!(plot.largest_share(), 60.0);
    }
}
