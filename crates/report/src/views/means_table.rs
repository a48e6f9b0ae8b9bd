//! The means of the metrics of a workload: rate or latency, loss, CPU.

use results::{ConditionResult, Table, TitledTable, figure, percent};
use stats::fixed;
use study::Kind;

/// A column of figures.
struct MetricColumn {
    head: &'static str,
    unit: &'static str,
    /// One metric, or several that share a cell.
    metrics: Vec<&'static str>,
    show: fn(f64) -> String,
}

/// A row for each condition of a workload. `truth`: the kind of its figures.
pub(super) fn means_table(
    conditions: &[&ConditionResult],
    exact: bool,
    truth: Option<&'static str>,
) -> TitledTable {
    let kind = conditions[0].kind;
    let columns = if exact { counted(kind) } else { columns(kind) };
    let row = |first: &'static str, cell: fn(&MetricColumn) -> &'static str| -> Vec<&'static str> {
        [first].into_iter().chain(columns.iter().map(cell)).collect()
    };
    let (heads, units) = (row("condition", |column| column.head), row("", |column| column.unit));
    let mut table = Table::new(&heads).units(&units).named(0);
    for condition in conditions {
        let mean = |metric: &str, show: fn(f64) -> String| {
            condition.means.get(metric).map_or_else(|| "-".to_owned(), |mean| show(*mean))
        };
        let cell = |column: &MetricColumn| {
            let means: Vec<String> = column.metrics.iter().map(|metric| mean(metric, column.show)).collect();
            means.join(" / ")
        };
        let cells: Vec<String> = columns.iter().map(cell).collect();
        let cells = cells.iter().map(String::as_str);
        table.row(&[condition.label.as_str()].into_iter().chain(cells).collect::<Vec<_>>());
        table.is_of(&condition.label);
    }
    TitledTable {
        title: format!("{}: means", conditions[0].workload),
        table,
        notes: truth.into_iter().map(str::to_owned).collect(),
    }
}

/// The columns of a table of counted instructions.
fn counted(kind: Kind) -> Vec<MetricColumn> {
    let per = kind.counted_work();
    let column = |(head, part): (&'static str, &str)| {
        let metric = study::metric::find(&format!("{part}instructions_{per}"))?;
        Some(MetricColumn { head, unit: per, metrics: vec![metric.key], show: figure })
    };
    [
        ("instructions per", ""),
        ("of programs, per", "user_"),
        ("of the kernel, per", "kernel_"),
        ("of it in softirqs, per", "softirq_"),
    ]
    .into_iter()
    .filter_map(column)
    .collect()
}

/// The columns of a table of this traffic.
fn columns(kind: Kind) -> Vec<MetricColumn> {
    // In the unit of the vocabulary, as sentences and JSON are.
    let column = |head, metric: &'static str| MetricColumn {
        head,
        unit: study::metric::find(metric).map_or("", |metric| metric.unit),
        metrics: vec![metric],
        show: figure,
    };
    let mut columns = if kind.is_stream() {
        vec![column("throughput", "throughput")]
    } else if !kind.is_rr() {
        vec![column("packets", "packets")]
    } else {
        vec![
            column("transactions", "transactions"),
            column("p50", "latency_p50"),
            column("p99", "latency_p99"),
            column("p99.9", "latency_p99_9"),
            column("p99.99", "latency_p99_99"),
        ]
    };
    if kind.is_udp() && kind.is_received() {
        columns.push(MetricColumn { show: percent, ..column("loss", "loss") });
    }
    let cpu = |head, metrics: [&'static str; 3]| MetricColumn {
        head,
        unit: "user/system/softirq",
        metrics: metrics.to_vec(),
        show: |value| fixed(value, 0),
    };
    columns.push(cpu(
        "transmitter CPU %",
        ["transmitter.cpu_user", "transmitter.cpu_system", "transmitter.cpu_softirq"],
    ));
    if !kind.is_received() {
        columns.push(MetricColumn {
            unit: "tx",
            ..column("CPU ns/packet", "transmitter.service_demand_packet")
        });
        return columns;
    }
    columns.push(cpu("receiver CPU %", ["receiver.cpu_user", "receiver.cpu_system", "receiver.cpu_softirq"]));
    let (head, metrics): (_, [&'static str; 2]) = if kind.is_stream() {
        ("CPU ns/byte", ["transmitter.service_demand_byte", "receiver.service_demand_byte"])
    } else {
        let metrics = ["transmitter.service_demand_transaction", "receiver.service_demand_transaction"];
        ("CPU ns/transaction", metrics)
    };
    columns.push(MetricColumn { head, unit: "tx / rx", metrics: metrics.to_vec(), show: demand });
    columns
}

/// Costs share one cell, with three decimals where they help.
fn demand(value: f64) -> String {
    if value == 0.0 || (1e-3..1e3).contains(&value) { fixed(value, 3) } else { figure(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_is_of_its_traffic_and_the_first_is_its_main_metric() {
        use Kind::{Pps, TcpCrr, TcpRr, TcpStream, UdpRr, UdpStream};
        for kind in [TcpStream, UdpStream, TcpRr, UdpRr, TcpCrr, Pps] {
            let columns = columns(kind);
            assert_eq!(columns[0].metrics, [kind.primary_metric().key]);
            for key in columns.iter().flat_map(|column| &column.metrics) {
                assert!(
                    study::metric::find(key).is_some_and(|metric| kind.produces(metric)),
                    "{kind}: {key}"
                );
            }
        }
    }
}
