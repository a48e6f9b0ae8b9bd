//! One run of iperf3: which figure is of which side and direction.

use crate::error::Fault;
use crate::readers::ReadValues;
use crate::readers::iperf3::{Iperf3Run, Sum, Totals};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TestValue {
    /// The received rate in all directions.
    Received,
    Forward,
    Reverse,
    Sent,
    Retransmits,
    Jitter,
    Loss,
    Cpu,
    RemoteCpu,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Client,
    Server,
}

impl Role {
    fn by(self) -> &'static str {
        if self == Role::Client { " by the client" } else { " by the server" }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TestSense {
    /// From client to server.
    Forward,
    /// From server to client.
    Reverse,
    Unknown,
}

impl TestSense {
    fn sender(self) -> Option<Role> {
        match self {
            TestSense::Forward => Some(Role::Client),
            TestSense::Reverse => Some(Role::Server),
            TestSense::Unknown => None,
        }
    }

    fn receiver(self) -> Option<Role> {
        self.sender().map(|side| if side == Role::Client { Role::Server } else { Role::Client })
    }
}

impl Iperf3Run {
    pub(super) fn add(&mut self, event: &str, data: &str) -> serde_json::Result<()> {
        let Iperf3Run { error, start, intervals, end, .. } = self;
        match event {
            "start" => *start = serde_json::from_str(data).map(Some)?,
            "interval" => intervals.push(serde_json::from_str(data)?),
            "end" => *end = serde_json::from_str(data).map(Some)?,
            "error" => *error = serde_json::from_str(data).map(Some)?,
            _ => {}
        }
        Ok(())
    }

    fn fault(&self, what: impl Into<String>, way_out: impl Into<String>) -> Fault {
        Fault::new(self.place, what, way_out)
    }

    fn unknown_to_server(&self, what: &str, metric: &str) -> Fault {
        let what = format!("the server's output does not hold what its client {what}");
        let way_out = "give the client's output, or compare what the server counted: --metric";
        self.fault(what, format!("{way_out} {metric}"))
    }

    fn without(&self, word: &str) -> Fault {
        let way_out = "it was interrupted, or its protocol does not count that; leave it out";
        self.fault(format!("a run without {word}"), way_out)
    }

    pub(super) fn failure(&self) -> Option<String> {
        match (&self.error, &self.end) {
            (Some(error), _) => Some(format!("runs that failed: {}", words::shortened_reason(error))),
            (None, None) => Some("runs that were cut short".to_owned()),
            (None, Some(_)) => None,
        }
    }

    pub(super) fn add_settings(&self, found: &mut ReadValues) {
        let Some(start) = &self.start else { return };
        let test = &start.test_start;
        let number = |value: Option<f64>| value.map(|value| value.to_string());
        let congestion = self.end.as_ref().and_then(|end| end.sender_tcp_congestion.clone());
        for (name, value) in [
            ("length of the blocks (-l)", number(test.blksize)),
            ("duration (-t)", number(test.duration)),
            ("omitted seconds (-O)", number(test.omit)),
            ("type of service (-S)", number(test.tos)),
            ("version", start.version.clone()),
            ("congestion control", congestion),
        ] {
            value.iter().for_each(|value| found.add_setting(name, value));
        }
    }

    /// The figure and its kind.
    pub(super) fn value(&self, metric: TestValue, word: &str) -> Result<(f64, String), Fault> {
        let directions = self.directions();
        let counted = match metric {
            TestValue::Forward => vec![TestSense::Forward],
            TestValue::Reverse => vec![TestSense::Reverse],
            _ => directions.clone(),
        };
        if counted.iter().any(|direction| !directions.contains(direction)) {
            let way_out = "choose another metric, or leave it out";
            return Err(self.fault(format!("a run without {word}"), way_out));
        }
        let total = |of: &dyn Fn(TestSense) -> Result<f64, Fault>| -> Result<f64, Fault> {
            counted.iter().try_fold(0.0, |sum, direction| Ok(sum + of(*direction)?))
        };
        let received = || self.kind("received", &counted, TestSense::receiver);
        Ok(match metric {
            TestValue::Received | TestValue::Forward | TestValue::Reverse => {
                (total(&|direction| Ok(self.received(direction)? / 1e6))?, received())
            }
            TestValue::Sent => {
                let sum = total(&|direction| self.sent(direction, word, |sum| sum.bits_per_second))?;
                (sum / 1e6, self.kind("sent", &counted, TestSense::sender))
            }
            TestValue::Retransmits => {
                let sum = total(&|direction| self.sent(direction, word, |sum| sum.retransmits))?;
                (sum, self.kind("retransmitted", &counted, TestSense::sender))
            }
            TestValue::Jitter => {
                let [direction] = counted[..] else {
                    let way_out = "measure each direction by itself, without --bidir";
                    return Err(self.fault("a run of two directions has no single jitter", way_out));
                };
                let jitter = self.loss_report(direction, word)?.jitter_ms;
                (jitter.ok_or_else(|| self.without(word))?, received())
            }
            TestValue::Loss => {
                let counts = |of: fn(&Sum) -> Option<f64>| {
                    total(&|direction| {
                        of(self.loss_report(direction, word)?).ok_or_else(|| self.without(word))
                    })
                };
                let lost = match (counts(|sum| sum.lost_packets), counts(|sum| sum.packets)) {
                    (Ok(lost), Ok(packets)) if packets > 0.0 => 100.0 * lost / packets,
                    _ if counted.len() > 1 => return Err(self.without(word)),
                    _ => counts(|sum| sum.lost_percent)?,
                };
                (lost, received())
            }
            TestValue::Cpu | TestValue::RemoteCpu => self.cpu(metric, &counted, word)?,
        })
    }

