//! One run of one workload.

use std::time::Duration;

use results::{LoadRun, counted, figure, percent};
use study::metric;
use study::{Family, Kind, Side};
use words::{Direction, KEYS, Traffic, Workload};

use super::load_parts;
use crate::document::Block;

/// One run of a workload; `interval` adds a table of its parts.
pub fn load(run: &LoadRun, interval: Option<Duration>) -> Vec<Block<'static>> {
    let mut blocks = vec![Block::Text(heading(run))];
    for (side, own) in run.account.sides() {
        let Some(interval) = interval else { break };
        let table = load_parts::table(&own.window.series, own.window.cpus.len(), interval);
        blocks.push(Block::Table(table.titled(format!("the {side}'s counters:"))));
    }
    blocks.push(Block::Facts(facts(run)));
    blocks
}

fn facts(run: &LoadRun) -> Vec<(&'static str, String)> {
    let throughput = |rate| format!("{} Mbit/s {}", figure(rate), received_at(run));
    let rates = [
        run.metrics.get(metric::THROUGHPUT).map(|rate| ("throughput", throughput(rate))),
        run.metrics.get(metric::PACKETS).map(|rate| ("packets", format!("{rate:.0}/s {}", counter(run)))),
        run.handed_over().map(|rate| ("packets", format!("{rate:.0}/s sent by the program"))),
        run.metrics.get(metric::TRANSACTIONS).map(|rate| ("transactions", format!("{rate:.0}/s"))),
        latency(run).map(|line| ("latency", line)),
        losses(run).map(|line| ("messages", line)),
    ];
    let mut facts = found_rate(run);
    facts.extend(rates.into_iter().flatten());
    if let Some(account) = run.discarded() {
        let [sent, refused, queue, interface, counted] = account.map(|(_, count)| count);
        facts.push((
            "messages",
            format!("in the whole run {sent} sent, {refused} rejected for lack of buffers; {queue} packets dropped by the queue, {interface} by the interface, {counted} counted there"),
        ));
    }
    if let Some(count) = run.metrics.get(metric::RETRANSMITS.transmitter) {
        let mut retransmits = counted(count as usize, "segment");
        let needless = run.metrics.get(metric::RETRANSMITS_NEEDLESS.transmitter);
        if let Some(needless) = needless.filter(|count| *count > 0.0) {
            retransmits.push_str(&format!(", {needless:.0} of them needlessly: they had arrived"));
        }
        facts.push(("retransmits", retransmits));
    }
    facts.extend(run.account.sides().map(|(side, own)| ("CPU", cpu(run, side, own.window.cpus.len()))));
    let evidence: Vec<String> = run.limited_by.evidence.iter().map(ToString::to_string).collect();
    let because = if evidence.is_empty() { String::new() } else { format!(": {}", evidence.join("; ")) };
    facts.push(("limited by", format!("{}{because}", run.limited_by.label)));
    facts.extend(run.disturbed.iter().map(|cause| ("disturbed", cause.clone())));
    facts.extend(run.notes.iter().map(|note| ("note", note.clone())));
    facts
}

fn found_rate(run: &LoadRun) -> Vec<(&'static str, String)> {
    let Some(search) = &run.account.search else { return Vec::new() };
    let megabits = |rate: f64| format!("{} Mbit/s", figure(rate / 1e6));
    let most = format!("at most {} % loss", percent(search.bound * 100.0));
    let bound = if search.bound > 0.0 { most } else { "no loss".to_owned() };
    let confidence = format!("{:.0} % confidence", search.confidence * 100.0);
    let seconds = run.window.as_secs_f64();
    let within =
        format!("of payload with {bound} in windows of {seconds} s, where a growing queue counts as loss");
    let found = search.lower.map(|lower| match search.upper {
        Some(upper) => format!(
            "{} {within}; shown to stay within it, and {} to exceed it, with {confidence}",
            megabits(lower),
            megabits(upper)
        ),
        None => {
            let why = match (search.complete, run.traffic.pacing) {
                (false, _) => "the trials were used up before a higher rate was shown to exceed it",
                (true, Some(_)) => "the most that `pacing` allows was not shown to exceed it",
                (true, None) => "the sender is the limit",
            };
            format!("at least {} {within}, with {confidence}; {why}", megabits(lower))
        }
    });
    let repeated = search.trials.iter().filter(|trial| trial.disturbed).count();
    let repeated =
        if repeated > 0 { format!(", {repeated} of them disturbed and repeated") } else { String::new() };
    let failed = search.failures.last().map_or_else(String::new, |why| {
        format!(", {} more failed and repeated ({why})", search.failures.len())
    });
    // The account of the run is that of one trial.
    let last = if search.lower.is_some() { "the last that showed that rate" } else { "the last" };
    let trials = format!(
        "{} of {seconds} s{repeated}{failed}; the lines below are of {last}, `limited by` is of the best of those with the most \
         that can be offered",
        counted(search.trials.len(), "trial")
    );
    let lines = found.into_iter().chain(run.no_rate.clone()).chain([trials]);
    lines.map(|line| ("found rate", line)).collect()
}

