//! Two axes: values upwards, time or another quantity across.

use crate::chart::axis::{Axis, AxisRoom};
use crate::chart::drawing::{Anchor, Drawing};
use crate::chart::measure::{self, LINE, fit, width};
use crate::chart::path::SvgPath;
use crate::chart::quantity::Quantity;

// The height of the plot, in px.
const HEIGHT: f64 = 240.0;
// Between the labels of the values and the plot, in px.
const GAP: f64 = 10.0;
// The room that a mark at an edge needs beyond it, in px.
const INSET: f64 = 6.0;

#[derive(Debug)]
pub(crate) struct Plane {
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    left: f64,
    pub(crate) right: f64,
    pub(crate) top: f64,
    bottom: f64,
    pub(crate) foot: f64,
}

impl Plane {
    /// The room of the axis upwards.
    pub(crate) const UP: AxisRoom = AxisRoom::Up(HEIGHT - 2.0 * INSET);

    /// Begins at `top`; the plot ends before the right edge. Vertical lines have meanings above.
    pub(crate) fn new(
        drawing: &mut Drawing,
        top: f64,
        (across, x): (&Quantity, impl FnOnce(AxisRoom) -> Axis),
        (up, y): (&Quantity, Axis),
        right: f64,
        flags: &[(f64, String)],
    ) -> Self {
        let (name, room) = (up.title(y.factor), drawing.width);
        let above = top + drawing.paragraph("muted", Anchor::Start, (0.0, top + 11.0), &name, room);
        let top = above + 8.0;
        let widest = y.ticks.iter().map(|(_, label)| width(label)).fold(0.0, f64::max);
        let (left, right) = (widest + GAP + INSET, drawing.width - right - INSET - 4.0);
        // The labels of the values upwards decide how much room is left for the axis across.
        let x = x(AxisRoom::Across(right - left));
        let rows =
            rows(drawing.width, flags.iter().map(|flag| (left + x.place(flag.0) * (right - left), &flag.1)));
        let lines = rows.iter().filter_map(|(.., line, _)| *line);
        let top = top + lines.fold(0.0, |most, line| f64::max(most, line + LINE));
        let plane = Self { x, y, left, right, top, bottom: top + HEIGHT, foot: top + HEIGHT + INSET };
        plane.grid(drawing, widest, across);
        for ((x, left, line, text), (_, meaning)) in rows.iter().zip(flags) {
            let from = line.map_or(plane.top, |line| above + line + 2.0);
            drawing.behind(|back| {
                back.hint(meaning, |hint| hint.line("thin soft dashed", (*x, from), (*x, plane.foot)));
            });
            if line.is_some() {
                drawing.text("muted", Anchor::Start, *left, from + 9.0, text);
            }
        }
        plane
    }

    fn grid(&self, drawing: &mut Drawing, widest: f64, across: &Quantity) {
        let mut lines = SvgPath::new();
        for (at, label) in &self.y.ticks {
            let y = self.bottom - at * (self.bottom - self.top);
            lines.from(self.left, y).to(self.right, y);
            drawing.text_if_free("muted", Anchor::End, widest, y + 4.0, label);
        }
        drawing.behind(|back| back.path("grid", &lines));
        let mut axis = SvgPath::new();
        for (at, label) in &self.x.ticks {
            let x = self.left + at * (self.right - self.left);
            axis.from(x, self.foot).to(x, self.foot + 4.0);
            drawing.tick_label(x, self.foot + 17.0, label);
        }
        axis.from(self.left, self.foot).to(self.right, self.foot);
        drawing.path("axis", &axis);
        let (name, place) = (across.title(self.x.factor), (self.right, self.foot + 34.0));
        let height = drawing.paragraph("muted", Anchor::End, place, &name, self.right);
        drawing.height = self.foot + 24.0 + height + 6.0;
    }

    pub(crate) fn place(&self, x: f64, y: f64) -> (f64, f64) {
        let (right, up) = (self.x.place(x), self.y.place(y));
        (self.left + right * (self.right - self.left), self.bottom - up * (self.bottom - self.top))
    }
}

/// Where a line across the axis is, where its meaning begins, the offset of the meaning below the
/// first of them, `None` where there is no room, and the meaning.
type AxisNote = (f64, f64, Option<f64>, String);

/// Meanings in as few lines as they need, at most six.
fn rows<'a>(width: f64, flags: impl Iterator<Item = (f64, &'a String)>) -> Vec<AxisNote> {
    let mut ends = [f64::MIN; 6];
    let row = |(x, meaning): (f64, &String)| {
        let text = fit(meaning, width * 0.7);
        let room = measure::width(&text);
        let left = (x + 4.0).min(width - room);
        let line = ends.iter().position(|end| *end + GAP <= left);
        // Without room in any line the meaning is left out; a pointer on the line shows it.
        if let Some(line) = line {
            ends[line] = left + room;
        }
        (x, left, line.map(|line| line as f64 * LINE), text)
    };
    flags.map(row).collect()
}

pub(crate) fn remark(drawing: &mut Drawing, remarks: &[String]) {
    for text in remarks {
        let place = (0.0, drawing.height + 11.0);
        drawing.height += 6.0 + drawing.paragraph("muted", Anchor::Start, place, text, drawing.width);
    }
}
