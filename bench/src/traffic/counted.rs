//! One yardstick for all: the kernel's own counters of the testbed's namespaces, over a window that
//! opens once the traffic flows and has settled. What programs say of themselves covers their
//! starts and ends, and is checked against it.

use std::time::Duration;

use agent::Interrupt;
use host::{CpuTimes, SnmpTable};
use load::Kind;
use serde::Serialize;
use study::Scenario;
use testbed::Testbed;

use crate::bench::receiver;
use crate::failure::Failure;
use crate::peers::Job;
use crate::place::{Host, Hosts};
use crate::traffic::timing::Timing;
use crate::wait;

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
pub(crate) struct Counted<'a> {
    kind: Kind,
    ipv6: bool,
    message: u64,
    hosts: &'a Hosts,
    /// The CPUs of the two hosts; `None` where they are not this machine's.
    cpus: Option<[Vec<u32>; 2]>,
    /// Between two looks whether the traffic flows.
    look: Duration,
    /// Are both ends in one namespace, so that its counters hold both directions?
    shared: bool,
}

/// What flowed while the window was open.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Flow {
    /// Length of the window in s.
    pub(crate) seconds: f64,
    /// Read from the receiver's sockets: payload bits/s of a stream, transactions/s of
    /// request-response.
    pub(crate) received: f64,
    /// Datagrams sent per second, for `udp_stream`; 0 otherwise.
    pub(crate) sent: f64,
    /// For streams between hosts whose CPUs are this machine's: CPU time for each 1000 bytes
    /// received, in ns, of the transmitter's CPUs and of the receiver's (nothing where both share
    /// theirs), whoever spent it.
    pub(crate) cpu: Option<[f64; 2]>,
}

/// The counters at one instant.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Instant {
    at: Duration,
    /// Bytes of TCP payload, or datagrams that a program has received.
    received: u64,
    sent: u64,
    /// Of the two hosts' CPUs, in ns.
    busy: Option<[u64; 2]>,
}

impl<'a> Counted<'a> {
    /// What is counted of a job between the two hosts of a testbed.
    pub(crate) fn new(
        job: &Job,
        testbed: &Testbed,
        hosts: &'a Hosts,
        scenario: Scenario,
    ) -> Result<Self, Failure> {
        let (transmitter, receiver) = (&testbed.transmitter.cpus, &receiver(testbed)?.cpus);
        let cpus = [transmitter.clone(), if transmitter == receiver { Vec::new() } else { receiver.clone() }];
        Ok(Self {
            kind: job.kind,
            ipv6: job.ipv6,
            message: u64::from(job.message),
            hosts,
            cpus: (!scenario.has_guests()).then_some(cpus),
            look: if scenario.has_guests() { LOOK_AT_GUESTS } else { LOOK },
            shared: scenario == Scenario::Loopback,
        })
    }

    /// Waits until traffic flows, lets it settle, and measures. `still_there` is asked while it
    /// waits, and before the window counts: an error of it ends the wait.
    pub(crate) fn measure(
        &self,
        timing: Timing,
        interrupt: &Interrupt,
        still_there: &mut dyn FnMut() -> Result<(), Failure>,
    ) -> Result<Flow, Failure> {
        self.await_flow(interrupt, still_there)?;
        wait::sleep(timing.ramp, interrupt)?;
        let first = self.read()?;
        wait::sleep(timing.window, interrupt)?;
        let last = self.read()?;
        still_there()?;
        let flow = self.between(&first, &last);
        if flow.received > 0.0 { Ok(flow) } else { Err(Failure::environment("no traffic was received")) }
    }

    fn await_flow(
        &self,
        interrupt: &Interrupt,
        still_there: &mut dyn FnMut() -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let enough = FLOWING.min(FLOWING_BYTES / self.message).max(1);
        let (mut before, mut in_a_row) = (self.read()?, 0);
        let flows = wait::until(PATIENCE, self.look, interrupt, || {
            still_there()?;
            let now = self.read()?;
            let messages = self.payload(&before, &now) / self.message;
            in_a_row = if messages >= enough { in_a_row + 1 } else { 0 };
            before = now;
            Ok((in_a_row == 2).then_some(()))
        });
        flows?.ok_or_else(|| Failure::Environment(format!("no traffic flowed within {PATIENCE:?}")))
    }

    /// Bytes received, of messages, requests and answers.
    fn payload(&self, first: &Instant, last: &Instant) -> u64 {
        last.received.saturating_sub(first.received) * if self.kind.is_udp() { self.message } else { 1 }
    }

    fn between(&self, first: &Instant, last: &Instant) -> Flow {
        let seconds = last.at.saturating_sub(first.at).as_secs_f64();
        let bytes = self.payload(first, last) as f64;
        // A request is as long as its answer. Where both ends share a namespace, it has received
        // both.
        let transaction = self.message as f64 * if self.shared { 2.0 } else { 1.0 };
        let amount = if self.kind.is_rr() { bytes / transaction } else { 8.0 * bytes };
        let busy = first.busy.zip(last.busy).filter(|_| self.kind.is_stream() && bytes > 0.0);
        Flow {
            seconds,
            received: amount / seconds,
            sent: last.sent.saturating_sub(first.sent) as f64 / seconds,
            cpu: busy.map(|(first, last)| {
                [0, 1].map(|side| last[side].saturating_sub(first[side]) as f64 / (bytes / 1e3))
            }),
        }
    }

