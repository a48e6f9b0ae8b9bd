//! What a run gave, as one JSON object.

use load::{Direction, Kind};
use record::{Limit, Note, RunAccount, SideAccount};
use serde_json::{Map, Value, json};
use study::{Effective, Side, metric};

use crate::commands::load::asked::Asked;

/// One run: what was asked for, what was got, and what it gave.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) asked: Asked,
    pub(super) effective: Effective,
    pub(super) discard_device: Option<host::DiscardDevice>,
    metrics: Vec<(String, f64)>,
    pub(super) limited_by: Limit,
    pub(super) disturbed: Vec<String>,
    /// What could not be had and what was done instead, each once.
    pub(super) notes: Vec<String>,
    pub(super) account: RunAccount,
}

impl Document {
    pub(super) fn new(
        asked: Asked,
        effective: Effective,
        discard_device: Option<host::DiscardDevice>,
        of_testbed: &[Note],
        account: RunAccount,
    ) -> Self {
        let traffic = &asked.order.traffic;
        let mut metrics = runner::metrics(traffic, &account);
        if traffic.direction == Direction::Both {
            metrics.extend(runner::directions(&account));
        }
        let limited_by = runner::limit(&asked.order, &account);
        let disturbed = runner::disturbances(&account, &asked.order);
        let mut disturbed: Vec<String> = disturbed.iter().map(ToString::to_string).collect();
        disturbed.splice(0..0, runner::nothing_arrived(&asked.order, &account));
        let mut notes: Vec<String> = of_testbed.iter().map(Note::to_string).collect();
        for (side, settled) in
            [("transmitter", Some(&effective.transmitter)), ("receiver", effective.receiver.as_ref())]
        {
            for (feature, why) in settled.into_iter().flat_map(|settled| &settled.refused) {
                notes.push(format!("{side}: {feature} could not be turned off: {why}"));
            }
        }
        for (side, own) in sides(&account) {
            for note in &own.whole.outcome.notes {
                notes.push(format!("{side}: {note}"));
            }
        }
        Self { asked, effective, discard_device, metrics, limited_by, disturbed, notes, account }
    }

    /// The value of a metric by its key in the vocabulary.
    pub(super) fn metric(&self, key: &str) -> Option<f64> {
        self.metrics.iter().find(|(known, _)| known == key).map(|(_, value)| *value)
    }

    /// TCP: the congestion control that the sockets of a run read back, the system's where none was
    /// asked for.
    pub(super) fn congestion_control(&self) -> Option<String> {
        let of = |own: &SideAccount| {
            own.whole
                .outcome
                .applied
                .iter()
                .find_map(|one| Some(one.tcp.as_ref()?.congestion_control.clone()))
        };
        let mut named: Vec<_> =
            sides(&self.account).filter_map(|(side, own)| Some((side, of(own)?))).collect();
        named.dedup_by(|(_, one), (_, other)| one == other);
        match &named[..] {
            [] => None,
            [(_, name)] => Some(name.clone()),
            differing => {
                let each = differing.iter().map(|(side, name)| format!("{name} at the {side}"));
                Some(each.collect::<Vec<_>>().join(" and "))
            }
        }
    }

    /// `pps`: datagrams per second that the sending program handed over, beside what the interface
    /// counted.
    pub(super) fn handed_over(&self) -> Option<f64> {
        let window = &self.account.transmitter.window;
        let rate = window.load.sent.messages as f64 * 1e9 / window.elapsed_ns.max(1) as f64;
        (self.asked.order.traffic.kind == Kind::Pps).then_some(rate)
    }