    fn writer(&self) -> Option<Role> {
        let start = self.start.as_ref()?;
        if start.connecting_to.is_some() {
            return Some(Role::Client);
        }
        start.accepted_connection.is_some().then_some(Role::Server)
    }

    fn directions(&self) -> Vec<TestSense> {
        let test = self.start.as_ref().map(|start| &start.test_start);
        let is_set = |flag: Option<f64>| flag.map(|flag| flag != 0.0);
        let end = self.end.as_ref();
        let has_both = end
            .is_some_and(|end| end.sum_bidir_reverse.is_some() || end.sum_received_bidir_reverse.is_some());
        if has_both || test.and_then(|test| is_set(test.bidir)) == Some(true) {
            return vec![TestSense::Forward, TestSense::Reverse];
        }
        vec![match test.and_then(|test| is_set(test.reverse)) {
            Some(true) => TestSense::Reverse,
            Some(false) => TestSense::Forward,
            None => TestSense::Unknown,
        }]
    }

    /// UDP's total, the sender's, and the receiver's.
    fn sums(&self, direction: TestSense) -> [Option<&Sum>; 3] {
        let Some(end) = &self.end else { return [None; 3] };
        let sums = if direction == TestSense::Reverse && self.directions().len() > 1 {
            [&end.sum_bidir_reverse, &end.sum_sent_bidir_reverse, &end.sum_received_bidir_reverse]
        } else {
            [&end.sum, &end.sum_sent, &end.sum_received]
        };
        sums.map(Option::as_ref)
    }

    fn knows(&self, side: Option<Role>) -> bool {
        self.writer() != Some(Role::Server) || side == Some(Role::Server)
    }

    /// In bit/s; where nobody reports it, the sent rate less the loss.
    fn received(&self, direction: TestSense) -> Result<f64, Fault> {
        let [total, sent, received] = self.sums(direction);
        if !self.knows(direction.receiver()) {
            return Err(self.unknown_to_server("received", "sent"));
        }
        if let Some(received) = received {
            let rate = received.bits_per_second.ok_or_else(|| self.without("throughput"))?;
            let is_sent = sent.and_then(|sum| sum.bytes).is_some_and(|bytes| bytes > 0.0);
            // UDP may be lost; TCP cannot send much that nobody receives.
            if rate == 0.0 && is_sent && (total.is_none() || self.writer().is_none()) {
                let what = "nothing received of what was sent: the receiver's count is not there";
                let way_out =
                    "give the client's output of a whole run, or compare what was sent: --metric sent";
                return Err(self.fault(what, way_out));
            }
            return Ok(rate);
        }
        let total = total.ok_or_else(|| self.without("throughput"))?;
        let sent = total.bits_per_second.ok_or_else(|| self.without("throughput"))?;
        let lost = match (total.lost_packets, total.packets, total.lost_percent) {
            (Some(lost), Some(packets), _) if packets > 0.0 => lost / packets,
            (Some(0.0), ..) => 0.0,
            (None, _, Some(percent)) => percent / 100.0,
            _ => {
                let way_out = "compare what was sent: --metric sent";
                return Err(self.fault("UDP's rate of the sender, without the loss", way_out));
            }
        };
        if !(0.0..=1.0).contains(&lost) {
            let what = format!("a loss of {:.1} % of the datagrams", 100.0 * lost);
            return Err(self.fault(what, "the result is damaged: leave it out"));
        }
        Ok(sent * (1.0 - lost))
    }

