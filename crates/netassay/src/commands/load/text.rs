//! The result of a run for people.

use std::time::Duration;

use load::{Direction, Kind, Traffic};
use results::{Layout, counted, figure, percent};
use study::{Family, Side};
use words::{KEYS, Workload};

use crate::commands::load::document::Document;
use crate::commands::load::intervals;

impl Document {
    /// A few lines, each with its word; `interval` adds a table of the run's parts.
    pub(super) fn text(&self, interval: Option<Duration>, layout: Layout) -> String {
        let mut text = format!("{}\n", self.heading());
        if let Some(interval) = interval {
            for (side, own) in self.account.sides() {
                let window = &own.window;
                let table = intervals::table(&window.series, window.cpus.len(), interval, layout);
                text.push_str(&format!("\nthe {side}'s counters:\n{table}"));
            }
            text.push('\n');
        }
        for (word, what) in self.lines() {
            let indent = what.len() - what.trim_start().len();
            text.push_str(&layout.hang(&format!("  {word:<13}{what}\n"), 2 + 13 + indent));
        }
        text
    }

    fn lines(&self) -> Vec<(&'static str, String)> {
        let mut lines = self.found();
        if let Some(rate) = self.metric("throughput") {
            lines.push(("throughput", format!("{} Mbit/s {}", figure(rate), self.received_at())));
        }
        if let Some(rate) = self.metric("packets") {
            lines.push(("packets", format!("{rate:.0}/s {}", self.counter())));
        }
        if let Some(rate) = self.handed_over() {
            lines.push(("", format!("{rate:.0}/s sent by the program")));
        }
        if let Some(rate) = self.metric("transactions") {
            lines.push(("transactions", format!("{rate:.0}/s")));
        }
        if let Some(line) = self.latency() {
            lines.push(("latency", line));
        }
        if let Some(line) = self.losses() {
            lines.push(("messages", line));
        }
        if let Some(account) = self.discarded() {
            let [sent, refused, queue, interface, counted] = account.map(|(_, count)| count);
            lines.push((
                "messages",
                format!("in the whole run {sent} sent, {refused} rejected for lack of buffers; {queue} packets dropped by the queue, {interface} by the interface, {counted} counted there"),
            ));
        }
        if let Some(count) = self.metric("transmitter.retransmits") {
            let needless = match self.metric("transmitter.retransmits_needless") {
                Some(needless) if needless > 0.0 => {
                    format!(", {needless:.0} of them needlessly: they had arrived")
                }
                _ => String::new(),
            };
            lines.push(("retransmits", counted(count as usize, "segment") + &needless));
        }
        if self.asked.order.traffic.flows > 1 {
            lines.push(("threads", self.threads()));
        }
        for (side, own) in self.account.sides() {
            let word = if side == Side::Transmitter { "CPU" } else { "" };
            lines.push((word, self.cpu(side, own.window.cpus.len())));
        }
        lines.push(("limited by", self.limited_by.label.to_string()));
        let evidence = self.limited_by.evidence.iter();
        lines.extend(evidence.map(|sentence| ("", format!("  {sentence}"))));
        let sentences = [("disturbed", &self.disturbed), ("notes", &self.notes)];
        for (word, list) in sentences {
            let words = std::iter::once(word).chain(std::iter::repeat(""));
            lines.extend(words.zip(list.iter().cloned()));
        }
        lines
    }

    fn heading(&self) -> String {
        let order = &self.asked.order;
        let family = match order.family {
            Family::Ipv4 => "IPv4",
            Family::Ipv6 => "IPv6",
        };
        let mut words = described(&order.traffic);
        words.extend(self.congestion_control());
        format!(
            "{} over {}, {family}: {}; {} s after {} s",
            order.traffic.kind,
            self.asked.scenario,
            words.join(", "),
            order.window.as_secs_f64(),
            order.ramp.as_secs_f64()
        )
    }

    fn received_at(&self) -> String {
        let directions = [("forward", "throughput_forward"), ("reverse", "throughput_reverse")];
        match self.asked.order.traffic.direction {
            Direction::Forward => "at the receiver".to_owned(),
            Direction::Reverse => "at the transmitter, which receives it here".to_owned(),
            Direction::Both => {
                let parts = directions.map(|(word, key)| {
                    format!("{word} {}", self.metric(key).map_or_else(|| "-".to_owned(), figure))
                });
                format!("of both ways: {}", parts.join(", "))
            }
        }
    }