    /// `pps`: what became of the datagrams of the whole run, by name.
    pub(super) fn discarded(&self) -> Option<[(&'static str, u64); 5]> {
        let whole = &self.account.transmitter.whole;
        let (sent, counters) = (whole.outcome.sent, &whole.counters);
        let account = [
            ("sent", sent.messages),
            ("refused", sent.no_buffers),
            ("dropped_by_queue", counters.queue.drops),
            ("dropped_by_interface", counters.link.tx_dropped),
            ("counted_by_interface", counters.link.tx_packets),
        ];
        (self.asked.order.traffic.kind == Kind::Pps).then_some(account)
    }

    /// Everything as one JSON object.
    pub(super) fn json(&self) -> Value {
        let order = &self.asked.order;
        json!({
            "netassay": env!("CARGO_PKG_VERSION"),
            "asked": {
                "scenario": self.asked.scenario,
                "family": order.family,
                "seconds": order.window.as_secs_f64(),
                "ramp": order.ramp.as_secs_f64(),
                "mtu": self.asked.condition.mtu,
                "offloads": self.asked.condition.transmitter.offloads,
                "traffic": order.traffic,
            },
            "effective": self.effective,
            "sockets": sides(&self.account)
                .map(|(side, own)| (side.to_string(), json!(own.whole.outcome.applied)))
                .collect::<Map<_, _>>(),
            "discard_device": self.discard_device,
            "metrics": self.metrics(),
            "limited_by": self.limited_by.label.to_string(),
            "evidence": self.limited_by.evidence.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "disturbed": self.disturbed,
            "notes": self.notes,
            "series": sides(&self.account)
                .map(|(side, own)| (side.to_string(), json!(own.window.series)))
                .collect::<Map<_, _>>(),
        })
    }

    /// The metrics by what they are about: rates by themselves, tables of latencies, CPU use and
    /// losses, and for each side what its kernel counted.
    fn metrics(&self) -> Value {
        let mut metrics = Map::new();
        for (key, value) in &self.metrics {
            let unit = metric::find(key).map_or("", |metric| metric.unit);
            let (table, name) = place(key);
            let entry = amount(*value, unit);
            match table {
                None => metrics.insert(name, entry),
                Some(table) => table_of(&mut metrics, &table).insert(name, entry),
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
        for (side, own) in sides(&self.account) {
            if let Some(zerocopy) = own.whole.outcome.zerocopy {
                let table = table_of(&mut metrics, &side.to_string());
                table.insert("zerocopy_completed".to_owned(), amount(zerocopy.completed as f64, "1"));
                table.insert("zerocopy_copied".to_owned(), amount(zerocopy.copied as f64, "1"));
            }
        }
        Value::Object(metrics)
    }
}

/// The sides that took part.
pub(super) fn sides(account: &RunAccount) -> impl Iterator<Item = (Side, &SideAccount)> {
    let receiver = account.receiver.as_ref().map(|own| (Side::Receiver, own));
    std::iter::once((Side::Transmitter, &account.transmitter)).chain(receiver)
}

/// Where a metric of the vocabulary stands: in which table, and under which name.
fn place(key: &str) -> (Option<String>, String) {
    const LOSSES: [&str; 9] = [
        "loss",
        "offered",
        "sent",
        "received",
        "lost",
        "lost_queue",
        "lost_device",
        "lost_socket",
        "lost_unaccounted",
    ];
    if let Some((side, name)) = key.split_once('.') {
        return match name.strip_prefix("cpu") {
            Some(part) => (Some("cpu".to_owned()), format!("{side}{part}")),
            None => (Some(side.to_owned()), name.to_owned()),
        };
    }
    match key.strip_prefix("latency_") {
        Some(name) => (Some("latency".to_owned()), name.to_owned()),
        None if LOSSES.contains(&key) => (Some("messages".to_owned()), key.to_owned()),
        None => (None, key.to_owned()),
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
    use super::*;

    #[test]
    fn every_metric_has_a_place_of_its_own() {
        let mut places: Vec<_> = metric::METRICS.iter().map(|metric| place(metric.key)).collect();
        assert_eq!(place("transmitter.cpu"), (Some("cpu".to_owned()), "transmitter".to_owned()));
        assert_eq!(place("receiver.cpu_softirq"), (Some("cpu".to_owned()), "receiver_softirq".to_owned()));
        assert_eq!(place("latency_p99_99"), (Some("latency".to_owned()), "p99_99".to_owned()));
        assert_eq!(place("throughput"), (None, "throughput".to_owned()));
        places.sort();
        places.dedup();
        assert_eq!(places.len(), metric::METRICS.len());
    }
}
