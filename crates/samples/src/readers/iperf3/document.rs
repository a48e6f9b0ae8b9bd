//! The fields of iperf3's JSON.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

/// A whole run, or an event of one.
#[derive(Deserialize)]
pub(super) struct Document {
    pub(super) error: Option<String>,
    pub(super) start: Option<Start>,
    #[serde(default)]
    pub(super) intervals: Vec<Interval>,
    pub(super) end: Option<End>,
    event: Option<String>,
    data: Option<Box<RawValue>>,
}

pub(super) enum Event {
    Start(Start),
    Interval(Interval),
    End(Box<End>),
    Error(String),
    Other,
}

impl Document {
    /// The event, if this is a line of `--json-stream`.
    pub(super) fn event(&self) -> Option<serde_json::Result<Event>> {
        let data = self.data.as_ref().map_or("null", |data| data.get());
        Some(match self.event.as_deref()? {
            "start" => serde_json::from_str(data).map(Event::Start),
            "interval" => serde_json::from_str(data).map(Event::Interval),
            "end" => serde_json::from_str(data).map(Event::End),
            "error" => serde_json::from_str(data).map(Event::Error),
            _ => Ok(Event::Other),
        })
    }
}

#[derive(Default, Deserialize)]
pub(super) struct Start {
    /// A field that only a client has.
    pub(super) connecting_to: Option<IgnoredAny>,
    /// A field that only a server has.
    pub(super) accepted_connection: Option<IgnoredAny>,
    pub(super) version: Option<String>,
    /// A name that client and server have made for the run.
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

#[derive(Deserialize)]
pub(super) struct Interval {
    pub(super) sum: Option<Sum>,
    pub(super) sum_bidir_reverse: Option<Sum>,
}

#[derive(Default, Deserialize)]
pub(super) struct End {
    /// UDP: the sent bytes, and the loss.
    pub(super) sum: Option<Sum>,
    pub(super) sum_sent: Option<Sum>,
    pub(super) sum_received: Option<Sum>,
    pub(super) sum_bidir_reverse: Option<Sum>,
    pub(super) sum_sent_bidir_reverse: Option<Sum>,
    pub(super) sum_received_bidir_reverse: Option<Sum>,
    pub(super) cpu_utilization_percent: Option<Cpu>,
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
    /// Whether the interval belongs to the warm-up (`-O`).
    #[serde(default)]
    pub(super) omitted: bool,
}

#[derive(Deserialize)]
pub(super) struct Cpu {
    pub(super) host_total: Option<f64>,
    pub(super) remote_total: Option<f64>,
}
