//! Single packets in the Trace Event Format, which Perfetto and chrome://tracing show: a track for
//! each packet, on it a slice for each way from stage to stage.

use results::{PathTraceReport, SizedTrace, counted};
use serde_json::{Value, json};
use trace::StampedPacket;

use crate::failure::{Failure, bail};

pub(super) fn trace_events(found: &PathTraceReport, every: u32) -> Result<(String, String), Failure> {
    let sampled = || found.traces.iter().filter_map(|traced| traced.account.sampled.as_ref());
    let count: usize = sampled().map(|sampled| sampled.packets.len()).sum();
    let missed: u64 = sampled().map(|sampled| sampled.missed).sum();
    if count == 0 {
        bail!(Nothing, "no packet was sampled: use a larger `trace.batch` or a smaller --every than {every}");
    }
    let events: Vec<Value> =
        found.traces.iter().zip(1..).flat_map(|(traced, process)| of_size(found, traced, process)).collect();
    let [kernel, command] = found.origin();
    let file = json!({
        "traceEvents": events,
        "displayTimeUnit": "ns",
        "otherData": {
            "path": found.path,
            "traffic": found.traffic(),
            "traced": kernel,
            "by": command,
            "sampled": format!("one packet in {every}, each from its first stage on; {missed} more had no room"),
        },
    });
    let beyond = if missed == 0 { String::new() } else { format!("; no room for {missed} more") };
    Ok((format!("{file}\n"), format!("{} (one in {every}{beyond})", counted(count, "packet"))))
}

/// The packets of one size of the message are the tracks of one process.
fn of_size(found: &PathTraceReport, traced: &SizedTrace, process: u64) -> Vec<Value> {
    let packets = traced.account.sampled.as_ref().map_or(&[][..], |sampled| &sampled.packets);
    let start = |packet: &StampedPacket| packet.stamps.first().map_or(0, |stamp| stamp.at);
    let first = packets.first().map_or(0, start);
    let unit = if found.exact { ", 1000 instructions as 1 us" } else { "" };
    let name = format!("{}, {}{unit}", found.path, traced.size());
    let mut events = vec![named("process_name", process, 0, &name)];
    for (packet, track) in packets.iter().zip(1..) {
        events.push(named("thread_name", process, track, &format!("packet {track}")));
        for mut event in of_packet(found, traced, packet, start(packet).saturating_sub(first)) {
            (event["pid"], event["tid"]) = (json!(process), json!(track));
            events.push(event);
        }
    }
    events
}

fn named(what: &str, process: u64, track: u64, name: &str) -> Value {
    json!({ "ph": "M", "name": what, "pid": process, "tid": track, "args": { "name": name } })
}

/// The whole packet, and in it its stages. `came`: its time behind the first packet, in the unit.
fn of_packet(found: &PathTraceReport, traced: &SizedTrace, packet: &StampedPacket, came: u64) -> Vec<Value> {
    let unit = found.unit();
    let stage = |point: u8| match traced.account.stage_at(point) {
        Some(at) => found.name(traced.place(at)),
        None => format!("point {point}"),
    };
    let slices: Vec<_> = packet.slices().collect();
    let (takes, aside) = slices.iter().fold((0, 0), |sum, one| (sum.0 + one.takes, sum.1 + one.aside));
    let costs = |takes: u64, aside: u64| json!({ unit: takes - aside, "aside": aside });
    // Every packet begins at 0, so that packets can be compared one below the other.
    let mut whole = slice("packet", &found.path, (0, takes), costs(takes, aside));
    whole["args"]["behind the first"] = json!(came);
    let mut events = vec![whole];
    for one in slices {
        let [from, to] = one.points;
        let category = if traced.account.waits(from, to) { "waits" } else { "stage" };
        let name = format!("{} to {}", stage(from), stage(to));
        events.push(slice(category, &name, (one.begins, one.takes), costs(one.takes, one.aside)));
    }
    events
}

/// A complete event.
fn slice(category: &str, name: &str, (begins, takes): (u64, u64), args: Value) -> Value {
    // The format wants microseconds; parts of them may follow the point.
    let us = |ns: u64| ns as f64 / 1000.0;
    json!({ "ph": "X", "cat": category, "name": name, "ts": us(begins), "dur": us(takes), "args": args })
}
