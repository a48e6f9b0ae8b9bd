//! iperf3's `-J`: each document is one run; `--json-stream`: each line is an event of a run.
//!
//! The writer knows its own side, a client also the server's count. UDP's total (`sum`) is what was
//! sent, with the loss beside it; older versions write nothing else.

mod run;

use std::collections::BTreeMap;
use std::io::Read;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use crate::error::{Fault, FilePosition};
use crate::options::Options;
use crate::readers::iperf3::run::TestValue;
use crate::readers::{ReadValues, chosen, json};
use crate::series::{Collector, SeriesKey};

const METRICS: &[(&str, &str, TestValue)] = &[
    ("throughput", "Mbit/s", TestValue::Received),
    ("throughput_forward", "Mbit/s", TestValue::Forward),
    ("throughput_reverse", "Mbit/s", TestValue::Reverse),
    ("sent", "Mbit/s", TestValue::Sent),
    ("retransmits", "1", TestValue::Retransmits),
    ("jitter", "ms", TestValue::Jitter),
    ("loss", "%", TestValue::Loss),
    ("cpu", "%", TestValue::Cpu),
    ("remote_cpu", "%", TestValue::RemoteCpu),
];

// Intervals of one run belong together like the runs of a boot.
const INTERVALS: &str = "intervals";

pub(crate) fn read(input: impl Read, options: &Options) -> Result<ReadValues, Fault> {
    let known: Vec<&str> = METRICS.iter().map(|(word, ..)| *word).chain([INTERVALS]).collect();
    let word = chosen("iperf3", options, &known)?;
    let metric = METRICS.iter().find(|(known, ..)| *known == word).copied();
    let mut reader = Iperf3Reader { metric, collector: Collector::of_program(), ..Iperf3Reader::default() };
    json::for_each_document(input, |document, place| reader.take(document, place))?;
    reader.finish()
}

#[derive(Default)]
struct Iperf3Reader {
    /// `None`: the intervals.
    metric: Option<(&'static str, &'static str, TestValue)>,
    open: Option<Iperf3Run>,
    count: u64,
    collector: Collector,
}

impl Iperf3Reader {
    fn take(&mut self, document: Iperf3Run, place: FilePosition) -> Result<(), Fault> {
        let Some(event) = document.event.as_deref() else {
            self.close()?;
            let run = Iperf3Run { place, ..document };
            if run.error.is_none() && run.start.is_none() && run.end.is_none() {
                let what = "neither iperf3's JSON (no `end`) nor hyperfine's (no `results`)";
                return Err(Fault::new(place, what, json::KNOWN));
            }
            return self.run(run);
        };
        if event == "start" {
            self.close()?;
        }
        let data = document.data.as_ref().map_or("null", |data| data.get());
        let run = self.open.get_or_insert_with(|| Iperf3Run { place, ..Iperf3Run::default() });
        run.add(event, data).map_err(|error| {
            let what = words::sanitised_line(&error.to_string()).into_owned();
            Fault::new(place, what, "give the unchanged output of iperf3 --json-stream")
        })
    }

    fn close(&mut self) -> Result<(), Fault> {
        self.open.take().map_or(Ok(()), |run| self.run(run))
    }

    fn run(&mut self, run: Iperf3Run) -> Result<(), Fault> {
        let collector = &mut self.collector;
        let cookie = run.start.as_ref().and_then(|start| start.cookie.as_deref());
        if cookie.is_some_and(|cookie| collector.found.repeats(cookie, run.place)) {
            collector.leave_out("runs that the file holds already (by their cookie)", run.place);
            return Ok(());
        }
        if let Some(failure) = run.failure() {
            collector.leave_out(&failure, run.place);
            return Ok(());
        }
        self.count += 1;
        run.add_settings(&mut collector.found);
        let Some((word, unit, metric)) = self.metric else { return self.intervals(&run) };
        let (value, kind) = run.value(metric, word)?;
        let key = SeriesKey { kind: Some(kind), ..SeriesKey::new(word, unit) };
        self.collector.push(&key, None, value, run.place)
    }

    fn intervals(&mut self, run: &Iperf3Run) -> Result<(), Fault> {
        let boot = format!("run {}", self.count);
        let key = SeriesKey {
            kind: Some(run.kind_of_intervals()),
            ..SeriesKey::new("throughput of intervals", "Mbit/s")
        };
        for rate in run.intervals() {
            self.collector.push(&key, Some(boot.as_bytes()), rate, run.place)?;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<ReadValues, Fault> {
        self.close()?;
        let mut found = self.collector.finish()?;
        if self.metric.is_none() {
            let note = "each iperf3 run counts as a boot, and its intervals as runs in that boot";
            found.notes.push(note.to_owned());
            found.owns_boots = true;
        }
        Ok(found)
    }
}

/// A document: one run, or an event of one.
#[derive(Default, Deserialize)]
pub(super) struct Iperf3Run {
    #[serde(skip)]
    pub(super) place: FilePosition,
    pub(super) error: Option<String>,
    pub(super) start: Option<Start>,
    #[serde(default)]
    pub(super) intervals: Vec<Totals>,
    pub(super) end: Option<Totals>,
    event: Option<String>,
    data: Option<Box<RawValue>>,
}

#[derive(Default, Deserialize)]
pub(super) struct Start {
    /// A field that only a client has.
    pub(super) connecting_to: Option<IgnoredAny>,
    /// A field that only a server has.
    pub(super) accepted_connection: Option<IgnoredAny>,
    pub(super) version: Option<String>,
    pub(super) cookie: Option<String>,
    #[serde(default)]
    pub(super) test_start: TestStart,
}

#[derive(Default, Deserialize)]
pub(super) struct TestStart {
    pub(super) protocol: Option<String>,
    pub(super) num_streams: Option<f64>,
    pub(super) blksize: Option<f64>,
    pub(super) omit: Option<f64>,
    pub(super) duration: Option<f64>,
    pub(super) reverse: Option<f64>,
    pub(super) bidir: Option<f64>,
    pub(super) tos: Option<f64>,
    /// The requested rate in bit/s for each stream; 0: none.
    pub(super) target_bitrate: Option<f64>,
}

/// The totals of a run, or those of one interval: `sum` and `sum_bidir_reverse`.
#[derive(Default, Deserialize)]
pub(super) struct Totals {
    /// At the end, and of UDP: the sent bytes, and the loss.
    pub(super) sum: Option<Sum>,
    pub(super) sum_sent: Option<Sum>,
    pub(super) sum_received: Option<Sum>,
    pub(super) sum_bidir_reverse: Option<Sum>,
    pub(super) sum_sent_bidir_reverse: Option<Sum>,
    pub(super) sum_received_bidir_reverse: Option<Sum>,
    pub(super) cpu_utilization_percent: Option<BTreeMap<String, Option<f64>>>,
    pub(super) sender_tcp_congestion: Option<String>,
}

#[derive(Default, Deserialize)]
pub(super) struct Sum {
    pub(super) bytes: Option<f64>,
    pub(super) bits_per_second: Option<f64>,
    pub(super) retransmits: Option<f64>,
    pub(super) jitter_ms: Option<f64>,
    pub(super) lost_packets: Option<f64>,
    pub(super) packets: Option<f64>,
    pub(super) lost_percent: Option<f64>,
    /// The interval belongs to the warm-up (`-O`).
    #[serde(default)]
    pub(super) omitted: bool,
}
