//! Latency: by percentile, as histograms, and against offered load where that was varied.

use crate::document::{Cell, Table};
use study::metric::{self, Metric};

use super::Ids;
use super::histogram;
use super::offered;
use super::view::{MeasuredWorkload, StudyView};
use super::words::choice;
use crate::page::FigureSection;

pub(super) fn section(views: &[StudyView<'_>], ids: &mut Ids, section: &mut FigureSection) {
    let mut has_load = false;
    for view in views {
        for workload in &view.workloads {
            let against_load = offered::figure(view, workload, ids);
            has_load |= against_load.is_some();
            section.figures.extend(against_load);
            section.tables.extend(percentiles(view, workload));
            section.figures.extend(histogram::figure(view, workload, ids));
        }
    }
    section.about.extend(histogram::about(views));
    section.about.extend(has_load.then(|| offered::KNEE.to_owned()));
    section.about.extend(choice(views));
}

fn percentiles(view: &StudyView<'_>, workload: &MeasuredWorkload<'_>) -> Option<Table> {
    const COLUMNS: [(&str, Metric); 7] = [
        ("mean", metric::LATENCY_MEAN),
        ("50 %", metric::LATENCY_P50),
        ("90 %", metric::LATENCY_P90),
        ("99 %", metric::LATENCY_P99),
        ("99.9 %", metric::LATENCY_P99_9),
        ("99.99 %", metric::LATENCY_P99_99),
        ("max", metric::LATENCY_MAX),
    ];
    let row = |index: &usize| {
        let own = view.condition(*index)?;
        let values = COLUMNS.map(|(_, metric)| own.mean(metric));
        let cells = values.map(Cell::from);
        let is_any = values.iter().any(Option::is_some);
        is_any.then(|| [Cell::from(&own.label)].into_iter().chain(cells).collect())
    };
    let heads = ["condition"].into_iter().chain(COLUMNS.map(|(head, _)| head));
    let table = Table::with_rows(heads, workload.conditions.iter().filter_map(row));
    table.titled(view.titled(&format!("{}: latency by percentile, ns", workload.name))).filled()
}
