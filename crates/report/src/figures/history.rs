//! A metric over stored studies, as a chart.

use crate::chart::{Figure, HistoryPlot, Id, Interval, Panel, Quantity};
use results::{HistorySeries, capital};

use super::words::paragraph;

/// The figure of a history, a panel for each series; none if nothing can be drawn.
pub fn history(found: &results::StudyHistory) -> Option<Figure> {
    let panel = |series: &HistorySeries| Some(Panel::new(series.title(), plot(found, series)?));
    let mut panels: Vec<Panel> = found.series.iter().filter_map(panel).collect();
    let described = found.series.iter().flat_map(HistorySeries::sentences).map(|words| capital(&words));
    let mut title = format!("History of {}", found.name);
    if let [only] = panels.as_mut_slice() {
        title.push_str(&format!(", {}", std::mem::take(&mut only.title)));
    }
    let (id, description) = (Id::new("history"), paragraph(described));
    (!panels.is_empty()).then_some(Figure { id, title, description, panels })
}

fn plot(found: &results::StudyHistory, series: &HistorySeries) -> Option<HistoryPlot> {
    let (name, unit) = series.quantity();
    let points = series.points.iter().map(|point| {
        // Without an interval the point is all there is.
        let value = Interval::new(point.mean, point.interval.or(Some((point.mean, point.mean))));
        (point.label.clone(), value)
    });
    let points: Vec<(String, Interval)> = points.collect();
    let changes = series.changes.iter().map(|change| {
        let confidence = change.confidence.map(|one| format!(", confidence {} %", stats::confidence(one)));
        format!("{}{}", change.size, confidence.unwrap_or_default())
    });
    let levels = series.levels.iter().copied().zip([String::new()].into_iter().chain(changes)).collect();
    (!points.is_empty()).then(|| HistoryPlot {
        tags: format!("studies by {}", found.order),
        quantity: Quantity::new(&name, unit, results::figure),
        interval: format!("{} % interval", stats::confidence(series.confidence)),
        points,
        levels,
    })
}
