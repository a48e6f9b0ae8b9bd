//! iperf3's `-J`: each document is one run; a file may have several.

use std::io::Read;

use serde::Deserialize;

use super::{Found, json, no_such_metric, require_no_boot};
use crate::error::{Fault, Place};
use crate::options::Options;
use crate::series::{Collector, Key};

#[derive(Deserialize)]
struct Document {
    error: Option<String>,
    #[serde(default)]
    intervals: Vec<Interval>,
    end: Option<End>,
}

#[derive(Deserialize)]
struct Interval {
    sum: Option<Sum>,
}

#[derive(Deserialize)]
struct End {
    /// Totals of UDP.
    sum: Option<Sum>,
    sum_sent: Option<Sum>,
    sum_received: Option<Sum>,
    cpu_utilization_percent: Option<Cpu>,
}

#[derive(Deserialize)]
struct Sum {
    bits_per_second: Option<f64>,
    retransmits: Option<f64>,
    jitter_ms: Option<f64>,
    lost_percent: Option<f64>,
    /// Whether the interval belongs to the warm-up (`-O`).
    #[serde(default)]
    omitted: bool,
}

#[derive(Deserialize)]
struct Cpu {
    host_total: Option<f64>,
    remote_total: Option<f64>,
}

/// A metric of a run.
struct Metric {
    word: &'static str,
    unit: &'static str,
    of: fn(&Document) -> Option<f64>,
}

const METRICS: &[Metric] = &[
    // The receiver's count, if there is one.
    Metric {
        word: "throughput",
        unit: "Mbit/s",
        of: |run| {
            let end = run.end.as_ref()?;
            let rate = |sum: &Option<Sum>| sum.as_ref()?.bits_per_second;
            Some(rate(&end.sum_received).or_else(|| rate(&end.sum))? / 1e6)
        },
    },
    Metric {
        word: "sent",
        unit: "Mbit/s",
        of: |run| Some(run.end.as_ref()?.sum_sent.as_ref()?.bits_per_second? / 1e6),
    },
    Metric { word: "retransmits", unit: "1", of: |run| run.end.as_ref()?.sum_sent.as_ref()?.retransmits },
    Metric { word: "jitter", unit: "ms", of: |run| run.end.as_ref()?.sum.as_ref()?.jitter_ms },
    Metric { word: "loss", unit: "%", of: |run| run.end.as_ref()?.sum.as_ref()?.lost_percent },
    Metric {
        word: "cpu",
        unit: "%",
        of: |run| run.end.as_ref()?.cpu_utilization_percent.as_ref()?.host_total,
    },
    Metric {
        word: "remote_cpu",
        unit: "%",
        of: |run| run.end.as_ref()?.cpu_utilization_percent.as_ref()?.remote_total,
    },
];

/// The throughput of each interval. The intervals of one run belong together like the runs of a
/// boot.
const INTERVALS: &str = "intervals";

pub(crate) fn read(input: impl Read, options: &Options) -> Result<Found, Fault> {
    require_no_boot("iperf3", options)?;
    let word = options.metric.as_deref().filter(|word| *word != "all").unwrap_or(METRICS[0].word);
    if word == INTERVALS {
        return intervals(input);
    }
    let Some(metric) = METRICS.iter().find(|metric| metric.word == word) else {
        let known: Vec<String> =
            METRICS.iter().map(|metric| metric.word).chain([INTERVALS]).map(str::to_owned).collect();
        return Err(no_such_metric(word, &known));
    };
    let key = Key::of(metric.word, metric.unit);
    let mut collector = Collector::default();
    json::each(input, |run: Document, place| {
        require_success(&run, place)?;
        let value = (metric.of)(&run).ok_or_else(|| {
            Fault::new(
                place,
                format!("a run without {}", metric.word),
                "it was interrupted, or its protocol does not count that; leave it out",
            )
        })?;
        collector.push(&key, None, value, place)
    })?;
    Ok(Found::new(collector, Vec::new()))
}

fn intervals(input: impl Read) -> Result<Found, Fault> {
    let key = Key::of("throughput of intervals", METRICS[0].unit);
    let mut collector = Collector::default();
    let mut runs = 0_u64;
    json::each(input, |run: Document, place| {
        require_success(&run, place)?;
        runs += 1;
        let boot = format!("run {runs}");
        for sum in run.intervals.iter().filter_map(|interval| interval.sum.as_ref()) {
            if let (Some(rate), false) = (sum.bits_per_second, sum.omitted) {
                collector.push(&key, Some(boot.as_bytes()), rate / 1e6, place)?;
            }
        }
        Ok(())
    })?;
    let note = "each iperf3 run counts as a boot, and its intervals as runs in that boot";
    Ok(Found { owns_boots: true, ..Found::new(collector, vec![note.to_owned()]) })
}

fn require_success(run: &Document, place: Place) -> Result<(), Fault> {
    if let Some(error) = &run.error {
        let what = format!("the run failed: {}", text::reason(error));
        return Err(Fault::new(place, what, "leave it out, and say that it failed"));
    }
    if run.end.is_none() {
        return Err(Fault::new(
            place,
            "neither iperf3's JSON (no `end`) nor hyperfine's (no `results`)",
            "netassay reads the JSON of iperf3 -J and hyperfine --export-json",
        ));
    }
    Ok(())
}
