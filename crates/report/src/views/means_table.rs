//! Tables of means: the main metrics of a workload, and the kernel's counters.

use crate::document::{Table, TitledTable};
use results::{ConditionResult, figure, percent};
use stats::fixed;
use study::Kind;

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
) -> TitledTable {
    let kind = conditions[0].kind;
    let own = |column: &&MetricColumn| {
        study::metric::find(column.metrics[0]).is_some_and(|metric| kind.produces(metric))
    };
    let counted = if exact { counted(kind) } else { Vec::new() };
    let columns = if exact { counted.iter().collect() } else { COLUMNS.iter().filter(own).collect() };
    TitledTable {
        title: format!("{}: means", conditions[0].workload),
        table: means(conditions.iter().copied(), columns),
        notes: truth.into_iter().map(str::to_owned).collect(),
    }
}

/// A row for each condition.
pub(super) fn means<'c>(
    conditions: impl Iterator<Item = &'c ConditionResult>,
    columns: Vec<&MetricColumn>,
) -> Table {
    let heads: Vec<&str> = ["condition"].into_iter().chain(columns.iter().map(|own| own.head)).collect();
    let units: Vec<&str> = [""].into_iter().chain(columns.iter().map(|own| own.unit)).collect();
    let mut table = Table::new(&heads).units(&units).named(0);
    for condition in conditions {
        let cell = |column: &&MetricColumn| {
            let mean = |metric: &&str| condition.means.get(*metric).map(|mean| (column.show)(*mean));
            let means = column.metrics.iter().map(|metric| mean(metric).unwrap_or_else(|| "-".to_owned()));
            means.collect::<Vec<_>>().join(" / ")
        };
        let cells: Vec<String> = columns.iter().map(cell).collect();
        let cells = cells.iter().map(String::as_str);
        table.row(&[condition.label.as_str()].into_iter().chain(cells).collect::<Vec<_>>());
        table.is_of(&condition.label);
    }
    table
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
