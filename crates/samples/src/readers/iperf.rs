//! iperf's `-y C`: a line for each interval and connection, without names of columns: time,
//! address, port, address, port, number, interval, bytes, bits/s, and for UDP jitter, lost,
//! datagrams, % lost, out of order.
//!
//! A connection's last line is its total, from 0 to the end. Connections of one run (`-P`) have
//! different numbers; their rates are added, unless iperf has added them itself (number -1). A
//! repeated number begins another run; so does a connection with another end time, since servers
//! number connections on.

use std::collections::HashMap;
use std::io::Read;

use super::{Found, no_such_metric, require_no_boot};
use crate::error::{Fault, Place};
use crate::lines::{Line, Lines};
use crate::options::Options;
use crate::series::{Collector, Key};
use crate::word::measured;

const TCP_COLUMNS: usize = 9;

/// The most connections of one run: iperf starts a thread for each.
const MOST_CONNECTIONS: usize = 1 << 12;

/// The number of the line with iperf's own sum of parallel connections.
const SUM: &[u8] = b"-1";

pub(crate) fn is_line(line: &[u8]) -> bool {
    let fields: Vec<&[u8]> = line.split(|byte| *byte == b',').take(TCP_COLUMNS).collect();
    fields.len() == TCP_COLUMNS
        && fields[0].len() >= 14
        && fields[0].iter().all(|byte| byte.is_ascii_digit() || b".:+-".contains(byte))
        && interval(fields[6]).is_some()
}

pub(crate) fn read(input: impl Read, options: &Options) -> Result<Found, Fault> {
    require_no_boot("iperf", options)?;
    match options.metric.as_deref() {
        None | Some("all" | "throughput") => {}
        Some(other) => return Err(no_such_metric(other, &["throughput".to_owned()])),
    }
    let mut reader = Reader::default();
    let mut lines = Lines::new(input);
    while let Some(line) = lines.next()? {
        reader.take(&line)?;
    }
    reader.finish()
}

#[derive(Default)]
struct Reader {
    /// Connections without a total so far, by ends and number.
    open: HashMap<Vec<u8>, Open>,
    /// The connections of the current run.
    run: Vec<Total>,
    parallel: u64,
    collector: Collector,
}

/// A connection whose first lines were read.
struct Open {
    total: Total,
    /// The content of its first line, to recognise it again.
    first: Vec<u8>,
    /// Whether later intervals have come: the next line that begins at 0 is the total.
    has_later: bool,
}

/// The total of a connection.
#[derive(Clone)]
struct Total {
    place: Place,
    number: Vec<u8>,
    /// In Mbit/s.
    rate: f64,
    /// Its end, in s since an arbitrary day.
    time: f64,
    /// Its length, in s.
    duration: f64,
}

impl Total {
    /// Whether two connections may belong to the same run.
    fn may_be_beside(&self, other: &Total) -> bool {
        // Clocks count whole seconds: parallel connections may end in two of them.
        let apart = (other.time - self.time).abs();
        other.number != self.number && apart <= (self.duration / 2.0).max(1.0)
    }
}

impl Reader {
    fn take(&mut self, line: &Line<'_>) -> Result<(), Fault> {
        let bytes = line.bytes.trim_ascii();
        if bytes.is_empty() || bytes.starts_with(b"#") {
            return Ok(());
        }
        let fields: Vec<&[u8]> = bytes.split(|byte| *byte == b',').collect();
        if fields.len() < TCP_COLUMNS {
            return Err(Fault::new(
                line.place_of(bytes),
                format!("{} columns where iperf writes {TCP_COLUMNS} or more", fields.len()),
                "complete the line, or put # before it",
            ));
        }
        let Some((from, to)) = interval(fields[6]) else {
            return Err(Fault::new(
                line.place_of(fields[6]),
                "no interval such as 0.0-10.0",
                "give the unchanged output of iperf -y C",
            ));
        };
        let place = line.place_of(fields[8]);
        let total = Total {
            place,
            number: fields[5].to_owned(),
            rate: measured(fields[8], place)? / 1e6,
            time: seconds(fields[0]),
            duration: to - from,
        };
        let ends = fields[1..6].join(&b',');
        let told = fields[6..].join(&b',');
        let is_full = self.open.len() == MOST_CONNECTIONS;
        match self.open.get_mut(&ends) {
            Some(open) if from > 0.0 => open.has_later = true,
            Some(open) if open.has_later => {
                self.open.remove(&ends);
                self.add(total)?;
            }
            // An interval of the length of the run occurs twice.
            Some(open) if open.first == told => {}
            Some(open) => {
                let next = Open { total, first: told, has_later: false };
                let before = std::mem::replace(open, next);
                self.add(before.total)?;
            }
            None if is_full => {
                return Err(Fault::new(
                    place,
                    format!("more than {MOST_CONNECTIONS} connections without a total"),
                    "give the unchanged output of iperf -y C",
                ));
            }
            None => {
                self.close_number(&total.number)?;
                self.open.insert(ends, Open { total, first: told, has_later: from > 0.0 });
            }
        }
        Ok(())
    }

