//! The limit of a run, told from its own counters: one label, and the figures for it.
//! docs/method.md says when each label is given; the order of the tests is from the receiver
//! backwards:
//!
//! - Of the places that drop datagrams the *last* sets what is received; drops before it only save
//!   it work. So the sender comes last: it may be busy with datagrams that are dropped.
//! - The link comes before the queue at its rate: the queue's drops only show that the link is
//!   full.
//! - Of two ends in lock-step (TCP, request and response) the one that never sleeps is the one for
//!   which both wait. If both are busy, the time with a closed receive window decides, then which
//!   end wanted more.
//! - An end that lost its CPUs to others, or to the run's own guests, looks like one that waits for
//!   the other. A full socket stays the limit if it would also drop datagrams had its threads had
//!   that time.
//!
//! `transmitter CPU` and `receiver CPU` name hosts, as the metrics do: of a reversed stream the
//! receiver is the host that sends. `receiver socket` is the socket that received, on either host.

mod busy;
mod contended;
mod end;

use std::collections::BTreeMap;

use load::{Direction, Kind};
use record::{Evidence, Label, Limit, LossPlace, RunAccount};
use study::Side;
use testbed::RunOrder;
use words::distinct;

use self::busy::Busy;
use self::contended::Contention;
use self::end::{MUCH, MeasuredEnd, OneWay, SEGMENTS_LOST};

// The edges of a window cut bursts in two, and TCP's pacing counts headers.
const ASKED: f64 = 0.95;
// One stall of the receiver in a long window loses less.
const LOST: f64 = 0.01;

/// The limit of a run, from the accounts of both ends and of the hosts of virtual machines.
pub fn limit(order: &RunOrder, account: &RunAccount) -> Limit {
    let mut limit = of_ends(order, account);
    for (side, own) in account.sides() {
        let Some(device) = &own.window.device else { continue };
        let losses: BTreeMap<_, _> = device.losses().map(|(name, count)| (name.to_owned(), count)).collect();
        if !losses.is_empty() {
            let interface = device.interface.clone();
            limit.evidence.push(Evidence::Driver { side, interface, losses });
        }
    }
    limit
}

fn of_ends(order: &RunOrder, account: &RunAccount) -> Limit {
    let transmitter = MeasuredEnd::new(Side::Transmitter, &account.transmitter, account);
    let Some(receiver) = &account.receiver else {
        return unless_contended(unreceived(order, &transmitter), &transmitter, &transmitter);
    };
    let receiver = MeasuredEnd::new(Side::Receiver, receiver, account);
    let forward = OneWay { order, from: &transmitter, to: &receiver };
    let reverse = OneWay { order, from: &receiver, to: &transmitter };
    match (order.traffic.kind.is_rr(), order.traffic.direction) {
        (true, _) => unless_contended(forward.of_transactions(), &transmitter, &receiver),
        (false, Direction::Forward) => forward.of_stream(),
        (false, Direction::Reverse) => reverse.of_stream(),
        (false, Direction::Both) => either(&forward, &reverse),
    }
}

fn either(forward: &OneWay<'_>, reverse: &OneWay<'_>) -> Limit {
    let (one, other) = (forward.of_stream(), reverse.of_stream());
    // The direction that carried less was limited more.
    let label = if reverse.to.received_bits() < forward.to.received_bits() { other.label } else { one.label };
    let mut evidence = Vec::new();
    for (way, limit) in [(Direction::Forward, one), (Direction::Reverse, other)] {
        evidence.push(Evidence::WayLimited { way, by: limit.label });
        let of_way = |what| Evidence::Way { way, evidence: Box::new(what) };
        evidence.extend(limit.evidence.into_iter().map(of_way));
    }
    Limit { label, evidence }
}

fn unreceived(order: &RunOrder, from: &MeasuredEnd<'_>) -> Limit {
    let sent = 8.0 * from.per_second(from.window.load.sent.bytes);
    let refused = from.window.load.sent.no_buffers;
    let busy = Busy::of_end(from, true, false);
    let asked = asked_bits(order);
    let rates = asked.map(|asked| Evidence::Sent { rate_bits: sent, requested_bits: asked });
    let mut evidence = Vec::from_iter(rates);
    let label = if asked.is_some_and(|asked| sent >= ASKED * asked) {
        Label::Pacing
    } else if busy.saturated {
        busy.label(from.side)
    } else if refused > 0 {
        evidence.insert(0, Evidence::QueueRejected { side: from.side, datagrams: refused });
        Label::Device
    } else {
        evidence.insert(0, Evidence::SenderIdle);
        Label::Path
    };
    evidence.extend(busy.evidence);
    Limit { label, evidence }
}

