//! Flow plots: the way from sender to reader, and the losses at each place.

use crate::Table;
use crate::chart::axis::Scale;
use crate::chart::drawing::Drawing;
use crate::chart::figure::Plot;
use crate::chart::frame::Frame;
use crate::chart::legend::{LegendSign, legend};
use crate::chart::path::{Area, SvgPath};
use crate::chart::quantity::Quantity;
use crate::chart::table::figure_table;
use results::percent;

/// Packets from place to place.
#[derive(Debug, Clone)]
pub struct FlowPlot {
    /// The counted quantity: `packets`.
    pub quantity: Quantity,
    /// In the order in which the packets pass them, the sender first.
    pub passages: Vec<FlowPlace>,
}

/// A place that packets pass.
#[derive(Debug, Clone)]
pub struct FlowPlace {
    /// Its name.
    pub name: String,
    /// The count that arrived there.
    pub arrived: f64,
    /// The reason why the rest did not arrive from the place before: `dropped by the qdisc`.
    pub lost: String,
}

const HEIGHT: f64 = 20.0;
// A loss is drawn at least this wide, in px.
const SEEN: f64 = 2.0;

impl FlowPlot {
    /// The places, each with the loss on the way to it: the count, and the share of all that was
    /// sent, in %.
    fn places(&self) -> impl Iterator<Item = (&FlowPlace, Option<(f64, f64)>)> {
        let arrived = self.passages.iter().map(|passage| passage.arrived);
        let sent = self.passages.first().map_or(0.0, |first| first.arrived);
        let before = std::iter::once(sent).chain(arrived);
        self.passages.iter().zip(before).map(move |(passage, before)| {
            let lost = before - passage.arrived;
            (passage, (lost > 0.0).then_some((lost, 100.0 * (lost / sent))))
        })
    }

    fn words(&self, passage: &FlowPlace, loss: Option<(f64, f64)>) -> String {
        let show = self.quantity.show;
        let arrived = format!("{} {}", show(passage.arrived), self.quantity.name);
        let Some((lost, share)) = loss else { return arrived };
        format!("{arrived}; {} lost ({} %): {}", show(lost), percent(share), passage.lost)
    }
}

impl Plot for FlowPlot {
    fn draw(&self, width: f64) -> Drawing {
        let mut drawing = Drawing::new(width);
        let mut signs = vec![(LegendSign::Block("c0"), "arrived".to_owned())];
        if self.places().any(|(_, loss)| loss.is_some()) {
            signs.push((LegendSign::Block("c1"), "lost before".to_owned()));
        }
        let top = legend(&mut drawing, 0.0, &signs);
        let names = self.passages.iter().map(|passage| passage.name.as_str());
        let values = self.places().map(|(passage, loss)| self.words(passage, loss));
        let mut frame = Frame::new(width, top, names, values, [0.0, 0.0]);
        let arrived = self.passages.iter().map(|passage| passage.arrived);
        let axis = frame.axis(Scale::FromZero, arrived, &self.quantity);
        let zero = frame.x(&axis, 0.0);
        let mut before: Option<(f64, f64)> = None;
        for (passage, loss) in self.places() {
            let words = self.words(passage, loss);
            let y = frame.row(&mut drawing, &passage.name, &words, HEIGHT);
            let x = frame.x(&axis, passage.arrived);
            if let Some((end, bottom)) = before.filter(|_| drawing.width >= 600.0) {
                let mut stream = SvgPath::new();
                stream.to(zero, bottom).to(end, bottom).to(x, y).to(zero, y);
                stream.close();
                drawing.path("tint c0", &stream);
            }
            drawing.mark(&format!("{}: {words}", passage.name), |mark| {
                let bar = |left, right| Area { left, top: y, right, bottom: y + HEIGHT };
                let from = before.map_or(x, |before| before.0).max(x + SEEN);
                let from = if loss.is_some() { from } else { x };
                if x > zero {
                    mark.rect("fill c0", bar(zero, x));
                }
                if loss.is_some() {
                    mark.rect("fill c1", bar(x, from));
                }
            });
            before = Some((x, y + HEIGHT));
        }
        frame.close(&mut drawing, &axis, &self.quantity, true, &[]);
        drawing
    }

    fn table(&self) -> Table {
        let row = |(passage, loss): (&FlowPlace, Option<(f64, f64)>)| {
            vec![
                passage.name.clone(),
                self.quantity.cell(Some(passage.arrived)),
                self.quantity.cell(loss.map(|loss| loss.0)),
                loss.map_or_else(String::new, |loss| percent(loss.1)),
                loss.map_or_else(String::new, |_| passage.lost.clone()),
            ]
        };
        let head = ["place", &self.quantity.title(0), "lost before", "% of sent", "how"];
        figure_table(&head, self.places().map(row))
    }
}
