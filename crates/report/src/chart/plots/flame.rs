//! Flame graphs: a cost by the functions that called each other.

use std::collections::BTreeMap;

use crate::chart::colour::heat_class;
use crate::chart::drawing::{Anchor, Drawing};
use crate::chart::figure::Plot;
use crate::chart::legend::{LegendSign, legend};
use crate::chart::measure::{fit, width};
use crate::chart::path::Area;
use crate::chart::plane::remark;
use crate::chart::quantity::Quantity;
use crate::document::{Cell, Table};

/// A flame graph: a box for each function, as wide as its cost, upon the box of its caller. With a
/// baseline it is differential: colours show the change of each function's own cost.
#[derive(Debug, Clone)]
pub struct Flame {
    quantity: Quantity,
    baseline: Option<String>,
    root: FlameNode,
}

/// A stack: its functions, the outermost first, and its costs in the baseline and now. Without a
/// baseline the first does not count.
pub type FlameStack = (Vec<String>, [f64; 2]);

#[derive(Debug, Clone, Default)]
struct FlameNode {
    /// The cost with all calls, in the baseline and now.
    costs: [f64; 2],
    own: [f64; 2],
    /// By name, so that two drawings have the same order, and can be compared.
    called: BTreeMap<String, FlameNode>,
}

// The name of the whole.
const ALL: &str = "all";
// The height of a box, and of the deepest stack that is drawn in boxes.
const HIGH: f64 = 17.0;
const DEEPEST: usize = 64;
// Narrower boxes are not drawn, and narrower ones have no words, in px.
const SEEN: f64 = 0.7;
const WORDS: f64 = 24.0;
// The limits of a cost: sums stay finite, and smaller costs are zero, so that quotients are finite.
const MOST: f64 = 1e200;
const LEAST: f64 = 1e-200;
// The lower end of each step of the colour scale, as a part of the whole.
const STEPS: [f64; 4] = [0.001, 0.005, 0.01, 0.02];

impl Flame {
    /// A flame graph of stacks. A value that is not finite or is below 1e-200 counts as zero.
    pub fn new(
        quantity: Quantity,
        baseline: Option<String>,
        stacks: impl IntoIterator<Item = FlameStack>,
    ) -> Self {
        let mut root = FlameNode::default();
        for (frames, [before, now]) in stacks {
            let cost = |cost: f64| if cost.is_finite() && cost >= LEAST { cost.min(MOST) } else { 0.0 };
            let costs = [if baseline.is_some() { cost(before) } else { 0.0 }, cost(now)];
            root.add(&mut frames.into_iter().take(DEEPEST), costs);
        }
        Self { quantity, baseline, root }
    }

    fn total(&self) -> f64 {
        self.root.costs[1].max(LEAST)
    }

    fn about(&self, name: &str, node: &FlameNode) -> String {
        let [before, now] = node.costs.map(self.quantity.show);
        let [own_before, own] = node.own.map(self.quantity.show);
        let share = 100.0 * node.costs[1] / self.total();
        let told = format!("{name}: {now} {}, {share:.1} %; {own} by itself", self.quantity.unit);
        match &self.baseline {
            None => told,
            Some(baseline) => format!(
                "{told}; with {baseline} {before} and {own_before}; {} and {}",
                self.quantity.signed(node.costs[1] - node.costs[0]),
                self.quantity.signed(node.own[1] - node.own[0])
            ),
        }
    }

    fn class(&self, node: &FlameNode) -> Option<String> {
        if self.baseline.is_none() {
            return Some("tint c1".to_owned());
        }
        let differs = (node.own[1] - node.own[0]) / self.total();
        let step = STEPS.iter().filter(|step| differs.abs() >= **step).count();
        (step > 0).then(|| heat_class(if differs > 0.0 { "c1" } else { "c0" }, step))
    }

    /// Draws a box on a box whose upper edge is at `bottom`, and the boxes above it.
    fn boxes(&self, name: &str, node: &FlameNode, (left, bottom): (f64, f64), drawing: &mut Drawing) {
        let scale = drawing.width / self.total();
        let wide = node.costs[1] * scale;
        if wide < SEEN {
            return;
        }
        let top = bottom - HIGH;
        // A thin gap tells one box from the next.
        let area = Area { left, top, right: left + (wide - 0.3).max(0.4), bottom: top + HIGH - 1.0 };
        drawing.mark(&self.about(name, node), |mark| {
            mark.rect("cell", area);
            if let Some(class) = self.class(node) {
                mark.rect(&class, area);
            }
            if wide >= WORDS {
                let words = fit(name, wide - 6.0);
                if words.chars().count() > 1 && width(&words) <= wide - 4.0 {
                    mark.text("", Anchor::Start, left + 3.0, top + 12.0, &words);
                }
            }
        });
        let mut x = left;
        for (name, called) in &node.called {
            self.boxes(name, called, (x, top), drawing);
            x += called.costs[1] * scale;
        }
    }
}

