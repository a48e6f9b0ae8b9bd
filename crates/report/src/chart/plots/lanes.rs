//! The way of a packet through the layers of a kernel.

use crate::cells;
use crate::chart::colour::heat_class;
use crate::chart::drawing::{Anchor, Drawing};
use crate::chart::figure::Plot;
use crate::chart::legend::{LegendSign, legend};
use crate::chart::measure::{self, LINE, wrap};
use crate::chart::path::{Area, SvgPath};
use crate::chart::plane::remark;
use crate::chart::quantity::Quantity;
use crate::document::{Cell, Table};

/// A flow chart: stages in the order in which a packet passes them, each in the lane of its layer,
/// with the cost of each way between them.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct LanePlot {
    pub quantity: Quantity,
    pub lanes: Vec<String>,
    /// The name of each stage, mostly a function, and the number of its lane, from 0.
    pub stages: Vec<(String, usize)>,
    pub arrows: Vec<Arrow>,
}

/// A way from one stage to another.
#[derive(Debug, Clone)]
pub struct Arrow {
    /// The numbers of both stages, from 0.
    pub ends: [usize; 2],
    /// The costs of the way; one for each size of message where the size matters.
    pub costs: Vec<ArrowCost>,
    /// The packet waits there until somebody takes it.
    pub waits: bool,
}

/// A cost.
#[derive(Debug, Clone)]
pub struct ArrowCost {
    /// The size of message that it holds for: `1400 bytes`; empty for any.
    pub name: String,
    /// The cost.
    pub value: f64,
    /// Its part of the whole, of 1: its colour, on one scale for all arrows.
    pub share: Option<f64>,
    /// The spread of single packets, in words; empty if unknown.
    pub spread: String,
}

const BOX: f64 = 24.0;
const GAP: f64 = 16.0;
// Drawings so wide have a column for each lane; in others lanes are steps to the right.
const COLUMNS: f64 = 600.0;
const STEP: f64 = 15.0;
// From the left edge of a box to the arrow that enters it, in px.
const ENTRY: f64 = 14.0;
// The width of a cost, in px.
const COST: f64 = 130.0;
// From the edge of a cost's block of colour to its words, in px.
const BLOCK: f64 = 14.0;

// The lower end of each step of the colour scale but the first, as a part of the whole.
const STEPS: [f64; 4] = [0.02, 0.05, 0.1, 0.2];

fn heat(share: f64) -> usize {
    STEPS.iter().filter(|step| share >= **step).count()
}

fn heats() -> Vec<(LegendSign, String)> {
    let percent = |step: usize| (STEPS[step] * 100.0).round();
    let meaning = |step: usize| match step {
        0 => format!("below {} % of the whole", percent(0)),
        last if last == STEPS.len() => format!("{} % and more", percent(last - 1)),
        step => format!("{} to {} %", percent(step - 1), percent(step)),
    };
    (0..=STEPS.len()).map(|step| (LegendSign::Block(heat_class("c1", step)), meaning(step))).collect()
}

impl LanePlot {
    fn costs(&self, arrow: &Arrow) -> Vec<String> {
        let cost = |cost: &ArrowCost| {
            let gap = if cost.name.is_empty() { "" } else { ": " };
            format!("{}{gap}{}", cost.name, self.quantity.text(cost.value))
        };
        arrow.costs.iter().map(cost).collect()
    }

    fn about(&self, arrow: &Arrow) -> String {
        let [from, to] = arrow.ends.map(|end| self.stages[end].0.as_str());
        let waits = if arrow.waits { ", waits" } else { "" };
        let told = self.costs(arrow).into_iter().zip(&arrow.costs).map(|(line, cost)| {
            let share = cost.share.map(|share| format!(", {:.1} %", 100.0 * share)).unwrap_or_default();
            let spread = if cost.spread.is_empty() { "" } else { ", " };
            format!("{line}{share}{spread}{}", cost.spread)
        });
        format!("{from} to {to}{waits}: {}", told.collect::<Vec<_>>().join("; "))
    }

    fn has_shares(&self) -> bool {
        self.arrows.iter().flat_map(|arrow| &arrow.costs).any(|cost| cost.share.is_some())
    }

