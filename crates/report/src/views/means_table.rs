//! Tables of means: the main metrics of a workload, and the kernel's counters.

use results::{ConditionResult, figure, percent};
use stats::fixed;
use study::Kind;

use crate::document::{Cell, Table};

/// A column of means: of one metric, or of several that share its cells.
pub(super) struct MetricColumn {
    head: &'static str,
    unit: &'static str,
    metrics: &'static [&'static str],
    show: fn(f64) -> String,
}

pub(super) const fn column(
    head: &'static str,
    unit: &'static str,
    metrics: &'static [&'static str],
) -> MetricColumn {
    MetricColumn { head, unit, metrics, show: figure }
}

pub(super) const LOSS: MetricColumn = MetricColumn { show: percent, ..column("loss", "%", &["loss"]) };

const fn cpu(head: &'static str, metrics: &'static [&'static str]) -> MetricColumn {
    MetricColumn { show: |value| fixed(value, 0), ..column(head, "user/system/softirq", metrics) }
}

// A table has the columns whose first metric its traffic yields.
const COLUMNS: [MetricColumn; 13] = [
    column("throughput", "Mbit/s", &["throughput"]),
    column("packets", "1/s", &["packets"]),
    column("transactions", "1/s", &["transactions"]),
    column("p50", "ns", &["latency_p50"]),
    column("p99", "ns", &["latency_p99"]),
    column("p99.9", "ns", &["latency_p99_9"]),
    column("p99.99", "ns", &["latency_p99_99"]),
    LOSS,
    cpu("transmitter CPU %", &["transmitter.cpu_user", "transmitter.cpu_system", "transmitter.cpu_softirq"]),
    cpu("receiver CPU %", &["receiver.cpu_user", "receiver.cpu_system", "receiver.cpu_softirq"]),
    column("CPU ns/byte", "tx / rx", &["transmitter.service_demand_byte", "receiver.service_demand_byte"]),
    column(
        "CPU ns/packet",
        "tx / rx",
        &["transmitter.service_demand_packet", "receiver.service_demand_packet"],
    ),
    column(
        "CPU ns/transaction",
        "tx / rx",
        &["transmitter.service_demand_transaction", "receiver.service_demand_transaction"],
    ),
];

/// The main metrics of a workload. `truth`: the kind of its figures.
pub(super) fn means_table(
    conditions: &[&ConditionResult],
    exact: bool,
    truth: Option<&'static str>,
) -> Table {
    let kind = conditions[0].kind;
    let own = |column: &&MetricColumn| {
        study::metric::find(column.metrics[0]).is_some_and(|metric| kind.produces(metric))
    };
    let counted = if exact { counted(kind) } else { Vec::new() };
    let columns = if exact { counted.iter().collect() } else { COLUMNS.iter().filter(own).collect() };
    let title = format!("{}: means", conditions[0].workload);
    means(conditions.iter().copied(), columns).titled(title).noted(truth.map(str::to_owned))
}

/// A row for each condition.
pub(super) fn means<'c>(
    conditions: impl Iterator<Item = &'c ConditionResult>,
    columns: Vec<&MetricColumn>,
) -> Table {
    let heads = ["condition"].into_iter().chain(columns.iter().map(|own| own.head));
    let units = [""].into_iter().chain(columns.iter().map(|own| own.unit));
    let row = |condition: &ConditionResult| {
        let cell = |column: &&MetricColumn| {
            let mean = |metric: &&str| condition.means.get(*metric).map(|mean| (column.show)(*mean));
            let means = column.metrics.iter().map(|metric| mean(metric).unwrap_or_else(|| "-".to_owned()));
            Cell::Number(means.collect::<Vec<_>>().join(" / "))
        };
        [Cell::from(&condition.label)].into_iter().chain(columns.iter().map(cell)).collect()
    };
    Table::with_rows(heads, conditions.map(row)).units(units)
}

/// The columns of counted instructions.
fn counted(kind: Kind) -> Vec<MetricColumn> {
    let per = kind.counted_work();
    let column = |(head, part): (&'static str, &str)| {
        let metric = study::metric::find(&format!("{part}instructions_{per}"))?;
        Some(column(head, per, std::slice::from_ref(&metric.key)))
    };
    let parts = [
        ("instructions per", ""),
        ("of programs, per", "user_"),
        ("of the kernel, per", "kernel_"),
        ("of it in softirqs, per", "softirq_"),
    ];
    parts.into_iter().filter_map(column).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_metrics_and_each_traffic_has_its_main_one() {
        for column in &COLUMNS {
            let metrics: Vec<_> =
                column.metrics.iter().map(|key| study::metric::find(key).unwrap()).collect();
            assert!(metrics.len() > 1 || metrics[0].unit == column.unit, "{}", column.head);
        }
        for kind in Kind::ALL {
            let is_main = |column: &MetricColumn| column.metrics == [kind.primary_metric().key];
            assert!(COLUMNS.iter().any(is_main), "{kind}");
        }
    }
}