fn unless_contended(mut limit: Limit, from: &MeasuredEnd<'_>, to: &MeasuredEnd<'_>) -> Limit {
    let at = |side: Side| [from, to].into_iter().find(|end| end.side == side);
    let ends = match limit.label {
        Label::Pacing | Label::Link | Label::Contended | Label::HostCpu => [None, None],
        Label::Generator => [Some(from), None],
        Label::TransmitterCpu => [at(Side::Transmitter), None],
        Label::ReceiverCpu => [at(Side::Receiver), None],
        Label::ReceiverSocket => [Some(to), None],
        Label::Device | Label::Path => [Some(from), Some(to)],
    };
    let found = ends.into_iter().flatten().filter_map(|end| Some((end, end.contention.as_ref()?)));
    let Some((end, most)) = found.max_by(|one, other| one.1.lost.total_cmp(&other.1.lost)) else {
        return limit;
    };
    if limit.label == Label::ReceiverSocket && would_drop_anyway(&limit, end, most) {
        limit.evidence.push(most.evidence.clone());
    } else {
        limit.label = most.label;
        limit.evidence.insert(0, most.evidence.clone());
    }
    limit
}

fn would_drop_anyway(limit: &Limit, to: &MeasuredEnd<'_>, contention: &Contention) -> bool {
    let dropped = limit.evidence.iter().find_map(|what| match what {
        Evidence::Lost { place: LossPlace::Socket(_), datagrams, offered } => {
            Some(*datagrams as f64 / (*offered).max(1) as f64)
        }
        _ => None,
    });
    let running = to.running();
    // Assumes that with the lost CPU time the threads would have received in proportion more.
    dropped.is_some_and(|dropped| running - (1.0 - dropped) * (running + contention.lost) > LOST * running)
}

/// In bits/s.
fn asked_bits(order: &RunOrder) -> Option<f64> {
    order.traffic.pacing.map(|pace| pace.bits() as f64 * f64::from(order.traffic.flows))
}

