//! One yardstick for all: the kernel's own counters of the testbed's namespaces, over a window that
//! opens once the traffic flows and has settled. What programs say of themselves covers their
//! starts and ends, and is checked against it.

use std::time::{Duration, Instant};

use agent::Interrupt;
use host::CpuTimes;
use load::Kind;
use serde::Serialize;
use study::Scenario;
use testbed::Testbed;

use crate::failure::Failure;
use crate::interrupt;
use crate::netassay::receiver;
use crate::peers::Job;
use crate::place::{Place, Places};

/// Bytes of a TCP header with the timestamps that Linux always sends by default (RFC 7323, section
/// 3.2, padded).
const TCP_HEADER: u64 = 20 + 12;
/// Bytes of an IP header (RFC 791, section 3.1; RFC 8200, section 3).
const IPV4_HEADER: u64 = 20;
const IPV6_HEADER: u64 = 40;
/// How long traffic may take to begin: sockperf measures its clock for two seconds first.
const PATIENCE: Duration = Duration::from_secs(12);
/// Between two looks whether the traffic flows.
const LOOK: Duration = Duration::from_millis(50);
/// The same between guests, which move less in that time where they are emulated.
const LOOK_AT_GUESTS: Duration = Duration::from_millis(250);
/// More messages than any program exchanges before its traffic begins, in each of two looks.
const FLOWING: u64 = 20;
/// The same in bytes: of large messages fewer are enough.
const FLOWING_BYTES: u64 = 1 << 20;

/// What is counted, and where.
#[derive(Debug)]
pub(crate) struct Yardstick<'a> {
    kind: Kind,
    ipv6: bool,
    message: u64,
    transmitter: &'a dyn Place,
    receiver: &'a dyn Place,
    /// The CPUs of the two hosts; `None` where they are not this machine's.
    cpus: Option<[Vec<u32>; 2]>,
    /// Between two looks whether the traffic flows.
    look: Duration,
    /// Are both ends in one namespace, so that its counters hold both directions?
    shared: bool,
}

/// What flowed while the window was open.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Flow {
    /// Length of the window in s.
    pub(crate) seconds: f64,
    /// Taken from the receiver's sockets: payload bits/s of a stream, transactions/s of
    /// request-response.
    pub(crate) received: f64,
    /// Datagrams sent per second, for `udp_stream`; 0 otherwise.
    pub(crate) sent_datagrams: f64,
    /// For streams between hosts whose CPUs are this machine's.
    pub(crate) cpu: Option<Cpu>,
}

/// CPU time for each 1000 bytes received, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Cpu {
    /// Of the transmitter's CPUs.
    pub(crate) transmitter: f64,
    /// Of the receiver's; nothing where both share theirs.
    pub(crate) receiver: f64,
}

/// The counters at one instant.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Reading {
    at: Duration,
    received: Received,
    sent: u64,
    /// Of the two hosts' CPUs, in ns.
    busy: Option<[u64; 2]>,
}

/// What the receiver's namespace has received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Received {
    /// Bytes of TCP payload.
    Bytes(u64),
    /// Datagrams that a program has taken.
    Datagrams(u64),
}

impl<'a> Yardstick<'a> {
    /// A yardstick for a job between the two hosts of a testbed.
    pub(crate) fn new(
        job: &Job,
        testbed: &Testbed,
        places: &'a Places,
        scenario: Scenario,
    ) -> Result<Self, Failure> {
        let (transmitter, receiver) = (&testbed.transmitter, receiver(testbed)?);
        let one_set = transmitter.cpus == receiver.cpus;
        let cpus = [transmitter.cpus.clone(), if one_set { Vec::new() } else { receiver.cpus.clone() }];
        Ok(Self {
            kind: job.kind,
            ipv6: job.ipv6,
            message: u64::from(job.message),
            transmitter: &*places.transmitter,
            receiver: &*places.receiver,
            cpus: (!scenario.has_guests()).then_some(cpus),
            look: if scenario.has_guests() { LOOK_AT_GUESTS } else { LOOK },
            shared: scenario == Scenario::Loopback,
        })
    }

    /// Waits until traffic flows, lets it settle for `ramp`, and measures for `window`.
    /// `still_there` is asked while it waits, and before the window counts: an error of it ends the
    /// wait.
    pub(crate) fn measure(
        &self,
        ramp: Duration,
        window: Duration,
        interrupt: &Interrupt,
        still_there: &mut dyn FnMut() -> Result<(), Failure>,
    ) -> Result<Flow, Failure> {
        self.await_flow(interrupt, still_there)?;
        interrupt::sleep(ramp, interrupt)?;
        let first = self.read()?;
        interrupt::sleep(window, interrupt)?;
        let last = self.read()?;
        still_there()?;
        let flow = self.between(&first, &last);
        if flow.received > 0.0 {
            Ok(flow)
        } else {
            Err(Failure::Environment("no traffic was received".to_owned()))
        }
    }