    fn sent(&self, direction: TestSense, word: &str, of: impl Fn(&Sum) -> Option<f64>) -> Result<f64, Fault> {
        if !self.knows(direction.sender()) {
            return Err(self.unknown_to_server("sent", "throughput"));
        }
        let [total, sent, _] = self.sums(direction);
        sent.or(total).and_then(of).ok_or_else(|| self.without(word))
    }

    fn loss_report(&self, direction: TestSense, word: &str) -> Result<&Sum, Fault> {
        // The receiver counts jitter and loss.
        if !self.knows(direction.receiver()) {
            return Err(self.unknown_to_server("received", "sent"));
        }
        let [total, _, received] = self.sums(direction);
        let counts = |sum: &&Sum| sum.lost_packets.is_some() || sum.jitter_ms.is_some();
        total.or(received).filter(counts).ok_or_else(|| self.without(word))
    }

    fn cpu(&self, metric: TestValue, directions: &[TestSense], word: &str) -> Result<(f64, String), Fault> {
        let percent = |key: &str| *self.end.as_ref()?.cpu_utilization_percent.as_ref()?.get(key)?;
        let (value, side) = match (metric, self.writer()) {
            (TestValue::RemoteCpu, Some(Role::Server)) => {
                return Err(self.unknown_to_server("used", "cpu"));
            }
            (TestValue::RemoteCpu, writer) => (percent("remote_total"), writer.map(|_| Role::Server)),
            (_, writer) => (percent("host_total"), writer),
        };
        let what = match side {
            Some(Role::Client) => "of the client's CPUs",
            Some(Role::Server) => "of the server's CPUs",
            None => "of CPUs",
        };
        Ok((value.ok_or_else(|| self.without(word))?, self.described(what.to_owned(), directions)))
    }

    /// In Mbit/s.
    pub(super) fn intervals(&self) -> Vec<f64> {
        let rate = |interval: &Totals| {
            let sums = [interval.sum.as_ref(), interval.sum_bidir_reverse.as_ref()];
            let counted = sums.into_iter().flatten().filter(|sum| !sum.omitted);
            counted.filter_map(|sum| sum.bits_per_second).reduce(|one, other| one + other)
        };
        self.intervals.iter().filter_map(rate).map(|rate| rate / 1e6).collect()
    }

    pub(super) fn kind_of_intervals(&self) -> String {
        let directions = self.directions();
        // Intervals are counted by the writer alone.
        let what = match (self.writer(), &directions[..]) {
            (None, _) => "counted by one side".to_owned(),
            (Some(side), [direction]) if direction.sender() == Some(side) => format!("sent{}", side.by()),
            (Some(side), [direction]) if direction.receiver() == Some(side) => {
                format!("received{}", side.by())
            }
            (Some(side), _) => format!("sent and received{}", side.by()),
        };
        self.described(what, &directions)
    }

    /// The kind of a figure, such as `received by the server, TCP, forward, 1 stream`.
    fn kind(&self, what: &str, directions: &[TestSense], side: fn(TestSense) -> Option<Role>) -> String {
        let by = match directions {
            [direction] => side(*direction).map_or("", Role::by),
            _ => " at both ends, added up",
        };
        self.described(format!("{what}{by}"), directions)
    }

    fn described(&self, what: String, directions: &[TestSense]) -> String {
        let mut parts = vec![what];
        let test = self.start.as_ref().map(|start| &start.test_start);
        let has_udp = self.end.as_ref().is_some_and(|end| end.sum.is_some());
        let protocol = test.and_then(|test| test.protocol.clone());
        parts.extend(protocol.or_else(|| has_udp.then(|| "UDP".to_owned())));
        parts.extend(match directions {
            [TestSense::Forward] => Some("forward".to_owned()),
            [TestSense::Reverse] => Some("reverse".to_owned()),
            [TestSense::Unknown] => None,
            _ => Some("both directions".to_owned()),
        });
        if self.directions().len() > directions.len() {
            parts.push("beside the other direction".to_owned());
        }
        if let Some(streams) = test.and_then(|test| test.num_streams) {
            parts.push(format!("{streams} stream{}", if streams == 1.0 { "" } else { "s" }));
        }
        if let Some(rate) = test.and_then(|test| test.target_bitrate).filter(|rate| *rate > 0.0) {
            parts.push(format!("paced to {} Mbit/s", rate / 1e6));
        }
        parts.join(", ")
    }
}
