//! A metric over stored studies, as a chart.

use results::chart::{Figure, HistoryLevel, HistoryPlot, HistoryPoint, Id, Interval, Panel, Quantity};
use results::{HistorySeries, capital};

use super::words::paragraph;

/// The figure of a history, a panel for each series; none if nothing can be drawn.
#[must_use]
pub fn history(found: &results::StudyHistory) -> Option<Figure> {
    let panel = |series: &HistorySeries| Some(Panel::new(series.title(), plot(found, series)?));
    let mut panels: Vec<Panel> = found.series().iter().filter_map(panel).collect();
    let described = found.series().iter().flat_map(HistorySeries::sentences).map(|words| capital(&words));
    let one =
        if let [only] = panels.as_mut_slice() { std::mem::take(&mut only.title) } else { String::new() };
    let title = match one.as_str() {
        "" => format!("History of {}", found.name()),
        one => format!("History of {}, {one}", found.name()),
    };
    (!panels.is_empty()).then(|| Figure {
        id: Id::new("history"),
        title,
        description: paragraph(described),
        panels,
    })
}

/// The plot of a series; none without a point.
fn plot(found: &results::StudyHistory, series: &HistorySeries) -> Option<HistoryPlot> {
    let (name, unit) = series.quantity();
    let points = series.points().enumerate().map(|(place, (label, mean, interval))| {
        // Without an interval the point is all there is.
        let value = Interval::new(mean, interval.or(Some((mean, mean))));
        HistoryPoint { name: label.to_owned(), value, note: found.marks(series, place) }
    });
    let points: Vec<HistoryPoint> = points.collect();
    let level = |(first, value, change): (usize, f64, String)| HistoryLevel { first, value, change };
    let levels = series.levels().map(level).collect();
    (!points.is_empty()).then(|| HistoryPlot {
        tags: found.ordered().to_owned(),
        quantity: Quantity::new(&name, unit, results::figure),
        interval: format!("{} % interval", stats::confidence(series.confidence())),
        points,
        levels,
    })
}
