//! Amounts as bars from zero, alone or stacked of parts.

use results::distinct;

use crate::cells;
use crate::chart::axis::Scale;
use crate::chart::colour::series;
use crate::chart::drawing::{Anchor, Drawing};
use crate::chart::figure::Plot;
use crate::chart::frame::Frame;
use crate::chart::legend::{LegendSign, legend, whisker};
use crate::chart::measure;
use crate::chart::path::Area;
use crate::chart::quantity::{Interval, Quantity};
use crate::document::{Cell, Table};

/// Bars in groups: throughput for each step; CPU use, stacked by kind of time.
#[derive(Debug, Clone)]
pub struct Bars {
    /// The measured quantity.
    pub quantity: Quantity,
    /// The kind of the intervals: `95 % interval`.
    pub interval: String,
    /// The names of the parts that bars are stacked of; none for bars that are whole.
    pub parts: Vec<String>,
    /// From top to bottom, those of a group one after the other.
    pub bars: Vec<Bar>,
}

/// A bar.
#[derive(Debug, Clone)]
pub struct Bar {
    /// The name of its group: the bars that are compared with each other first.
    pub group: String,
    /// Its name in the group; empty for the only one. Bars of the same name have the same colour
    /// unless they are stacked.
    pub name: String,
    /// The whole with its interval.
    pub whole: Interval,
    /// The amounts of [`Bars::parts`], in their order; below zero they are drawn left of it.
    pub parts: Vec<f64>,
}

const HEIGHT: f64 = 14.0;
const STEP: f64 = 19.0;
// A narrower part of a bar is not drawn, in px.
const SEEN: f64 = 0.05;
// Names in a group take at most this much of the width.
const NAMES: f64 = 0.22;

impl Bars {
    fn groups(&self) -> impl Iterator<Item = &[Bar]> {
        self.bars.chunk_by(|one, next| one.group == next.group)
    }

    /// The values that an axis must reach.
    pub fn values(&self) -> impl Iterator<Item = f64> {
        self.bars.iter().flat_map(|bar| bar.whole.points().chain(bar.reach()))
    }

    fn about(&self, bar: &Bar) -> String {
        let gap = if bar.name.is_empty() { "" } else { ", " };
        let show = self.quantity.show;
        let whole = self.quantity.interval(&bar.whole, show);
        let parts = self.parts.iter().zip(&bar.parts);
        let parts: String = parts.map(|(name, part)| format!("; {name} {}", show(*part))).collect();
        format!("{}{gap}{}: {whole}{parts}", bar.group, bar.name)
    }
}

impl Bar {
    fn reach(&self) -> [f64; 2] {
        let sum = |keep: fn(&f64) -> bool| self.parts.iter().copied().filter(keep).sum();
        [sum(|part| *part < 0.0), sum(|part| *part > 0.0)]
    }

    /// The stretches of the bar: the number of the part, begin and end.
    fn stretches(&self) -> Vec<(usize, f64, f64)> {
        if self.parts.is_empty() {
            return vec![(0, 0.0, self.whole.estimate)];
        }
        let (mut below, mut above) = (0.0, 0.0);
        let stack = |(index, part): (usize, &f64)| {
            let end = if *part < 0.0 { &mut below } else { &mut above };
            let from = *end;
            *end += part;
            (index, from, *end)
        };
        self.parts.iter().enumerate().map(stack).collect()
    }
}

impl Plot for Bars {
    fn draw(&self, width: f64) -> Drawing {
        let block = |index: usize| LegendSign::Block(format!("fill {}", series(index)));
        let parts = self.parts.iter().enumerate().map(|(index, name)| (block(index), name.clone()));
        let has_interval = self.bars.iter().any(|bar| bar.whole.low.is_some() || bar.whole.high.is_some());
        let interval = has_interval.then(|| (LegendSign::Whisker, self.interval.clone()));
        let (mut drawing, top) = legend(width, &parts.chain(interval).collect::<Vec<_>>());
        let names = distinct(self.bars.iter().map(|bar| bar.name.as_str()));
        let widest = |texts: &mut dyn Iterator<Item = f64>| texts.fold(0.0, f64::max).ceil();
        let shown = |bar: &Bar| (self.quantity.show)(bar.whole.estimate);
        let room = [
            widest(&mut names.iter().map(|name| measure::width(name))).min(NAMES * width),
            widest(&mut self.bars.iter().map(|bar| measure::width(&shown(bar)))).min(NAMES * width),
        ];
        let groups = self.groups().map(|group| group[0].group.as_str());
        let mut frame = Frame::new(width, top, groups, std::iter::empty(), room);
        let axis = frame.axis(Scale::FromZero, self.values(), &self.quantity);
        for group in self.groups() {
            let mut y = frame.row(&mut drawing, &group[0].group, "", group.len() as f64 * STEP);
            for bar in group {
                let middle = y + STEP / 2.0;
                let colour = names.iter().position(|name| *name == bar.name).unwrap_or(0);
                if !bar.name.is_empty() {
                    let name = measure::fit(&bar.name, room[0]);
                    drawing.text("muted", Anchor::Start, frame.parts, middle + 4.0, &name);
                }
                drawing.mark(&self.about(bar), |mark| {
                    for (part, from, to) in bar.stretches() {
                        let (from, to) = (frame.x(&axis, from), frame.x(&axis, to));
                        // A bar that is whole is drawn however short: its place is its value.
                        if (to - from).abs() < SEEN && !self.parts.is_empty() {
                            continue;
                        }
                        let class = series(if self.parts.is_empty() { colour } else { part });
                        let (top, bottom) = (middle - HEIGHT / 2.0, middle + HEIGHT / 2.0);
                        let area = Area { left: from.min(to), top, right: from.max(to), bottom };
                        mark.rect(&format!("fill {class}"), area);
                    }
                    if let (Some(low), Some(high)) = (bar.whole.low, bar.whole.high) {
                        whisker(mark, middle, [low, high].map(|end| frame.x(&axis, end)));
                    }
                });
                let value = measure::fit(&shown(bar), room[1]);
                drawing.text("", Anchor::End, width, middle + 4.0, &value);
                y += STEP;
            }
        }
        frame.close(&mut drawing, &axis, &self.quantity, true, &[]);
        drawing
    }

    fn table(&self) -> Table {
        let quantity = self.quantity.title(0);
        let is_named = self.bars.iter().any(|bar| !bar.name.is_empty());
        let mut head = vec!["group"];
        head.extend(is_named.then_some("bar"));
        head.extend([quantity.as_str(), "lower end", "upper end"]);
        head.extend(self.parts.iter().map(String::as_str));
        let row = |bar: &Bar| {
            let mut cells = cells![&bar.group];
            cells.extend(is_named.then(|| Cell::from(&bar.name)));
            cells.extend(Interval::cells(Some(bar.whole), self.quantity.show));
            cells.extend(bar.parts.iter().map(|part| self.quantity.cell(Some(*part))));
            cells
        };
        Table::with_rows(head, self.bars.iter().map(row))
    }
}
