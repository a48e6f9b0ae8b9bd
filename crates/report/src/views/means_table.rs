//! Tables of means: the main metrics of a workload, and the kernel's counters.

use results::{ConditionResult, Results, figure, percent};
use stats::fixed;
use study::Kind;
use study::metric::{
    self, CPU_SOFTIRQ, CPU_SYSTEM, CPU_USER, METRICS, Metric, SERVICE_DEMAND_BYTE, SERVICE_DEMAND_PACKET,
    SERVICE_DEMAND_TRANSACTION, UnitOfWork,
};

use crate::document::{Cell, Table};

/// A column of means: of one metric, or of several that share its cells.
pub(super) struct MetricColumn {
    head: &'static str,
    unit: &'static str,
    metrics: &'static [Metric],
    show: fn(f64) -> String,
}

pub(super) const fn column(
    head: &'static str,
    unit: &'static str,
    metrics: &'static [Metric],
) -> MetricColumn {
    MetricColumn { head, unit, metrics, show: figure }
}

pub(super) const LOSS: MetricColumn = MetricColumn { show: percent, ..column("loss", "%", &[metric::LOSS]) };

const fn cpu(head: &'static str, metrics: &'static [Metric]) -> MetricColumn {
    MetricColumn { show: |value| fixed(value, 0), ..column(head, "user/system/softirq", metrics) }
}

// A table has the columns whose first metric its traffic yields.
const COLUMNS: [MetricColumn; 13] = [
    column("throughput", "Mbit/s", &[metric::THROUGHPUT]),
    column("packets", "1/s", &[metric::PACKETS]),
    column("transactions", "1/s", &[metric::TRANSACTIONS]),
    column("p50", "ns", &[metric::LATENCY_P50]),
    column("p99", "ns", &[metric::LATENCY_P99]),
    column("p99.9", "ns", &[metric::LATENCY_P99_9]),
    column("p99.99", "ns", &[metric::LATENCY_P99_99]),
    LOSS,
    cpu("transmitter CPU %", &[CPU_USER.transmitter, CPU_SYSTEM.transmitter, CPU_SOFTIRQ.transmitter]),
    cpu("receiver CPU %", &[CPU_USER.receiver, CPU_SYSTEM.receiver, CPU_SOFTIRQ.receiver]),
    column("CPU ns/byte", "tx / rx", &[SERVICE_DEMAND_BYTE.transmitter, SERVICE_DEMAND_BYTE.receiver]),
    column("CPU ns/packet", "tx / rx", &[SERVICE_DEMAND_PACKET.transmitter, SERVICE_DEMAND_PACKET.receiver]),
    column(
        "CPU ns/transaction",
        "tx / rx",
        &[SERVICE_DEMAND_TRANSACTION.transmitter, SERVICE_DEMAND_TRANSACTION.receiver],
    ),
];

/// The main metrics of these conditions of a workload.
pub(super) fn means_table(results: &Results, conditions: &[&ConditionResult]) -> Table {
    let (kind, exact) = (conditions[0].kind, results.stored.plan.exact);
    let is_produced = |column: &&MetricColumn| kind.produces(column.metrics[0]);
    let counted = if exact { counted(kind) } else { Vec::new() };
    let columns = if exact { counted.iter().collect() } else { COLUMNS.iter().filter(is_produced).collect() };
    let title = format!("{}: means", conditions[0].workload);
    means(conditions.iter().copied(), columns).titled(title).noted(results.truth.map(str::to_owned))
}

pub(super) fn means<'c>(
    conditions: impl Iterator<Item = &'c ConditionResult>,
    columns: Vec<&MetricColumn>,
) -> Table {
    let heads = ["condition"].into_iter().chain(columns.iter().map(|own| own.head));
    let units = [""].into_iter().chain(columns.iter().map(|own| own.unit));
    let row = |condition: &ConditionResult| {
        let cell = |column: &&MetricColumn| {
            let mean = |metric: &Metric| condition.mean(*metric).map(column.show);
            let means = column.metrics.iter().map(|metric| mean(metric).unwrap_or_else(|| "-".to_owned()));
            Cell::Number(means.collect::<Vec<_>>().join(" / "))
        };
        [Cell::from(&condition.label)].into_iter().chain(columns.iter().map(cell)).collect()
    };
    Table::with_rows(heads, conditions.map(row)).units(units)
}

fn counted(kind: Kind) -> Vec<MetricColumn> {
    let UnitOfWork { word, instructions, .. } = kind.counted_work();
    let column = |(head, metric): (&'static str, Metric)| {
        let metric = METRICS.iter().find(|one| **one == metric)?;
        Some(column(head, word, std::slice::from_ref(metric)))
    };
    let parts = [
        ("instructions per", instructions.all),
        ("of programs, per", instructions.user),
        ("of the kernel, per", instructions.kernel),
        ("of it in softirqs, per", instructions.softirq),
    ];
    parts.into_iter().filter_map(column).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_metrics_and_each_traffic_has_its_main_one() {
        for column in &COLUMNS {
            let metrics = column.metrics;
            assert!(metrics.len() > 1 || metrics[0].unit == column.unit, "{}", column.head);
        }
        for kind in Kind::ALL {
            let is_main = |column: &MetricColumn| column.metrics == [kind.primary_metric()];
            assert!(COLUMNS.iter().any(is_main), "{kind}");
        }
    }
}
