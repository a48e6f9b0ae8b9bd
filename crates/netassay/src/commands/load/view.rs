//! The view of one run.

use std::time::Duration;

use load::{Direction, Kind, Traffic};
use report::TitledTable;
use report::document::Block;
use results::{counted, figure, percent};
use study::metric::{self, Metric};
use study::{BySide, Family, Side};
use words::{KEYS, Workload};

use crate::commands::load::intervals;
use crate::commands::load::load_result::LoadResult;

/// The bytes of an Ethernet header, as qdiscs and shapers count them: without preamble, checksum
/// and gap.
const ETHERNET: u32 = 14;

impl LoadResult {
    /// `interval`: adds a table of the run's parts.
    pub(super) fn blocks(&self, interval: Option<Duration>) -> Vec<Block<'static>> {
        let parts = interval.into_iter().flat_map(|interval| {
            self.account.sides().map(move |(side, own)| {
                let window = &own.window;
                let table = intervals::table(&window.series, window.cpus.len(), interval);
                let title = format!("the {side}'s counters:");
                Block::Table(TitledTable { title, table, notes: Vec::new() })
            })
        });
        let parts: Vec<Block<'static>> = parts.collect();
        [vec![Block::Text(self.heading())], parts, vec![Block::Facts(self.facts())]].concat()
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts = self.found_rate();
        if let Some(rate) = self.metric(metric::THROUGHPUT) {
            facts.push(("throughput", format!("{} Mbit/s {}", figure(rate), self.received_at())));
        }
        if let Some(rate) = self.metric(metric::PACKETS) {
            facts.push(("packets", format!("{rate:.0}/s {}", self.counter())));
        }
        if let Some(rate) = self.handed_over() {
            facts.push(("packets", format!("{rate:.0}/s sent by the program")));
        }
        if let Some(rate) = self.metric(metric::TRANSACTIONS) {
            facts.push(("transactions", format!("{rate:.0}/s")));
        }
        facts.extend(self.latency().map(|line| ("latency", line)));
        facts.extend(self.losses().map(|line| ("messages", line)));
        if let Some(account) = self.discarded() {
            let [sent, refused, queue, interface, counted] = account.map(|(_, count)| count);
            facts.push((
                "messages",
                format!("in the whole run {sent} sent, {refused} rejected for lack of buffers; {queue} packets dropped by the queue, {interface} by the interface, {counted} counted there"),
            ));
        }
        if let Some(count) = self.metric(metric::RETRANSMITS.transmitter) {
            let needless = match self.metric(metric::RETRANSMITS_NEEDLESS.transmitter) {
                Some(needless) if needless > 0.0 => {
                    format!(", {needless:.0} of them needlessly: they had arrived")
                }
                _ => String::new(),
            };
            facts.push(("retransmits", counted(count as usize, "segment") + &needless));
        }
        if self.asked.order.traffic.flows > 1 {
            facts.push(("threads", self.threads()));
        }
        facts.extend(self.account.sides().map(|(side, own)| ("CPU", self.cpu(side, own.window.cpus.len()))));
        let evidence: Vec<String> = self.limited_by.evidence.iter().map(ToString::to_string).collect();
        let because = if evidence.is_empty() { String::new() } else { format!(": {}", evidence.join("; ")) };
        facts.push(("limited by", format!("{}{because}", self.limited_by.label)));
        facts.extend(self.disturbed.iter().map(|cause| ("disturbed", cause.clone())));
        facts.extend(self.notes.iter().map(|note| ("note", note.clone())));
        facts
    }

    /// The rate that a search found, how sure that is, and what it is in packets and on the link.
    fn found_rate(&self) -> Vec<(&'static str, String)> {
        let Some(search) = &self.account.search else { return Vec::new() };
        let megabits = |rate: f64| format!("{} Mbit/s", figure(rate / 1e6));
        let bound = if search.bound > 0.0 {
            format!("at most {} % loss", percent(search.bound * 100.0))
        } else {
            "no loss".to_owned()
        };
        let confidence = format!("{:.0} % confidence", search.confidence * 100.0);
        let seconds = self.asked.order.window.as_secs_f64();
        let within = format!("in windows of {seconds} s, where a growing queue counts as loss");
        let mut lines = Vec::new();
        match (search.lower, search.upper) {
            (Some(lower), Some(upper)) => lines.push(format!(
                "{} of payload with {bound} {within}; shown to stay within it, and {} to exceed it, with {confidence}",
                megabits(lower),
                megabits(upper)
            )),
            (Some(lower), None) => {
                let why = match (search.complete, self.asked.order.traffic.pacing) {
                    (false, _) => "the trials were used up before a higher rate was shown to exceed it",
                    (true, Some(_)) => "the most that `pacing` allows was not shown to exceed it",
                    (true, None) => {
                        "the sender is the limit: the most that it can send was not shown to exceed it"
                    }
                };
                lines.push(format!(
                    "at least {} of payload with {bound} {within}, with {confidence}; {why}",
                    megabits(lower)
                ));
            }
            (None, _) => lines.extend(runner::no_rate(&self.account)),
        }
        if let Some(lower) = search.lower {
            lines.push(on_the_link(lower, &self.asked.order.traffic, self.asked.order.family));
        }
        let repeated = search.trials.iter().filter(|trial| trial.disturbed).count();
        let mut more =
            if repeated > 0 { format!(", {repeated} of them disturbed and repeated") } else { String::new() };
        if let Some(why) = search.failures.last() {
            more.push_str(&format!(", {} more failed and repeated ({why})", search.failures.len()));
        }
        // `runner` hands on the account of one trial.
        let last = if search.lower.is_some() { "the last that showed that rate" } else { "the last" };
        lines.push(format!(
            "{} of {seconds} s{more}; the lines below are of {last}, `limited by` is of the best of those with the most \
             that can be offered",
            counted(search.trials.len(), "trial")
        ));
        lines.into_iter().map(|line| ("found rate", line)).collect()
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
        let directions = [("forward", metric::THROUGHPUT_FORWARD), ("reverse", metric::THROUGHPUT_REVERSE)];
        match self.asked.order.traffic.direction {
            Direction::Forward => "at the receiver".to_owned(),
            Direction::Reverse => "at the transmitter, which receives it here".to_owned(),
            Direction::Both => {
                let parts = directions.map(|(word, metric)| {
                    format!("{word} {}", self.metric(metric).map_or_else(|| "-".to_owned(), figure))
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
        let count = |metric| self.metric(metric).map(|value| value as u64);
        let (offered, received) = (count(metric::OFFERED)?, count(metric::RECEIVED)?);
        let parts = [
            ("dropped by the sender's queue", count(metric::LOST_QUEUE)?),
            ("by the device", count(metric::LOST_DEVICE)?),
            ("by the receiver's socket", count(metric::LOST_SOCKET)?),
            ("unaccounted for", count(metric::LOST_UNACCOUNTED)?),
        ];
        let parts = parts.map(|(where_to, count)| format!("{count} {where_to}"));
        let loss =
            self.metric(metric::LOSS).map_or_else(String::new, |loss| format!(" ({} % lost)", percent(loss)));
        Some(format!("{offered} offered = {received} received + {}{loss}", parts.join(" + ")))
    }

    fn threads(&self) -> String {
        let of =
            self.account.sides().map(|(side, own)| format!("{side} {}", own.whole.outcome.threads.len()));
        of.collect::<Vec<_>>().join(", ")
    }

    fn cpu(&self, side: Side, cpus: usize) -> String {
        let part = |of: BySide<Metric>| self.metric(of[side]).map_or_else(|| "-".to_owned(), percent);
        format!(
            "{side} {} % of {}: user {}, system {}, softirq {}, irq {}; steal {}",
            part(metric::CPU),
            counted(cpus, "CPU"),
            part(metric::CPU_USER),
            part(metric::CPU_SYSTEM),
            part(metric::CPU_SOFTIRQ),
            part(metric::CPU_IRQ),
            part(metric::CPU_STEAL)
        )
    }
}

/// A rate of payload in datagrams, and with the headers of each where it is one packet.
fn on_the_link(rate: f64, traffic: &Traffic, family: Family) -> String {
    let payload = f64::from(traffic.message);
    let frame = f64::from(traffic.message + family.udp_headers() + ETHERNET);
    format!(
        "{:.0} packets/s of {} bytes; {} Mbit/s with Ethernet, IP and UDP headers, if no datagram is fragmented",
        rate / 8.0 / payload,
        traffic.message,
        figure(rate * frame / payload / 1e6)
    )
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

    #[test]
    fn headers_count_on_the_link() {
        // 97.189 Mbit/s of 1452 bytes in frames of 1494 fill 100 Mbit/s.
        let rate = 1e8 * 1452.0 / 1494.0;
        let text = on_the_link(rate, &Traffic::new(Kind::UdpStream), Family::Ipv4);
        assert!(text.starts_with("8367 packets/s of 1452 bytes; 100.0 Mbit/s with"), "{text}");
        let text = on_the_link(rate, &Traffic::new(Kind::UdpStream), Family::Ipv6);
        assert!(text.contains("; 101.3 Mbit/s with"), "{text}");
    }
}
