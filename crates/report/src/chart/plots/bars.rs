//! Amounts as bars from zero, alone or stacked of parts.

use crate::Table;
use crate::chart::axis::Scale;
use crate::chart::colour::series;
use crate::chart::drawing::{Anchor, Drawing};
use crate::chart::figure::Plot;
use crate::chart::frame::Frame;
use crate::chart::legend::{LegendSign, legend};
use crate::chart::measure;
use crate::chart::path::Area;
use crate::chart::quantity::{Interval, Quantity};
use crate::chart::table::figure_table;
use results::distinct;

/// Bars in groups: throughput of TCP beside UDP for each step; CPU use of a guest and of its host,
/// stacked of user, system, irq, softirq and steal.
#[derive(Debug, Clone)]
pub struct Bars {
    /// The measured quantity.
    pub quantity: Quantity,
    /// The kind of the intervals: `95 % interval`.
    pub interval: String,
    /// The names of the parts that bars are stacked of; none for bars that are whole.
    pub parts: Vec<String>,
    /// From top to bottom.
    pub groups: Vec<BarGroup>,
}

/// Bars that are compared with each other first.
#[derive(Debug, Clone)]
pub struct BarGroup {
    /// Its name.
    pub name: String,
    /// From top to bottom.
    pub bars: Vec<Bar>,
}

/// A bar.
#[derive(Debug, Clone)]
pub struct Bar {
    /// Its name in the group; empty for the only one. Bars of the same name have the same colour
    /// unless they are stacked.
    pub name: String,
    /// The whole with its interval.
    pub whole: Interval,
    /// The amount of each part of [`Bars::parts`], in their order; amounts below zero are drawn
    /// left of it.
    pub parts: Vec<f64>,
}

const HEIGHT: f64 = 14.0;
const STEP: f64 = 19.0;
// A narrower part of a bar is not drawn, in px.
const SEEN: f64 = 0.05;
// Names in a group take at most this much of the width.
const NAMES: f64 = 0.22;

impl Bars {
    /// Shares of a whole, such as Shapley's: one bar each, with its interval.
    #[must_use]
    pub fn shares(quantity: Quantity, interval: &str, shares: Vec<(String, Interval)>) -> Self {
        let bar = |whole| Bar { name: String::new(), whole, parts: Vec::new() };
        let group = |(name, whole)| BarGroup { name, bars: vec![bar(whole)] };
        Self {
            quantity,
            interval: interval.to_owned(),
            parts: Vec::new(),
            groups: shares.into_iter().map(group).collect(),
        }
    }

    fn bars(&self) -> impl Iterator<Item = &Bar> {
        self.groups.iter().flat_map(|group| &group.bars)
    }

    /// The values that an axis must reach.
    pub fn values(&self) -> impl Iterator<Item = f64> {
        self.bars().flat_map(|bar| bar.whole.points().chain(bar.reach()))
    }

    fn names(&self) -> Vec<&str> {
        distinct(self.bars().map(|bar| bar.name.as_str()))
    }

    fn signs(&self) -> Vec<(LegendSign, String)> {
        let parts = self.parts.iter().enumerate();
        let mut signs: Vec<(LegendSign, String)> =
            parts.map(|(index, name)| (LegendSign::Block(series(index)), name.clone())).collect();
        if self.bars().any(|bar| bar.whole.low.is_some() || bar.whole.high.is_some()) {
            signs.push((LegendSign::Whisker, self.interval.clone()));
        }
        signs
    }

    fn about(&self, group: &BarGroup, bar: &Bar) -> String {
        let gap = if bar.name.is_empty() { "" } else { ", " };
        let show = self.quantity.show;
        let whole = self.quantity.interval(&bar.whole, show);
        let parts = self.parts.iter().zip(&bar.parts);
        let parts: String = parts.map(|(name, part)| format!("; {name} {}", show(*part))).collect();
        format!("{}{gap}{}: {whole}{parts}", group.name, bar.name)
    }
}

impl Bar {
    /// The ends of the stack to both sides of zero.
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
        let mut drawing = Drawing::new(width);
        let top = legend(&mut drawing, 0.0, &self.signs());
        let names = self.names();
        let widest = |texts: &mut dyn Iterator<Item = f64>| texts.fold(0.0, f64::max).ceil();
        let shown = |bar: &Bar| (self.quantity.show)(bar.whole.estimate);
        let room = [
            widest(&mut names.iter().map(|name| measure::width(name))).min(NAMES * width),
            widest(&mut self.bars().map(|bar| measure::width(&shown(bar)))).min(NAMES * width),
        ];
        let groups = self.groups.iter().map(|group| group.name.as_str());
        let mut frame = Frame::new(width, top, groups, std::iter::empty(), room);
        let axis = frame.axis(Scale::FromZero, self.values(), &self.quantity);
        for group in &self.groups {
            let height = group.bars.len() as f64 * STEP;
            let mut y = frame.row(&mut drawing, &group.name, "", height);
            for bar in &group.bars {
                let middle = y + STEP / 2.0;
                let colour = names.iter().position(|name| *name == bar.name).unwrap_or(0);
                if !bar.name.is_empty() {
                    let name = measure::fit(&bar.name, room[0]);
                    drawing.text("muted", Anchor::Start, frame.parts, middle + 4.0, &name);
                }
                drawing.mark(&self.about(group, bar), |mark| {
                    for (part, from, to) in bar.stretches() {
                        let (from, to) = (frame.x(&axis, from), frame.x(&axis, to));
                        if (to - from).abs() < SEEN && !self.parts.is_empty() {
                            continue;
                        }
                        let class = series(if self.parts.is_empty() { colour } else { part });
                        let (top, bottom) = (middle - HEIGHT / 2.0, middle + HEIGHT / 2.0);
                        let area = Area { left: from.min(to), top, right: from.max(to), bottom };
                        mark.rect(&format!("fill {class}"), area);
                    }
                    if let (Some(low), Some(high)) = (bar.whole.low, bar.whole.high) {
                        frame.whisker(mark, &axis, middle, [low, high]);
                    }
                });
                let value = measure::fit(&shown(bar), room[1]);
                drawing.text("", Anchor::End, frame.width, middle + 4.0, &value);
                y += STEP;
            }
        }
        frame.close(&mut drawing, &axis, &self.quantity, true, &[]);
        drawing
    }

    fn table(&self) -> Table {
        let quantity = self.quantity.title(0);
        let names = self.names().iter().any(|name| !name.is_empty()).then_some("bar");
        let numbers = [quantity.as_str(), "lower end", "upper end"].into_iter();
        let numbers = numbers.chain(self.parts.iter().map(String::as_str));
        let head: Vec<&str> = std::iter::once("group").chain(names).chain(numbers).collect();
        let row = |group: &BarGroup, bar: &Bar| -> Vec<String> {
            let parts = (0..self.parts.len()).map(|index| bar.parts.get(index).copied());
            let numbers = bar.whole.values().into_iter().chain(parts);
            let name = [group.name.clone()].into_iter().chain(names.map(|_| bar.name.clone()));
            name.chain(numbers.map(|value| self.quantity.cell(value))).collect()
        };
        let rows = self.groups.iter().flat_map(|group| group.bars.iter().map(move |bar| (group, bar)));
        figure_table(&head, rows.map(|(group, bar)| row(group, bar)))
    }
}
