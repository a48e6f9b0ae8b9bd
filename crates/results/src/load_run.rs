//! The result of `netassay load`: one workload without a study.

use std::time::Duration;

use host::DiscardDevice;
use record::{Limit, RunAccount, SideAccount};
use serde_json::{Map, Value, json};
use store::Metrics;
use study::metric::{Metric, MetricGroup};
use study::{Condition, Effective, Kind, Side};
use words::Traffic;

use crate::{distinct, listed};

/// One run of one workload.
#[derive(Debug)]
pub struct LoadRun {
    /// The condition that was asked for.
    pub condition: Condition,
    /// Its traffic, with the congestion control that was chosen.
    pub traffic: Traffic,
    /// The length of the window.
    pub window: Duration,
    /// The time between the start of the traffic and the window.
    pub ramp: Duration,
    /// The switches as they were read back.
    pub effective: Effective,
    /// The device that discarded the packets.
    pub discard_device: Option<DiscardDevice>,
    /// The metrics of the run.
    pub metrics: Metrics,
    /// The limit of the rate, with its evidence.
    pub limited_by: Limit,
    /// The disturbances, as sentences without full stops.
    pub disturbed: Vec<String>,
    /// Requests that could not be applied and the replacement, each once.
    pub notes: Vec<String>,
    /// Why a search found no rate.
    pub no_rate: Option<String>,
    /// The account of both sides.
    pub account: RunAccount,
}

impl LoadRun {
    /// TCP: the congestion control that the sockets read back.
    pub fn congestion_control(&self) -> Option<String> {
        let named = |(_, own): (Side, &SideAccount)| {
            let tcp = own.whole.outcome.applied.iter().find_map(|one| one.tcp.as_ref())?;
            Some(tcp.congestion_control.clone())
        };
        let names = distinct(self.account.sides().filter_map(named));
        (!names.is_empty()).then(|| listed(&names))
    }

    /// `pps`: datagrams per second that the sending program handed over.
    pub fn handed_over(&self) -> Option<f64> {
        let window = &self.account.transmitter.window;
        // A window without a length has no rate.
        let rate = window.load.sent.messages as f64 * 1e9 / window.elapsed_ns.max(1) as f64;
        (self.traffic.kind == Kind::Pps).then_some(rate)
    }

    /// `pps`: where the datagrams of the whole run ended, by name.
    pub fn discarded(&self) -> Option<[(&'static str, u64); 5]> {
        let whole = &self.account.transmitter.whole;
        let (sent, counters) = (whole.outcome.sent, &whole.counters);
        let account = [
            ("sent", sent.messages),
            ("refused", sent.no_buffers),
            ("dropped_by_queue", counters.queue.drops),
            ("dropped_by_interface", counters.link.tx_dropped),
            ("counted_by_interface", counters.link.tx_packets),
        ];
        (self.traffic.kind == Kind::Pps).then_some(account)
    }

    /// The JSON of the run.
    pub fn json(&self) -> Value {
        let latency = self.account.transmitter.whole.outcome.latency.as_ref();
        let by_side = |value: fn(&SideAccount) -> Value| -> Map<String, Value> {
            self.account.sides().map(|(side, own)| (side.to_string(), value(own))).collect()
        };
        json!({
            "netassay": env!("CARGO_PKG_VERSION"),
            "asked": {
                "scenario": self.condition.boot.scenario,
                "family": self.condition.family,
                "seconds": self.window.as_secs_f64(),
                "ramp": self.ramp.as_secs_f64(),
                "mtu": self.condition.mtu,
                "offloads": self.condition.transmitter.offloads,
                "traffic": self.traffic,
            },
            "effective": self.effective,
            "sockets": by_side(|own| json!(own.whole.outcome.applied)),
            "discard_device": self.discard_device,
            "metrics": self.metrics(),
            "latency_histogram": latency.and_then(|latency| latency.histogram.as_ref()),
            "search": self.account.search,
            "limited_by": self.limited_by.label.to_string(),
            "evidence": self.limited_by.evidence.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "disturbed": self.disturbed,
            "notes": self.notes,
            "series": by_side(|own| json!(own.window.series)),
        })
    }

    fn metrics(&self) -> Value {
        let mut metrics = Map::new();
        for (metric, value) in self.metrics.iter() {
            let (table, name) = place(metric);
            let entry = amount(value, metric.unit);
            match table {
                None => metrics.insert(name, entry),
                Some(table) => table_of(&mut metrics, table).insert(name, entry),
            };
        }
        if let Some(latency) = &self.account.transmitter.whole.outcome.latency {
            let table = table_of(&mut metrics, "latency");
            table.insert("min".to_owned(), amount(latency.min as f64, "ns"));
            table.insert("count".to_owned(), amount(latency.count as f64, "1"));
            table.insert("clock".to_owned(), amount(latency.clock_ns, "ns"));
        }
        if let Some(rate) = self.handed_over() {
            metrics.insert("packets_handed_over".to_owned(), amount(rate, "1/s"));
        }
        for (name, count) in self.discarded().into_iter().flatten() {
            table_of(&mut metrics, "messages").insert(name.to_owned(), amount(count as f64, "1"));
        }
        for (side, own) in self.account.sides() {
            if let Some(zerocopy) = own.whole.outcome.zerocopy {
                let table = table_of(&mut metrics, &side.to_string());
                table.insert("zerocopy_completed".to_owned(), amount(zerocopy.completed as f64, "1"));
                table.insert("zerocopy_copied".to_owned(), amount(zerocopy.copied as f64, "1"));
            }
        }
        Value::Object(metrics)
    }
}

fn place(metric: Metric) -> (Option<&'static str>, String) {
    match (metric.group, metric.side) {
        (MetricGroup::Cpu, Some(side)) if metric.part.is_empty() => (Some("cpu"), side.to_string()),
        (MetricGroup::Cpu, Some(side)) => (Some("cpu"), format!("{side}_{}", metric.part)),
        (_, Some(side)) => (Some(side.word()), metric.own.to_owned()),
        (MetricGroup::Latency, None) => (Some("latency"), metric.part.to_owned()),
        (MetricGroup::Messages, None) => (Some("messages"), metric.own.to_owned()),
        (_, None) => (None, metric.own.to_owned()),
    }
}

fn amount(value: f64, unit: &str) -> Value {
    json!({ "value": value, "unit": unit })
}

fn table_of<'a>(metrics: &'a mut Map<String, Value>, name: &str) -> &'a mut Map<String, Value> {
    let table = metrics.entry(name).or_insert_with(|| Value::Object(Map::new()));
    table.as_object_mut().expect("tables and single metrics have different names")
}

#[cfg(test)]
mod tests {
    use study::metric;

    use super::*;

    #[test]
    fn every_metric_has_a_place_of_its_own() {
        let mut places: Vec<_> = metric::METRICS.iter().copied().map(place).collect();
        let place = |key| place(metric::find(key).unwrap());
        assert_eq!(place("transmitter.cpu"), (Some("cpu"), "transmitter".to_owned()));
        assert_eq!(place("receiver.cpu_softirq"), (Some("cpu"), "receiver_softirq".to_owned()));
        assert_eq!(place("latency_p99_99"), (Some("latency"), "p99_99".to_owned()));
        assert_eq!(place("throughput"), (None, "throughput".to_owned()));
        places.sort();
        places.dedup();
        assert_eq!(places.len(), metric::METRICS.len());
    }
}
