//! iperf's `-y C`: for each interval and connection time, address, port, address, port, number,
//! interval, bytes, bits/s, and for UDP jitter, lost, datagrams, % lost, out of order.
//!
//! A connection's last line is its total. Connections of one run (`-P`) have different numbers;
//! their rates are added, unless iperf adds them (number -1). A repeated number begins another run;
//! so does another end time, since servers number connections on.
//!
//! Addresses do not say who counts: iperf 2.0 writes its own first, 2.1 its client's. What a client
//! of UDP counts was sent.

use std::collections::HashMap;
use std::io::Read;

use crate::error::{Fault, FilePosition};
use crate::lines::{Line, for_each_line, measured};
use crate::options::Options;
use crate::readers::{ReadValues, chosen};
use crate::series::{Collector, SeriesKey};

const TCP_COLUMNS: usize = 9;
const UDP_COLUMNS: usize = 14;

// The first port that Linux gives to clients by itself (`net.ipv4.ip_local_port_range`).
const FIRST_OF_CLIENTS: u32 = 32768;

// The most connections of one run: iperf starts a thread for each.
const MOST_CONNECTIONS: usize = 1 << 12;

const UNCHANGED: &str = "give the unchanged output of iperf -y C";

// The number of the line with iperf's own sum of parallel connections.
const SUM: &[u8] = b"-1";

pub(crate) fn is_line(line: &[u8]) -> bool {
    let fields: Vec<&[u8]> = line.split(|byte| *byte == b',').take(TCP_COLUMNS).collect();
    fields.len() == TCP_COLUMNS
        && fields[0].len() >= 14
        && fields[0].iter().all(|byte| byte.is_ascii_digit() || b".:+-".contains(byte))
        && interval(fields[6]).is_some()
}

pub(crate) fn read(input: impl Read, options: &Options) -> Result<ReadValues, Fault> {
    let is_sent_asked = chosen("iperf", options, &["throughput", "sent"])? == "sent";
    let mut reader =
        IperfReader { is_sent_asked, collector: Collector::of_program(), ..IperfReader::default() };
    for_each_line(input, |line| reader.take(line))?;
    reader.finish()
}

#[derive(Default)]
struct IperfReader {
    /// The key is the ends and the number.
    open: HashMap<Vec<u8>, Total>,
    run: Vec<Total>,
    collector: Collector,
    is_sent_asked: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Count {
    OneSide,
    Sent,
    ReceivedTcp,
    ReceivedUdp,
    /// A count of UDP; nothing says by whom.
    Unclear,
}

impl Count {
    fn from_fields(fields: &[&[u8]]) -> Count {
        let is_client = |field: &[u8]| {
            let port = str::from_utf8(field).ok().and_then(|port| port.parse::<u32>().ok());
            port.is_some_and(|port| port >= FIRST_OF_CLIENTS)
        };
        let is_server_first = !is_client(fields[2]) && is_client(fields[4]);
        if fields.len() < UDP_COLUMNS {
            return if is_server_first { Count::ReceivedTcp } else { Count::OneSide };
        }
        // Only a receiver counts jitter and loss; a client's number of datagrams may be -1.
        let has_figure = |field: &[u8]| field.iter().any(|byte| (b'1'..=b'9').contains(byte));
        if is_server_first || has_figure(fields[9]) || has_figure(fields[10]) {
            return Count::ReceivedUdp;
        }
        if fields[11].starts_with(b"-") { Count::Sent } else { Count::Unclear }
    }

    fn description(self) -> &'static str {
        match self {
            Count::OneSide | Count::Unclear => "counted by one side",
            Count::Sent => "sent by the client, UDP",
            Count::ReceivedUdp => "received by the server, UDP",
            Count::ReceivedTcp => "received by the server, TCP",
        }
    }
}

/// The total of a connection, or its first line while it is open.
struct Total {
    place: FilePosition,
    count: Count,
    number: Vec<u8>,
    /// In Mbit/s.
    rate: f64,
    /// In s since an arbitrary day.
    time: f64,
    /// Its length, in s.
    duration: f64,
    /// Recognises the line when it comes again.
    figures: Vec<u8>,
    /// A line of a later interval was seen: the next one that begins at 0 is the total.
    has_later: bool,
}

impl Total {
    fn may_be_beside(&self, other: &Total) -> bool {
        // Clocks count whole seconds: parallel connections may end in two of them.
        let apart = (other.time - self.time).abs();
        other.number != self.number && apart <= (self.duration / 2.0).max(1.0)
    }
}