impl OneWay<'_> {
    fn of_stream(&self) -> Limit {
        let mut evidence = Vec::new();
        let received = self.to.received_bits();
        if let Some(asked) = asked_bits(self.order) {
            evidence.push(Evidence::Received { rate_bits: received, requested_bits: asked });
            if received >= ASKED * asked {
                return Limit { label: Label::Pacing, evidence };
            }
        }
        let found = if self.order.traffic.kind == Kind::TcpStream { self.of_tcp() } else { self.of_udp() };
        evidence.splice(0..0, found.evidence);
        unless_contended(Limit { evidence, ..found }, self.from, self.to)
    }

    fn of_udp(&self) -> Limit {
        let (sends, takes) = (self.sends(), self.takes());
        let (loss, lost) = end::find_losses(self);
        let is_much = |datagrams: u64| loss.share(datagrams) >= LOST;
        let (label, first) = if is_much(loss.socket) {
            (Label::ReceiverSocket, vec![])
        } else if is_much(loss.behind) {
            (if takes.saturated { Label::cpu(self.to.side) } else { Label::Device }, vec![])
        } else if let Some(reached) = self.link() {
            (Label::Link, vec![reached])
        } else if is_much(loss.queue.saturating_add(loss.device)) {
            (Label::Device, vec![])
        } else if sends.saturated {
            (sends.label(self.from.side), sends.evidence.clone())
        } else if takes.saturated {
            (Label::cpu(self.to.side), takes.evidence.clone())
        } else if is_much(loss.unaccounted()) {
            (Label::Path, vec![Evidence::LostUncounted { share: loss.share(loss.unaccounted()) }])
        } else {
            (Label::Path, vec![Evidence::NobodyBusy])
        };
        let rest = lost.into_iter().chain(takes.evidence).chain(sends.evidence);
        Limit { label, evidence: distinct(first.into_iter().chain(rest)) }
    }

    fn of_tcp(&self) -> Limit {
        let (sends, takes) = (self.sends(), self.takes());
        let tcp = self.from.tcp();
        let (label, first) = if let Some(reached) = self.link() {
            (Label::Link, vec![reached])
        } else if let Some(label) = self.cpu(&sends, &takes, tcp.closed) {
            let first = if label == Label::cpu(self.to.side) { &takes } else { &sends };
            (label, first.evidence.clone())
        } else if let Some(dropped) = self.dropped() {
            (Label::Device, vec![dropped])
        } else {
            (Label::Path, vec![tcp.verdict().unwrap_or(Evidence::NobodyBusy)])
        };
        let rest = sends.evidence.into_iter().chain(takes.evidence).chain(tcp.evidence());
        Limit { label, evidence: distinct(first.into_iter().chain(rest)) }
    }

    fn of_transactions(&self) -> Limit {
        let (asks, answers) = (self.sends(), self.takes());
        let done = self.from.per_second(self.from.window.load.sent.transactions);
        let mut first = Vec::new();
        let mut rest = Vec::new();
        let mut label = None;
        if let Some(asked) = self.order.traffic.rate {
            first.push(Evidence::Answered { per_second: done, requested: asked });
            label = (done >= ASKED * f64::from(asked)).then_some(Label::Pacing);
        }
        if label.is_none() && self.order.traffic.kind == Kind::UdpRr {
            let (loss, lost) = end::find_losses(self);
            label = (loss.share(loss.socket) >= LOST).then_some(Label::ReceiverSocket);
            rest.extend(lost);
        }
        if label.is_none()
            && let Some(reached) = self.link()
        {
            first.insert(0, reached);
            label = Some(Label::Link);
        }
        let label = label.or_else(|| self.cpu(&asks, &answers, 0.0)).unwrap_or_else(|| {
            let in_flight = u64::from(self.order.traffic.in_flight) * u64::from(self.order.traffic.flows);
            let polls = self.polls(self.from) || self.polls(self.to);
            first.insert(0, Evidence::RoundTrip { in_flight, polls });
            Label::Path
        });
        first.extend(rest);
        let (one, other) = if label == Label::cpu(self.to.side) { (answers, asks) } else { (asks, answers) };
        first.extend(one.evidence.into_iter().chain(other.evidence));
        Limit { label, evidence: first }
    }

    fn sends(&self) -> Busy {
        // The asking end also receives the answers, and may poll for them.
        Busy::of_end(self.from, true, self.order.traffic.kind.is_rr() && self.polls(self.from))
    }

    fn takes(&self) -> Busy {
        Busy::of_end(self.to, false, self.polls(self.to))
    }

    fn polls(&self, end: &MeasuredEnd<'_>) -> bool {
        let traffic = &self.order.traffic;
        // Polling that was refused, or had no queue to poll, is sleep.
        traffic.reader == load::Reader::Spin || (traffic.busy_poll.is_some() && !end.whole.outcome.slept)
    }

    /// `closed`: the share of the time that the sender waited for the receiver's window.
    fn cpu(&self, sends: &Busy, takes: &Busy, closed: f64) -> Option<Label> {
        let receiver_first = match (sends.saturated, takes.saturated) {
            // The kernel counts a wait when it ends; a closed receive window shows it before.
            (false, false) if closed >= MUCH && takes.waiting >= closed / 2.0 => true,
            (false, false) => return None,
            (sends, takes) if sends != takes => takes,
            _ => closed >= CLOSED || takes.wanted > sends.wanted,
        };
        Some(if receiver_first { Label::cpu(self.to.side) } else { sends.label(self.from.side) })
    }

    fn link(&self) -> Option<Evidence> {
        let sends = self.from.sends_at_limit(self.order);
        sends.or_else(|| self.to.takes_at_limit()).or_else(|| self.to.sends_at_limit(self.order))
    }

    fn dropped(&self) -> Option<Evidence> {
        let (near, far) = (&self.from.window.counters, &self.to.window.counters);
        let (queue, wire) = (near.queue.drops, near.link.tx_dropped.max(far.link.rx_dropped));
        let sent = near.tcp.out_segs.saturating_add(near.tcp.retrans_segs);
        let dropped = queue.saturating_add(wire);
        (near.tcp.retrans_segs > 0 && dropped as f64 >= SEGMENTS_LOST * sent as f64).then(|| {
            Evidence::Dropped {
                side: self.from.side,
                queue,
                devices: wire,
                retransmitted: near.tcp.retrans_segs,
                segments: sent,
                wire: self.from.window.link.from.to_string(),
            }
        })
    }
}

// As a share of the time with data to send: above it, the receiver had no time.
const CLOSED: f64 = 0.1;

#[cfg(test)]
mod tests;
