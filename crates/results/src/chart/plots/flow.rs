//! Flow plots: the way from sender to reader, and the losses at each place.

use crate::chart::area::Area;
use crate::chart::axis::Scale;
use crate::chart::drawing::Drawing;
use crate::chart::figure::Plot;
use crate::chart::finite::Finite;
use crate::chart::frame::Frame;
use crate::chart::legend::{LegendSign, legend};
use crate::chart::path::SvgPath;
use crate::chart::quantity::Quantity;
use crate::chart::table::{FigureCell, FigureTable};

/// Packets from place to place.
#[derive(Debug, Clone)]
pub struct FlowPlot {
    /// The counted quantity: `packets`.
    pub quantity: Quantity,
    /// The writer of percentages.
    pub percent: fn(f64) -> String,
    /// In the order in which the packets pass them, the sender first.
    pub passages: Vec<FlowPlace>,
}

/// A place that packets pass.
#[derive(Debug, Clone)]
pub struct FlowPlace {
    /// Its name.
    pub name: String,
    /// The count that arrived there.
    pub arrived: Finite,
    /// The reason why the rest did not arrive from the place before: `dropped by the qdisc`.
    pub lost: String,
}

const HEIGHT: f64 = 20.0;
// A loss is drawn at least this wide, in px.
const SEEN: f64 = 2.0;

impl FlowPlot {
    /// The losses on the way to each place: their count, and their share of all that was sent, in
    /// %.
    fn losses(&self) -> Vec<Option<(Finite, Finite)>> {
        let sent = self.passages.first().map_or(0.0, |first| first.arrived.value());
        let before = self.passages.iter().map(|passage| passage.arrived.value());
        let lost = before.zip(self.passages.iter().skip(1)).map(|(before, passage)| {
            let lost = Finite::new(before - passage.arrived.value()).filter(|lost| lost.value() > 0.0)?;
            Some((lost, Finite::new(100.0 * lost.value() / sent)?))
        });
        std::iter::once(None).chain(lost).take(self.passages.len()).collect()
    }

    fn words(&self, passage: &FlowPlace, loss: Option<(Finite, Finite)>) -> String {
        let arrived = format!("{} {}", self.quantity.plain(passage.arrived), self.quantity.name);
        let Some((lost, share)) = loss else { return arrived };
        let share = (self.percent)(share.value());
        format!("{arrived}; {} lost ({share} %): {}", self.quantity.plain(lost), passage.lost)
    }
}

impl Plot for FlowPlot {
    fn draw(&self, width: f64) -> Drawing {
        let mut drawing = Drawing::new(width);
        let losses = self.losses();
        let mut signs = vec![(LegendSign::Block("c0"), "arrived".to_owned())];
        if losses.iter().any(Option::is_some) {
            signs.push((LegendSign::Block("c1"), "lost before".to_owned()));
        }
        let top = legend(&mut drawing, 0.0, &signs);
        let rows = || self.passages.iter().zip(&losses);
        let names = self.passages.iter().map(|passage| passage.name.as_str());
        let values = rows().map(|(passage, loss)| self.words(passage, *loss));
        let mut frame = Frame::new(width, top, names, values, [0.0, 0.0]);
        let arrived = self.passages.iter().map(|passage| passage.arrived);
        let axis = frame.axis(Scale::FromZero, arrived, &self.quantity);
        let zero = frame.x(&axis, Finite::ZERO);
        let mut before: Option<(f64, f64)> = None;
        for (passage, loss) in rows() {
            let words = self.words(passage, *loss);
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

    fn table(&self) -> FigureTable {
        let quantity = self.quantity.title(0);
        let mut table = FigureTable::new(&["place", &quantity, "lost before", "% of sent", "how"]);
        for (passage, loss) in self.passages.iter().zip(self.losses()) {
            table.row([
                FigureCell::text(&passage.name),
                FigureCell::number(Some(passage.arrived), |value| self.quantity.plain(value)),
                FigureCell::number(loss.map(|loss| loss.0), |value| self.quantity.plain(value)),
                FigureCell::number(loss.map(|loss| loss.1), |share| (self.percent)(share.value())),
                FigureCell::text(if loss.is_some() { &passage.lost } else { "" }),
            ]);
        }
        table
    }
}