    /// A new connection has this number, so the open one is complete.
    fn close_number(&mut self, number: &[u8]) -> Result<(), Fault> {
        let ends =
            self.open.iter().find(|(_, open)| open.total.number == number).map(|(ends, _)| ends.clone());
        match ends.and_then(|ends| self.open.remove(&ends)) {
            Some(open) => self.close(open),
            None => Ok(()),
        }
    }

    fn close(&mut self, open: Open) -> Result<(), Fault> {
        if open.has_later {
            return Err(Fault::new(
                open.total.place,
                "a connection without a line for its whole time",
                "the run was cut short; leave it out",
            ));
        }
        self.add(open.total)
    }

    fn add(&mut self, total: Total) -> Result<(), Fault> {
        if !self.run.iter().all(|other| total.may_be_beside(other)) {
            self.end_run()?;
        }
        if self.run.len() == MOST_CONNECTIONS {
            return Err(Fault::new(
                total.place,
                format!("more than {MOST_CONNECTIONS} connections of one run"),
                "give each run as a file",
            ));
        }
        self.run.push(total);
        Ok(())
    }

    fn end_run(&mut self) -> Result<(), Fault> {
        let totals = std::mem::take(&mut self.run);
        let Some(last) = totals.last() else { return Ok(()) };
        let sum = totals.iter().find(|total| total.number == SUM);
        let rate = sum.map_or_else(|| totals.iter().map(|total| total.rate).sum(), |sum| sum.rate);
        self.parallel += u64::from(totals.len() > 1);
        self.collector.push(&Key::of("throughput", "Mbit/s"), None, rate, last.place)
    }

    fn finish(mut self) -> Result<Found, Fault> {
        let mut open: Vec<Open> = std::mem::take(&mut self.open).into_values().collect();
        open.sort_by_key(|open| open.total.place.line);
        for open in open {
            self.close(open)?;
        }
        self.end_run()?;
        let notes = if self.parallel == 0 {
            Vec::new()
        } else {
            vec![format!("runs of several connections, which were added up: {}", self.parallel)]
        };
        Ok(Found::new(self.collector, notes))
    }
}

/// `0.0-10.0`: from and to, in s.
fn interval(word: &[u8]) -> Option<(f64, f64)> {
    let (from, to) = str::from_utf8(word).ok()?.split_once('-')?;
    let (from, to): (f64, f64) = (from.trim().parse().ok()?, to.trim().parse().ok()?);
    (from >= 0.0 && from <= to).then_some((from, to))
}

/// A time like `20261121122148` in s since an arbitrary day, with months of 31 days.
fn seconds(time: &[u8]) -> f64 {
    let number = |from: usize, to: usize| {
        let digits = time.get(from..to).unwrap_or_default();
        digits.iter().fold(0.0, |value, digit| value * 10.0 + f64::from(digit.wrapping_sub(b'0') % 10))
    };
    let days = (number(0, 4) * 12.0 + number(4, 6)) * 31.0 + number(6, 8);
    ((days * 24.0 + number(8, 10)) * 60.0 + number(10, 12)) * 60.0 + number(12, 14)
}