    fn read(&self) -> Result<Instant, Failure> {
        let (ip, octets, udp, header) = match self.ipv6 {
            true => ("Ip6", "Ip6", "Udp6", IPV6_HEADER),
            false => ("Ip", "IpExt", "Udp", IPV4_HEADER),
        };
        let (at, received) = self.count(&self.hosts.receiver, |table| match self.kind.is_udp() {
            true => table.count(udp, "InDatagrams"),
            false => payload(table.count(octets, "InOctets"), table.count(ip, "InReceives"), header),
        })?;
        let sent = match self.kind {
            Kind::UdpStream => {
                self.count(&self.hosts.transmitter, |table| table.count(udp, "OutDatagrams"))?.1
            }
            _ => 0,
        };
        let busy = |cpus: &Vec<u32>| {
            CpuTimes::read_each(cpus).map(|each| CpuTimes::sum(&each).busy()).map_err(Failure::environment)
        };
        let busy = match &self.cpus {
            Some([transmitter, receiver]) => Some([busy(transmitter)?, busy(receiver)?]),
            None => None,
        };
        Ok(Instant { at, received, sent, busy })
    }

    fn count(&self, host: &Host, of: impl FnOnce(&SnmpTable<'_>) -> u64) -> Result<(Duration, u64), Failure> {
        let files: &[&str] = match (self.ipv6, self.kind.is_udp()) {
            (true, _) => &["snmp6"],
            (false, true) => &["snmp"],
            (false, false) => &["snmp", "netstat"],
        };
        let read = host.read(files)?;
        let table = read.texts.iter().fold(SnmpTable::default(), |table, text| match self.ipv6 {
            true => table.lines(text),
            false => table.pairs(text),
        });
        Ok((read.at, of(&table)))
    }
}

/// The TCP payload among `bytes` of IP packets: acknowledgements carry none and drop out. The
/// kernel counts a batch of segments as the one packet, with one header, as which it arrives.
fn payload(bytes: u64, packets: u64, ip_header: u64) -> u64 {
    bytes.saturating_sub(packets * (ip_header + TCP_HEADER))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(kind: Kind, ipv6: bool, shared: bool) -> Counted<'static> {
        let host = || Host { process: std::process::id(), rootless: false, cpus: vec![], guest: None };
        let hosts = Box::leak(Box::new(Hosts { transmitter: host(), receiver: host() }));
        Counted { kind, ipv6, message: 100, hosts, cpus: Some([vec![], vec![]]), look: LOOK, shared }
    }

    #[test]
    fn this_kernel_counts_what_is_needed() {
        for (kind, ipv6) in
            [Kind::TcpStream, Kind::UdpStream].map(|kind| [(kind, false), (kind, true)]).concat()
        {
            counted(kind, ipv6, true).read().unwrap();
        }
    }

    #[test]
    fn acknowledgements_carry_no_payload() {
        let (data, acknowledgement) = (1448 + 52, 52);
        assert_eq!(payload(10 * data + 5 * acknowledgement, 15, IPV4_HEADER), 10 * 1448);
    }

    #[test]
    fn a_stream_is_bits_and_request_response_is_transactions() {
        let instant = |seconds: u64, received, sent| {
            let busy = Some([seconds * 1000, seconds * 3000]);
            Instant { at: Duration::from_secs(seconds), received, sent, busy }
        };
        let cpu = Some([500.0, 1500.0]);
        // In 2 s, messages of 100 bytes; requests and answers in the same counters if shared.
        for (kind, shared, count, received, sent, cpu) in [
            (Kind::TcpStream, false, 4000, 16_000.0, 0, cpu),
            (Kind::UdpStream, false, 50, 20_000.0, 60, cpu.map(|cpu| cpu.map(|cpu| cpu * 4.0 / 5.0))),
            (Kind::UdpRr, true, 80, 20.0, 0, None),
            (Kind::UdpRr, false, 80, 40.0, 0, None),
            (Kind::TcpRr, true, 8000, 20.0, 0, None),
        ] {
            let flow =
                counted(kind, false, shared).between(&instant(1, 1000, 0), &instant(3, 1000 + count, sent));
            assert_eq!(flow, Flow { seconds: 2.0, received, sent: sent as f64 / 2.0, cpu }, "{kind}");
        }
        let guests = |seconds, received| Instant { busy: None, ..instant(seconds, received, 0) };
        let flow = counted(Kind::TcpStream, false, false).between(&guests(1, 1000), &guests(3, 5000));
        assert_eq!((flow.received, flow.cpu), (16_000.0, None));
    }
}