    fn counter(&self) -> String {
        match self.discard_device {
            Some(device) => {
                let whole = self.asked.order.traffic.sender.segments();
                let whole = if whole { "; a buffer that it accepts whole counts as one" } else { "" };
                format!("counted by the interface ({device}), which discards them{whole}")
            }
            None => "datagrams accepted".to_owned(),
        }
    }

    fn latency(&self) -> Option<String> {
        let latency = self.account.transmitter.whole.outcome.latency.as_ref()?;
        let quantiles = [
            ("p50", latency.p50),
            ("p90", latency.p90),
            ("p99", latency.p99),
            ("p99.9", latency.p99_9),
            ("p99.99", latency.p99_99),
            ("max", latency.max),
        ];
        let quantiles = quantiles.map(|(name, ns)| format!("{name} {}", figure(ns as f64 / 1e3)));
        Some(format!(
            "µs: mean {}, {}; reading the clock takes {:.0} ns",
            figure(latency.mean / 1e3),
            quantiles.join(", "),
            latency.clock_ns
        ))
    }

    /// The account of sent messages; its parts add up.
    fn losses(&self) -> Option<String> {
        let count = |key| self.metric(key).map(|value| value as u64);
        let (offered, received) = (count("offered")?, count("received")?);
        let parts = [
            ("dropped by the sender's queue", count("lost_queue")?),
            ("by the device", count("lost_device")?),
            ("by the receiver's socket", count("lost_socket")?),
            ("unaccounted for", count("lost_unaccounted")?),
        ];
        let parts = parts.map(|(where_to, count)| format!("{count} {where_to}"));
        let loss =
            self.metric("loss").map_or_else(String::new, |loss| format!(" ({} % lost)", percent(loss)));
        Some(format!("{offered} offered = {received} received + {}{loss}", parts.join(" + ")))
    }

    fn threads(&self) -> String {
        let of =
            self.account.sides().map(|(side, own)| format!("{side} {}", own.whole.outcome.threads.len()));
        of.collect::<Vec<_>>().join(", ")
    }

    fn cpu(&self, side: Side, cpus: usize) -> String {
        let part = |name: &str| {
            let value = self.metric(&format!("{side}.cpu{name}"));
            value.map_or_else(|| "-".to_owned(), percent)
        };
        format!(
            "{side} {} % of {}: user {}, system {}, softirq {}, irq {}; steal {}",
            part(""),
            counted(cpus, "CPU"),
            part("_user"),
            part("_system"),
            part("_softirq"),
            part("_irq"),
            part("_steal")
        )
    }
}

/// The traffic in words: sizes, and values that are not the default.
fn described(traffic: &Traffic) -> Vec<String> {
    let mut words = vec![counted(traffic.flows as usize, "flow"), counted(traffic.message as usize, "byte")];
    if traffic.kind.is_rr() {
        words.push(format!("answered by {}", traffic.response));
    }
    if traffic.kind.is_stream() || traffic.kind == Kind::Pps {
        words.push(format!("sender {}", traffic.sender));
    }
    if traffic.kind != Kind::Pps {
        words.push(format!("reader {}", traffic.reader));
    }
    // Told above, or as read back.
    const TOLD: &[&str] =
        &["message", "response", "flows", "duration", "ramp", "sender", "reader", "congestion_control"];
    let workload = Workload { traffic: traffic.clone(), ..Workload::new(traffic.kind) };
    for key in KEYS.iter().filter(|key| !TOLD.contains(&key.name)) {
        let value = key.get(&workload);
        if value != key.default_of(traffic.kind) {
            words.push(format!("{} {value}", key.name));
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_plain_is_reported() {
        let described = |traffic: &Traffic| described(traffic).join(", ");
        assert_eq!(described(&Traffic::new(Kind::TcpRr)), "1 flow, 1 byte, answered by 1, reader recv");
        let mut traffic = Traffic::new(Kind::Pps);
        (traffic.flows, traffic.checksum, traffic.pacing) = (2, false, load::Pacing::of_bits(1000));
        assert_eq!(described(&traffic), "2 flows, 18 bytes, sender send, pacing 1kbit, checksum off");
    }
}
