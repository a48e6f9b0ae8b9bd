//! The columns of the table of results for each kind of traffic.

use std::collections::BTreeMap;

use stats::fixed;
use study::Kind;

use crate::words::number::{figure, percent};

/// A column of figures.
pub(crate) struct MetricColumn {
    pub(crate) head: &'static str,
    pub(crate) unit: &'static str,
    /// One metric, or several that share a cell.
    metrics: Vec<&'static str>,
    show: fn(f64) -> String,
}

impl MetricColumn {
    /// The cell of a condition with these means.
    pub(crate) fn cell(&self, means: &BTreeMap<String, f64>) -> String {
        let show =
            |metric: &&str| means.get(*metric).map_or_else(|| "-".to_owned(), |value| (self.show)(*value));
        self.metrics.iter().map(show).collect::<Vec<_>>().join(" / ")
    }
}

/// The columns of a table of counted instructions.
pub(crate) fn counted(kind: Kind) -> Vec<MetricColumn> {
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
pub(crate) fn columns(kind: Kind) -> Vec<MetricColumn> {
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