    fn await_flow(
        &self,
        interrupt: &Interrupt,
        still_there: &mut dyn FnMut() -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let enough = FLOWING.min(FLOWING_BYTES / self.message).max(1);
        let deadline = Instant::now() + PATIENCE;
        let (mut before, mut in_a_row) = (self.read()?, 0);
        while in_a_row < 2 {
            still_there()?;
            if Instant::now() >= deadline {
                return Err(Failure::Environment(format!("no traffic flowed within {PATIENCE:?}")));
            }
            interrupt::sleep(self.look, interrupt)?;
            let now = self.read()?;
            in_a_row = if self.messages(&before, &now) >= enough { in_a_row + 1 } else { 0 };
            before = now;
        }
        Ok(())
    }

    /// Messages, requests and answers received.
    fn messages(&self, first: &Reading, last: &Reading) -> u64 {
        match (first.received, last.received) {
            (Received::Bytes(first), Received::Bytes(last)) => last.saturating_sub(first) / self.message,
            (Received::Datagrams(first), Received::Datagrams(last)) => last.saturating_sub(first),
            _ => 0,
        }
    }

    fn between(&self, first: &Reading, last: &Reading) -> Flow {
        let seconds = last.at.saturating_sub(first.at).as_secs_f64();
        let received = match (first.received, last.received) {
            (Received::Bytes(first), Received::Bytes(last)) => last.saturating_sub(first),
            _ => self.messages(first, last) * self.message,
        };
        // A request is as long as its answer. Where both ends share a namespace, it has received
        // both.
        let transaction = self.message * if self.shared { 2 } else { 1 };
        let amount =
            if self.kind.is_rr() { received as f64 / transaction as f64 } else { 8.0 * received as f64 };
        let spent = |(first, last): ([u64; 2], [u64; 2])| {
            let of = |side: usize| last[side].saturating_sub(first[side]) as f64 / (received as f64 / 1e3);
            Cpu { transmitter: of(0), receiver: of(1) }
        };
        let busy = first.busy.zip(last.busy).filter(|_| self.kind.is_stream() && received > 0);
        Flow {
            seconds,
            received: amount / seconds,
            sent_datagrams: last.sent.saturating_sub(first.sent) as f64 / seconds,
            cpu: busy.map(spent),
        }
    }

    fn read(&self) -> Result<Reading, Failure> {
        let missing = || Failure::Environment("this kernel does not count what the bench needs".to_owned());
        let datagrams = |text: &str, name: &str| {
            let found =
                if self.ipv6 { flat(text, &format!("Udp6{name}")) } else { paired(text, "Udp:", name) };
            found.ok_or_else(missing)
        };
        let files: &[&str] = match (self.ipv6, self.kind.is_udp()) {
            (true, _) => &["snmp6"],
            (false, true) => &["snmp"],
            (false, false) => &["snmp", "netstat"],
        };
        let read = self.receiver.read(files)?;
        let text = |file: usize| read.texts.get(file).map(String::as_str).ok_or_else(missing);
        let received = if self.kind.is_udp() {
            Received::Datagrams(datagrams(text(0)?, "InDatagrams")?)
        } else {
            let (ip, ip_header) = if self.ipv6 {
                (flat(text(0)?, "Ip6InOctets").zip(flat(text(0)?, "Ip6InReceives")), IPV6_HEADER)
            } else {
                let bytes = paired(text(1)?, "IpExt:", "InOctets");
                (bytes.zip(paired(text(0)?, "Ip:", "InReceives")), IPV4_HEADER)
            };
            let (bytes, packets) = ip.ok_or_else(missing)?;
            Received::Bytes(payload(bytes, packets, ip_header))
        };
        let sent = if self.kind == Kind::UdpStream {
            datagrams(self.transmitter.read(files)?.texts.first().ok_or_else(missing)?, "OutDatagrams")?
        } else {
            0
        };
        let times = |cpus: &Vec<u32>| {
            let times = CpuTimes::read(cpus).map_err(|error| Failure::Environment(error.to_string()));
            times.map(|times| times.busy())
        };
        let busy = match &self.cpus {
            Some([transmitter, receiver]) => Some([times(transmitter)?, times(receiver)?]),
            None => None,
        };
        Ok(Reading { at: read.at, received, sent, busy })
    }
}