impl FlameNode {
    fn add(&mut self, frames: &mut dyn Iterator<Item = String>, costs: [f64; 2]) {
        let plus = |sum: &mut [f64; 2]| sum.iter_mut().zip(costs).for_each(|(sum, cost)| *sum += cost);
        plus(&mut self.costs);
        let Some(name) = frames.next() else {
            return plus(&mut self.own);
        };
        self.called.entry(name).or_default().add(frames, costs);
    }

    fn depth(&self, seen: f64) -> usize {
        let called = self.called.values().filter(|called| called.costs[1] >= seen);
        1 + called.map(|called| called.depth(seen)).max().unwrap_or(0)
    }

    fn functions<'n>(&'n self, own_name: &'n str, found: &mut Vec<(&'n str, [f64; 2])>) {
        if self.own.iter().any(|own| *own > 0.0) {
            match found.iter_mut().find(|(name, _)| *name == own_name) {
                Some((_, sum)) => sum.iter_mut().zip(self.own).for_each(|(sum, own)| *sum += own),
                None => found.push((own_name, self.own)),
            }
        }
        self.called.iter().for_each(|(name, called)| called.functions(name, found));
    }
}

impl Plot for Flame {
    fn draw(&self, width: f64) -> Drawing {
        let signs = self.baseline.as_ref().map(|name| {
            let meanings = [("c1", format!("more by itself than with {name}")), ("c0", "less".to_owned())];
            meanings.map(|(colour, meaning)| (LegendSign::Block(format!("fill {colour}")), meaning))
        });
        let (mut drawing, top) = legend(width, signs.as_ref().map_or(&[][..], |signs| &signs[..]));
        let bottom = top + HIGH * self.root.depth(SEEN * self.total() / width) as f64;
        if self.root.costs[1] > 0.0 {
            self.boxes(ALL, &self.root, (0.0, bottom), &mut drawing);
        }
        drawing.height = bottom + 4.0;
        let unit = self.quantity.title(0);
        remark(&mut drawing, &[format!("Width: {unit}; functions stand upon those that called them")]);
        drawing
    }

    fn table(&self) -> Table {
        let own = format!("by itself: {}", self.quantity.title(0));
        let mut functions = Vec::new();
        self.root.functions(ALL, &mut functions);
        functions.sort_by(|(_, one), (_, other)| other[1].total_cmp(&one[1]));
        let with = self.baseline.as_ref().map(|name| format!("with {name}"));
        let compared = with.as_deref().map(|with| [with, "difference"]);
        let head: Vec<&str> = ["function", &own].into_iter().chain(compared.into_iter().flatten()).collect();
        let row = |(name, [before, now]): (&str, [f64; 2])| {
            let numbers = [now, before, now - before].map(|cost| self.quantity.cell(Some(cost)));
            [Cell::from(name)].into_iter().chain(numbers).take(head.len()).collect()
        };
        Table::with_rows(&head, functions.into_iter().map(row))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn flame(stacks: &[(Vec<String>, f64, f64)]) -> Flame {
        let burning = |(frames, before, now): &(Vec<String>, f64, f64)| (frames.clone(), [*before, *now]);
        let quantity = Quantity::new("cost", "ns", |value| format!("{value:.1}"));
        Flame::new(quantity, Some("off".to_owned()), stacks.iter().map(burning))
    }

    proptest! {
        /// A box has what its stacks have: nothing is lost or counted twice.
        #[test]
        fn boxes_have_what_their_stacks_have(
            stacks in prop::collection::vec((prop::collection::vec("[a-c]", 0..6), 0.0..9.0f64, 0.0..9.0f64), 0..30),
        ) {
            let flame = flame(&stacks);
            let sum = |of: fn(&(Vec<String>, f64, f64)) -> f64| stacks.iter().map(of).sum::<f64>();
            prop_assert!((flame.root.costs[0] - sum(|stack| stack.1)).abs() < 1e-9);
            prop_assert!((flame.root.costs[1] - sum(|stack| stack.2)).abs() < 1e-9);
            fn check(node: &FlameNode) -> bool {
                let called = |side: usize| node.called.values().map(|called| called.costs[side]).sum::<f64>();
                let adds_up = |side: usize| (node.own[side] + called(side) - node.costs[side]).abs() < 1e-9;
                adds_up(0) && adds_up(1) && node.called.values().all(check)
            }
            prop_assert!(check(&flame.root));
            let mut functions = Vec::new();
            flame.root.functions(ALL, &mut functions);
            let own: f64 = functions.iter().map(|(_, own)| own[1]).sum();
            prop_assert!((own - flame.root.costs[1]).abs() < 1e-9);
            let drawing = flame.draw(400.0);
            prop_assert!(drawing.marks.right <= 400.5 && drawing.labels.iter().all(|(_, area)| area.right <= 400.5));
        }
    }
}