    /// A drawing with signs, if narrow with the lanes' names, and the place where its chart begins.
    fn head(&self, width: f64) -> (Drawing, f64) {
        let mut signs = if self.has_shares() { heats() } else { Vec::new() };
        if self.arrows.iter().any(|arrow| arrow.waits) {
            let sign = LegendSign::Line("thin soft dashed".to_owned());
            signs.push((sign, "waits until it is taken".to_owned()));
        }
        let (mut drawing, y) = legend(width, &signs);
        if width >= COLUMNS {
            return (drawing, y + LINE + 4.0);
        }
        let names = format!("From left to right: {}", self.lanes.join(", "));
        let names = drawing.paragraph("muted", Anchor::Start, (0.0, y + 11.0), &names, width);
        (drawing, y + names + 8.0)
    }

    /// The arrows that do not simply go down to the next stage: each has a track of its own.
    fn detours(&self) -> Vec<&Arrow> {
        self.arrows.iter().filter(|arrow| arrow.ends[1] != arrow.ends[0] + 1).collect()
    }

    /// Returns the width of the tracks, the places of the stages, and the lower edge.
    fn stages(&self, drawing: &mut Drawing, top: f64) -> (f64, Vec<Area>, f64) {
        let width = drawing.width;
        let gutter = (self.detours().len() as f64 * 8.0 + 4.0).min(width / 4.0);
        let lane = step(width, gutter, self.lanes.len());
        let mut y = top + 6.0;
        let mut places: Vec<Area> = Vec::new();
        let block = if self.has_shares() { BLOCK } else { 0.0 };
        for (number, (name, in_lane)) in self.stages.iter().enumerate() {
            let left = gutter + 4.0 + *in_lane as f64 * lane;
            let left = left.min(width - (measure::width(name) + 12.0).min(width / 2.0));
            let straight = places.last().map_or(left + ENTRY, |last| bend(last, left + ENTRY));
            let (anchor, from, room) = place_of_costs(straight, straight.max(left + ENTRY), gutter, width);
            if number > 0 {
                y += GAP / 2.0;
            }
            for arrow in self.arrows.iter().filter(|arrow| arrow.ends[1] == number) {
                let mut lines = Vec::new();
                if arrow.ends[0] + 1 != number {
                    let origin = format!("from {}:", self.stages[arrow.ends[0]].0);
                    lines.extend(wrap(&origin, room - block, 3).into_iter().map(|line| (None, line)));
                }
                for (told, cost) in self.costs(arrow).into_iter().zip(&arrow.costs) {
                    let first = cost.share.map(heat).into_iter().map(Some).chain(std::iter::repeat(None));
                    lines.extend(first.zip(wrap(&told, room - block, 3)));
                }
                drawing.hint(&self.about(arrow), |hint| self.label(hint, anchor, (from, y + 11.0), &lines));
                y += lines.len() as f64 * LINE;
            }
            y += GAP / 2.0;
            let lines = wrap(name, width - left - 12.0, 2);
            let wide = lines.iter().map(|line| measure::width(line)).fold(20.0, f64::max) + 12.0;
            let high = BOX + (lines.len() - 1) as f64 * LINE;
            let area = Area { left, top: y, right: left + wide, bottom: y + high };
            drawing.mark(&format!("{name}, {}", self.lanes[*in_lane]), |mark| {
                mark.rect("box", area);
                mark.lines("", Anchor::Start, left + 6.0, y + 16.0, &lines);
            });
            places.push(area);
            y += high;
        }
        (gutter, places, y + GAP / 2.0)
    }

    fn arrows(&self, drawing: &mut Drawing, places: &[Area]) {
        let detours = self.detours();
        for arrow in &self.arrows {
            let [from, to] = arrow.ends.map(|end| &places[end]);
            let class = if arrow.waits { "thin soft dashed" } else { "thin soft" };
            let track = detours.iter().position(|other| std::ptr::eq(*other, arrow));
            drawing.mark(&self.about(arrow), |mark| {
                let mut path = SvgPath::new();
                let mut head = SvgPath::new();
                if let Some(track) = track {
                    let x = (track as f64).mul_add(8.0, 4.0).min(mark.width / 4.0 - 2.0);
                    let (start, end) = (from.top + 6.0, to.top + 16.0);
                    path.to(from.left, start).to(x, start).to(x, end).to(to.left, end);
                    head.to(to.left - 6.0, end - 4.0).to(to.left, end).to(to.left - 6.0, end + 4.0);
                } else {
                    // Straight down where that meets the next box, else around the corner.
                    let (to_x, x) = (entry(to), bend(from, entry(to)));
                    let corner = to.top - GAP / 2.0;
                    path.to(x, from.bottom);
                    if (x - to_x).abs() > 1.0 {
                        path.to(x, corner).to(to_x, corner);
                    }
                    path.to(to_x, to.top);
                    head.to(to_x - 4.0, to.top - 6.0).to(to_x, to.top).to(to_x + 4.0, to.top - 6.0);
                }
                mark.path(class, &path);
                mark.path("thin soft", &head);
            });
        }
    }

