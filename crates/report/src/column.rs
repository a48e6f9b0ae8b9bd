//! The columns of the table of results: what is worth seeing of each kind of traffic.

use std::collections::BTreeMap;

use study::WorkloadKind;

use crate::exact;
use crate::number::{figure, percent};

/// A column of figures.
pub(crate) struct Column {
    pub(crate) head: &'static str,
    pub(crate) unit: &'static str,
    /// One metric, or several that share a cell.
    metrics: Vec<&'static str>,
    /// From the metric's unit to the column's.
    scale: f64,
    show: fn(f64) -> String,
}

impl Column {
    /// What it shows of a condition with these means.
    pub(crate) fn cell(&self, means: &BTreeMap<String, f64>) -> String {
        let show = |metric: &&str| {
            means.get(*metric).map_or_else(|| "-".to_owned(), |value| (self.show)(value * self.scale))
        };
        self.metrics.iter().map(show).collect::<Vec<_>>().join(" / ")
    }
}

/// The columns of a table of counted instructions.
pub(crate) fn counted(kind: WorkloadKind) -> Vec<Column> {
    let per = exact::counted_unit(kind);
    let column = |(head, part): (&'static str, &str)| {
        let metric = study::metric::find(&format!("{part}instructions_{per}"))?;
        Some(Column { head, unit: per, metrics: vec![metric.key], scale: 1.0, show: figure })
    };
    [("instructions per", ""), ("of programs, per", "user_"), ("of the kernel, per", "kernel_")]
        .into_iter()
        .filter_map(column)
        .collect()
}

/// The columns of a table of this traffic.
pub(crate) fn columns(kind: WorkloadKind) -> Vec<Column> {
    let column =
        |head, unit, metric, scale| Column { head, unit, metrics: vec![metric], scale, show: figure };
    let mut columns = if kind.is_stream() {
        vec![column("throughput", "10^6 bits/s", "throughput", 1.0)]
    } else if !kind.is_rr() {
        vec![column("packets", "1/s", "packets", 1.0)]
    } else {
        vec![
            column("transactions", "1/s", "transactions", 1.0),
            column("p50", "us", "latency_p50", 1e-3),
            column("p99", "us", "latency_p99", 1e-3),
            column("p99.9", "us", "latency_p99_9", 1e-3),
            column("p99.99", "us", "latency_p99_99", 1e-3),
        ]
    };
    if kind.is_udp() && kind.is_received() {
        columns.push(Column { show: percent, ..column("loss", "%", "loss", 1.0) });
    }
    let cpu = |head, metrics: [&'static str; 3]| Column {
        head,
        unit: "user/system/softirq",
        metrics: metrics.to_vec(),
        scale: 1.0,
        show: |value| format!("{value:.0}"),
    };
    columns.push(cpu(
        "transmitter CPU %",
        ["transmitter.cpu_user", "transmitter.cpu_system", "transmitter.cpu_softirq"],
    ));
    if !kind.is_received() {
        columns.push(column("CPU ns/packet", "tx", "transmitter.service_demand_packet", 1.0));
        return columns;
    }
    columns.push(cpu("receiver CPU %", ["receiver.cpu_user", "receiver.cpu_system", "receiver.cpu_softirq"]));
    let (head, unit, metrics, scale) = if kind.is_stream() {
        ("CPU ns/byte", "tx / rx", ["transmitter.service_demand_byte", "receiver.service_demand_byte"], 1.0)
    } else {
        let metrics = ["transmitter.service_demand_transaction", "receiver.service_demand_transaction"];
        ("CPU us/transaction", "tx / rx", metrics, 1e-3)
    };
    columns.push(Column {
        head,
        unit,
        metrics: metrics.to_vec(),
        scale,
        show: |value| format!("{value:.3}"),
    });
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_is_of_its_traffic_and_the_first_is_its_main_metric() {
        use WorkloadKind::{Pps, TcpCrr, TcpRr, TcpStream, UdpRr, UdpStream};
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