fn heading(run: &LoadRun) -> String {
    let family = match run.condition.family {
        Family::Ipv4 => "IPv4",
        Family::Ipv6 => "IPv6",
    };
    let (kind, scenario) = (run.traffic.kind, &run.condition.boot.scenario);
    let mut words = described(&run.traffic);
    words.extend(run.congestion_control());
    let [window, ramp] = [run.window, run.ramp].map(|time| time.as_secs_f64());
    format!("{kind} over {scenario}, {family}: {}; {window} s after {ramp} s", words.join(", "))
}

fn received_at(run: &LoadRun) -> String {
    let directions = [("forward", metric::THROUGHPUT_FORWARD), ("reverse", metric::THROUGHPUT_REVERSE)];
    match run.traffic.direction {
        Direction::Forward => "at the receiver".to_owned(),
        Direction::Reverse => "at the transmitter, which receives it here".to_owned(),
        Direction::Both => {
            let parts = directions.map(|(word, metric)| {
                format!("{word} {}", run.metrics.get(metric).map_or_else(|| "-".to_owned(), figure))
            });
            format!("of both ways: {}", parts.join(", "))
        }
    }
}

fn counter(run: &LoadRun) -> String {
    let Some(device) = run.discard_device else { return "datagrams accepted".to_owned() };
    let is_whole = run.traffic.sender.segments();
    let whole = if is_whole { "; a buffer that it accepts whole counts as one" } else { "" };
    format!("counted by the interface ({device}), which discards them{whole}")
}

fn latency(run: &LoadRun) -> Option<String> {
    let latency = run.account.transmitter.whole.outcome.latency.as_ref()?;
    let quantiles = [
        ("p50", latency.p50),
        ("p90", latency.p90),
        ("p99", latency.p99),
        ("p99.9", latency.p99_9),
        ("p99.99", latency.p99_99),
        ("max", latency.max),
    ];
    let quantiles = quantiles.map(|(name, ns)| format!("{name} {}", figure(ns as f64 / 1e3)));
    let (mean, quantiles, clock) = (figure(latency.mean / 1e3), quantiles.join(", "), latency.clock_ns);
    Some(format!("µs: mean {mean}, {quantiles}; reading the clock takes {clock:.0} ns"))
}

/// The account of sent messages; its parts add up.
fn losses(run: &LoadRun) -> Option<String> {
    let count = |metric| run.metrics.get(metric).map(|value| value as u64);
    let (offered, received) = (count(metric::OFFERED)?, count(metric::RECEIVED)?);
    let parts = [
        ("dropped by the sender's queue", count(metric::LOST_QUEUE)?),
        ("by the device", count(metric::LOST_DEVICE)?),
        ("by the receiver's socket", count(metric::LOST_SOCKET)?),
        ("unaccounted for", count(metric::LOST_UNACCOUNTED)?),
    ];
    let parts = parts.map(|(where_to, count)| format!("{count} {where_to}"));
    let loss =
        run.metrics.get(metric::LOSS).map_or_else(String::new, |loss| format!(" ({} % lost)", percent(loss)));
    Some(format!("{offered} offered = {received} received + {}{loss}", parts.join(" + ")))
}

fn cpu(run: &LoadRun, side: Side, cpus: usize) -> String {
    use metric::{CPU, CPU_IRQ, CPU_SOFTIRQ, CPU_STEAL, CPU_SYSTEM, CPU_USER};
    let parts = [CPU, CPU_USER, CPU_SYSTEM, CPU_SOFTIRQ, CPU_IRQ, CPU_STEAL];
    let [all, user, system, softirq, irq, steal] =
        parts.map(|part| run.metrics.get(part[side]).map_or_else(|| "-".to_owned(), percent));
    let cpus = counted(cpus, "CPU");
    format!(
        "{side} {all} % of {cpus}: user {user}, system {system}, softirq {softirq}, irq {irq}; steal {steal}"
    )
}

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
    let others = KEYS.iter().filter(|key| !TOLD.contains(&key.name));
    let others = others.map(|key| (key, key.get(&workload)));
    let changed = others.filter(|(key, value)| *value != key.default_of(traffic.kind));
    words.extend(changed.map(|(key, value)| format!("{} {value}", key.name)));
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
        (traffic.flows, traffic.checksum, traffic.pacing) = (2, false, words::Pacing::of_bits(1000));
        assert_eq!(described(&traffic), "2 flows, 18 bytes, sender send, pacing 1kbit, checksum off");
    }
}