impl IperfReader {
    fn take(&mut self, line: &Line<'_>) -> Result<(), Fault> {
        let bytes = line.bytes.trim_ascii();
        if bytes.is_empty() || bytes.starts_with(b"#") {
            return Ok(());
        }
        let fields: Vec<&[u8]> = bytes.split(|byte| *byte == b',').collect();
        if fields.len() < TCP_COLUMNS {
            let what = format!("{} columns where iperf writes {TCP_COLUMNS} or more", fields.len());
            return Err(Fault::new(line.place_of(bytes), what, "complete the line, or put # before it"));
        }
        let Some((from, to)) = interval(fields[6]) else {
            return Err(Fault::new(line.place_of(fields[6]), "no interval such as 0.0-10.0", UNCHANGED));
        };
        let place = line.place_of(fields[8]);
        let ends = fields[1..6].join(&b',');
        let total = Total {
            place,
            count: Count::from_fields(&fields),
            number: fields[5].to_owned(),
            rate: measured(fields[8], place)? / 1e6,
            time: seconds(fields[0]),
            duration: to - from,
            figures: fields[6..].join(&b','),
            has_later: from > 0.0,
        };
        let is_full = self.open.len() == MOST_CONNECTIONS;
        match self.open.get_mut(&ends) {
            Some(open) if from > 0.0 => open.has_later = true,
            Some(open) if open.has_later => {
                self.open.remove(&ends);
                self.add(total)?;
            }
            // An interval of the length of the run occurs twice.
            Some(open) if open.figures == total.figures => {}
            Some(open) => {
                let before = std::mem::replace(open, total);
                self.add(before)?;
            }
            None if is_full => {
                let what = format!("more than {MOST_CONNECTIONS} connections without a total");
                return Err(Fault::new(place, what, UNCHANGED));
            }
            None => {
                self.close_number(&total.number)?;
                self.open.insert(ends, total);
            }
        }
        Ok(())
    }

    fn close_number(&mut self, number: &[u8]) -> Result<(), Fault> {
        let ends = self.open.iter().find(|(_, open)| open.number == number).map(|(ends, _)| ends.clone());
        ends.and_then(|ends| self.open.remove(&ends)).map_or(Ok(()), |open| self.close(open))
    }

    fn close(&mut self, open: Total) -> Result<(), Fault> {
        if open.has_later {
            let what = "a connection without a line for its whole time";
            return Err(Fault::new(open.place, what, "the run was cut short; leave it out"));
        }
        self.add(open)
    }

    fn add(&mut self, total: Total) -> Result<(), Fault> {
        // UDP has one line for the sent bytes and one for the received ones.
        match (total.count, self.is_sent_asked) {
            (Count::Sent, false) => {
                let reason = "runs of UDP of which only the client's count is there";
                self.collector.leave_out(reason, total.place);
                return Ok(());
            }
            (Count::Unclear, _) => {
                let what =
                    "UDP without jitter and loss: nothing says whether the client or the server counted";
                return Err(Fault::new(total.place, what, "give the server's output (iperf -s -u -y C)"));
            }
            (Count::ReceivedTcp | Count::ReceivedUdp | Count::OneSide, true) => return Ok(()),
            _ => {}
        }
        if !self.run.iter().all(|other| total.may_be_beside(other)) {
            self.end_run()?;
        }
        if self.run.len() == MOST_CONNECTIONS {
            let what = format!("more than {MOST_CONNECTIONS} connections of one run");
            return Err(Fault::new(total.place, what, "give each run as a file"));
        }
        self.run.push(total);
        Ok(())
    }

    fn end_run(&mut self) -> Result<(), Fault> {
        let totals = std::mem::take(&mut self.run);
        let Some(last) = totals.last() else { return Ok(()) };
        let connections: Vec<&Total> = totals.iter().filter(|total| total.number != SUM).collect();
        let sum = totals.iter().find(|total| total.number == SUM);
        let rate = sum.map_or_else(|| connections.iter().map(|total| total.rate).sum(), |sum| sum.rate);
        let description = |total: &Total| total.count.description();
        let first = description(connections.first().unwrap_or(&last));
        let is_one = connections.iter().all(|total| description(total) == first);
        let words = if is_one { first } else { "both directions, added up" };
        let streams = match connections.len() {
            0 | 1 => "1 connection".to_owned(),
            several => format!("{several} connections"),
        };
        let metric = if self.is_sent_asked { "sent" } else { "throughput" };
        let key = SeriesKey { kind: Some(format!("{words}, {streams}")), ..SeriesKey::new(metric, "Mbit/s") };
        self.collector.push(&key, None, rate, last.place)
    }

    fn finish(mut self) -> Result<ReadValues, Fault> {
        let mut open: Vec<Total> = std::mem::take(&mut self.open).into_values().collect();
        open.sort_by_key(|open| open.place.line);
        open.into_iter().try_for_each(|open| self.close(open))?;
        self.end_run()?;
        self.collector.finish().map_err(|fault| match fault {
            Fault::Content { place, .. } => Fault::new(
                place,
                "only what a client of UDP sent, not what its server received",
                "give the server's output (iperf -s -u -y C), or compare what was sent: --metric sent",
            ),
            other => other,
        })
    }
}

/// `0.0-10.0`: from and to, in s.
fn interval(word: &[u8]) -> Option<(f64, f64)> {
    let (from, to) = str::from_utf8(word).ok()?.split_once('-')?;
    let (from, to): (f64, f64) = (from.trim().parse().ok()?, to.trim().parse().ok()?);
    (from >= 0.0 && from <= to).then_some((from, to))
}

/// A time like `20261121122148` in s since an arbitrary day.
fn seconds(time: &[u8]) -> f64 {
    let number = |from: usize, to: usize| {
        let digits = time.get(from..to).unwrap_or_default();
        digits.iter().fold(0.0, |value, digit| value * 10.0 + f64::from(digit.wrapping_sub(b'0') % 10))
    };
    // Months of 31 days: the time only tells which connections ended together.
    let days = (number(0, 4) * 12.0 + number(4, 6)) * 31.0 + number(6, 8);
    ((days * 24.0 + number(8, 10)) * 60.0 + number(10, 12)) * 60.0 + number(12, 14)
}