    /// Costs, each line with the step of the colour scale in front of it, if it has one.
    fn label(
        &self,
        hint: &mut Drawing,
        anchor: Anchor,
        (x, mut y): (f64, f64),
        lines: &[(Option<usize>, String)],
    ) {
        let block = if self.has_shares() { BLOCK } else { 0.0 };
        // From the arrow away.
        let away = if anchor == Anchor::End { -1.0 } else { 1.0 };
        for (heat, line) in lines {
            if let Some(heat) = heat {
                let (near, far) = (x, x + away * 9.0);
                let area = Area { left: near.min(far), top: y - 9.0, right: near.max(far), bottom: y };
                hint.rect(&heat_class("c1", *heat), area);
            }
            hint.text("muted", anchor, x + away * block, y, line);
            y += LINE;
        }
    }
}

fn entry(stage: &Area) -> f64 {
    stage.left + ENTRY
}

/// The horizontal place where a way from a box to `x` leaves downwards.
fn bend(stage: &Area, x: f64) -> f64 {
    x.clamp(entry(stage), (stage.right - 6.0).max(entry(stage)))
}

impl Plot for LanePlot {
    fn draw(&self, width: f64) -> Drawing {
        let (mut drawing, top) = self.head(width);
        let (gutter, places, bottom) = self.stages(&mut drawing, top);
        let step = step(width, gutter, self.lanes.len());
        for (number, lane) in self.lanes.iter().enumerate() {
            let x = gutter + number as f64 * step;
            let class = if width >= COLUMNS { "grid" } else { "grid dotted" };
            drawing.behind(|back| back.line(class, (x, top), (x, bottom)));
            if width >= COLUMNS {
                let name = measure::fit(lane, step - 8.0);
                drawing.text_if_free("muted", Anchor::Start, x + 4.0, top - 4.0, &name);
            }
        }
        self.arrows(&mut drawing, &places);
        drawing.height = bottom + 4.0;
        let unit = (!self.arrows.is_empty()).then(|| format!("At each arrow: {}", self.quantity.title(0)));
        remark(&mut drawing, unit.as_slice());
        drawing
    }

    fn table(&self) -> Table {
        let costs = self.arrows.iter().flat_map(|arrow| arrow.costs.iter().map(move |cost| (arrow, cost)));
        let row = |(arrow, cost): (&Arrow, &ArrowCost)| {
            let [from, to] = arrow.ends.map(|end| &self.stages[end].0);
            let share = cost.share.map_or(Cell::EMPTY, |share| Cell::fixed(100.0 * share, 1));
            let waits = if arrow.waits { "yes" } else { "no" };
            cells![from, to, waits, &cost.name, self.quantity.cell(Some(cost.value)), share, &cost.spread]
        };
        let head = ["from", "to", "waits", "for", &self.quantity.title(0), "% of the whole", "spread"];
        Table::with_rows(head, costs.map(row))
    }
}

fn step(width: f64, gutter: f64, lanes: usize) -> f64 {
    if width < COLUMNS { STEP } else { (width - gutter) / lanes.max(1) as f64 }
}

/// The place of costs, and their room: right of the arrow and of the stage that it enters.
fn place_of_costs(arrow: f64, right: f64, gutter: f64, width: f64) -> (Anchor, f64, f64) {
    let behind = |x: f64| (Anchor::Start, x + 12.0, width - x - 12.0);
    let before = (Anchor::End, arrow - 8.0, arrow - 8.0 - gutter);
    // Too near to the edge they are on the wider side of the line that goes down.
    [behind(right), before, behind(arrow)]
        .into_iter()
        .find(|(_, _, room)| *room >= COST)
        .unwrap_or(if behind(arrow).2 > before.2 { behind(arrow) } else { before })
}