/// The TCP payload among `bytes` of IP packets: acknowledgements carry none and drop out. The
/// kernel counts a batch of segments as the one packet, with one header, as which it arrives.
fn payload(bytes: u64, packets: u64, ip_header: u64) -> u64 {
    bytes.saturating_sub(packets * (ip_header + TCP_HEADER))
}

/// A counter of `/proc/net/snmp6`: name and number on one line.
fn flat(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let (found, number) = line.split_once(char::is_whitespace)?;
        if found == name { number.trim().parse().ok() } else { None }
    })
}

/// A counter of `/proc/net/snmp` or `netstat`: a line of names, and one of numbers, under the same
/// heading.
fn paired(text: &str, heading: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(heading));
    let (names, numbers) = (lines.next()?, lines.next()?);
    let place = names.split_whitespace().position(|found| found == name)?;
    numbers.split_whitespace().nth(place)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::Namespace;
    use std::sync::LazyLock;

    fn yardstick(kind: Kind, shared: bool) -> Yardstick<'static> {
        static HERE: LazyLock<Namespace> =
            LazyLock::new(|| Namespace { agent: std::process::id(), rootless: false, cpus: vec![] });
        let (transmitter, receiver) = (&*HERE, &*HERE);
        let cpus = Some([vec![], vec![]]);
        Yardstick { kind, ipv6: false, message: 100, transmitter, receiver, cpus, look: LOOK, shared }
    }

    fn reading(seconds: u64, received: Received, sent: u64) -> Reading {
        let busy = Some([seconds * 1000, seconds * 3000]);
        Reading { at: Duration::from_secs(seconds), received, sent, busy }
    }

    #[test]
    fn counters_are_read_by_name() {
        let text = "Ip: Forwarding InReceives\nIp: 1 7\nUdp: InDatagrams NoPorts\nUdp: 3 4\nUdpLite: InDatagrams\nUdpLite: 9\n";
        assert_eq!(paired(text, "Ip:", "InReceives"), Some(7));
        assert_eq!(paired(text, "Udp:", "InDatagrams"), Some(3));
        assert_eq!(paired(text, "Udp:", "OutDatagrams"), None);
        let six = "Ip6InReceives                   \t12\nUdp6InDatagrams \t 5\n";
        assert_eq!(flat(six, "Udp6InDatagrams"), Some(5));
        assert_eq!(flat(six, "Udp6In"), None);
    }

    #[test]
    fn this_kernel_counts_what_is_needed() {
        for (kind, ipv6) in
            [Kind::TcpStream, Kind::UdpStream].into_iter().flat_map(|k| [(k, false), (k, true)])
        {
            let here = Yardstick { ipv6, ..yardstick(kind, true) };
            here.read().unwrap();
        }
    }

    #[test]
    fn acknowledgements_carry_no_payload() {
        let (data, acknowledgement) = (1448 + 52, 52);
        assert_eq!(payload(10 * data + 5 * acknowledgement, 15, IPV4_HEADER), 10 * 1448);
    }

    #[test]
    fn a_stream_is_bits_and_request_response_is_transactions() {
        let flow = yardstick(Kind::TcpStream, false)
            .between(&reading(1, Received::Bytes(1000), 0), &reading(3, Received::Bytes(5000), 0));
        let cpu = Some(Cpu { transmitter: 500.0, receiver: 1500.0 });
        let expected = Flow { seconds: 2.0, received: 16_000.0, sent_datagrams: 0.0, cpu };
        assert_eq!(flow, expected);
        let guests = |seconds, bytes| Reading { busy: None, ..reading(seconds, Received::Bytes(bytes), 0) };
        let flow = yardstick(Kind::TcpStream, false).between(&guests(1, 1000), &guests(3, 5000));
        assert_eq!(flow, Flow { cpu: None, ..expected });
        let flow = yardstick(Kind::UdpStream, false)
            .between(&reading(1, Received::Datagrams(0), 0), &reading(3, Received::Datagrams(50), 60));
        assert_eq!((flow.seconds, flow.received, flow.sent_datagrams), (2.0, 20_000.0, 30.0));
        // Requests and answers, both in the same counters.
        let both = (reading(1, Received::Datagrams(0), 0), reading(3, Received::Datagrams(80), 0));
        assert_eq!(yardstick(Kind::UdpRr, true).between(&both.0, &both.1).received, 20.0);
        assert_eq!(yardstick(Kind::UdpRr, false).between(&both.0, &both.1).received, 40.0);
        let both = (reading(1, Received::Bytes(0), 0), reading(3, Received::Bytes(8000), 0));
        assert_eq!(yardstick(Kind::TcpRr, true).between(&both.0, &both.1).received, 20.0);
    }
}
