//! What a run was limited by, told from its own counters.
//!
//! Every run gets one label, and the figures that speak for it. The order in which the labels are
//! tried is the reasoning:
//!
//! 1. **pacing**: the rate that was asked for arrived. Only that held the run back, whatever else
//!    was busy.
//! 2. From the end of the way backwards, **where datagrams were lost** (UDP). What is received is
//!    what the *last* place that drops lets through; a place before it that drops too only spares
//!    it work. So the *receiver socket* comes before the receiving device, that before the *link*
//!    and the *device* that sends, and any of them before the sender, which is as busy as it likes
//!    when it drops half of what it sends. A receiving device whose CPU had no time left is the
//!    *receiver CPU*.
//! 3. **link**: a known rate was reached. It comes before the queue at that rate, whose drops are
//!    only how a full link shows.
//! 4. **CPU**: an end wanted a CPU all the time. An end that never sleeps never waits for the
//!    other, so of two ends in lock-step (TCP, request and response) it is the one that both wait
//!    for. Waiting for a CPU that others use counts as much as using it, and an end that did so for
//!    more than half of the window waited for nothing else as long. If both ends are so, the time
//!    that TCP spent on a closed receive window decides, then who wanted more. A sender that spends
//!    its time in its own code is the *generator*: a faster program would send more. A thread that
//!    polls (`spin`, busy polling) is always busy: its time is no evidence.
//!
//! **contended** replaces an end's CPU, and its full socket, if that end lost a tenth of the window
//! to others than the run:
//! its threads waited for a CPU while other processes had it, or the hypervisor took it away. The
//! run's own threads are no others.
//! It also replaces what follows: an end that is kept off its CPU now and then looks like one that
//! waits for the other.
//!
//! **host CPU** replaces the same where the end is in a guest of which a virtual CPU waited as long
//! for a CPU of the host, behind
//! threads of the run's own guests: what is busy inside would be so for a shorter time on a host
//! with more CPUs.
//! 5. **device** (TCP): segments were dropped before the wire or behind it and retransmitted, while
//!    both ends had time.
//! 6. **path**: what is left waits for the other end: TCP's windows, loss elsewhere, the time of
//!    the round trip. Also what nothing speaks for; the evidence then says that neither end was
//!    busy and that nothing was dropped.
//!
//! `transmitter CPU` and `receiver CPU` name hosts, as the metrics do: of a reversed stream the
//! receiver is the host that sends. `receiver socket` is the socket that received, wherever it was.

mod busy;
mod case;
mod contended;
mod end;
mod losses;

use load::{Direction, Kind};
use record::{Dropped, Evidence, HostAccount, Label, Limit, OnHost, RunAccount};
use study::Side;
use testbed::RunOrder;

use self::busy::Busy;
use self::case::Case;
use self::end::{End, MUCH, SEGMENTS_LOST};
use crate::waiting::Waited;

/// A rate that was asked for is reached from this share of it on: the edges of a window cut a burst
/// in two, and TCP's pacing counts headers.
const ASKED: f64 = 0.95;
/// A share of datagrams lost at one place from which on that place is what limits: one stall of the
/// receiver in a long window loses less.
const LOST: f64 = 0.01;
/// What limited a run, from both ends' accounts of it, and those of the hosts of virtual machines.
#[must_use]
pub fn limit(order: &RunOrder, account: &RunAccount) -> Limit {
    let mut limit = of_ends(order, account);
    // Most labels name what is inside the machines; what it took outside tells why.
    match (&account.hosts, &account.around) {
        (Some(hosts), _) => {
            for (side, host) in hosts.each_ref() {
                let waited = Waited::of(account, side);
                limit.evidence.push(on_host(Some(side), host, waited));
            }
        }
        (None, Some(host)) => {
            let waited = Waited::of(account, Side::Transmitter);
            limit.evidence.push(on_host(None, host, waited));
        }
        (None, None) => {}
    }
    limit
}

/// What a virtual machine took of its host.
fn on_host(side: Option<Side>, host: &HostAccount, waited: Option<Waited>) -> Evidence {
    let share = |ns: u64| ns as f64 / host.elapsed_ns.max(1) as f64;
    Evidence::OnHost(OnHost {
        side,
        ran: share(host.vcpu.running_ns),
        moved: share(host.io.running_ns),
        waited: waited.map_or(0.0, |waited| waited.share),
        reported: waited.map_or(0.0, |waited| waited.stolen_inside),
        moving_waited: share(host.io.waiting_ns),
    })
}

fn of_ends(order: &RunOrder, account: &RunAccount) -> Limit {
    let transmitter = End::new(Side::Transmitter, &account.transmitter, account);
    let Some(receiver) = &account.receiver else {
        return unless_contended(unreceived(order, &transmitter), &transmitter, &transmitter);
    };
    let receiver = End::new(Side::Receiver, receiver, account);
    match (order.traffic.kind.is_rr(), order.traffic.direction) {
        (true, _) => {
            let found = Case { order, from: &transmitter, to: &receiver }.of_transactions();
            unless_contended(found, &transmitter, &receiver)
        }
        (false, Direction::Forward) => Case { order, from: &transmitter, to: &receiver }.of_stream(),
        (false, Direction::Reverse) => Case { order, from: &receiver, to: &transmitter }.of_stream(),
        (false, Direction::Both) => {
            let forward = Case { order, from: &transmitter, to: &receiver };
            let reverse = Case { order, from: &receiver, to: &transmitter };
            either(&forward, &reverse)
        }
    }
}

/// A stream of both ways: the way that carried less was held back more.
fn either(forward: &Case<'_>, reverse: &Case<'_>) -> Limit {
    let (one, other) = (forward.of_stream(), reverse.of_stream());
    let label = if reverse.to.received_bits() < forward.to.received_bits() { other.label } else { one.label };
    let mut evidence = Vec::new();
    for (way, limit) in [(Direction::Forward, one), (Direction::Reverse, other)] {
        evidence.push(Evidence::WayLimited(way, limit.label));
        evidence.extend(limit.evidence.into_iter().map(|what| Evidence::Way(way, Box::new(what))));
    }
    Limit { label, evidence }
}

/// Traffic that nobody receives: only its sender can hold it back.
fn unreceived(order: &RunOrder, from: &End<'_>) -> Limit {
    let (sent, refused) = (from.sent_bits(), from.window.load.sent.no_buffers);
    let busy = Busy::of(from, true, false);
    let mut evidence = Vec::new();
    let asked = asked_bits(order);
    if let Some(asked) = asked {
        evidence.push(Evidence::Sent(sent, asked));
    }
    let label = if asked.is_some_and(|asked| sent >= ASKED * asked) {
        Label::Pacing
    } else if busy.saturated {
        busy.label(from.side)
    } else if refused > 0 {
        evidence.insert(0, Evidence::QueueRejected(from.side, refused));
        Label::Device
    } else {
        evidence.insert(0, Evidence::SenderIdle);
        Label::Path
    };
    evidence.extend(busy.evidence);
    Limit { label, evidence }
}

/// The limit, or that the end that it is at was kept off its CPUs.
fn unless_contended(mut limit: Limit, from: &End<'_>, to: &End<'_>) -> Limit {
    let at = |side: Side| [from, to].into_iter().find(|end| end.side == side);
    let ends = match limit.label {
        Label::Pacing | Label::Link | Label::Contended | Label::HostCpu => [None, None],
        Label::Generator => [Some(from), None],
        Label::TransmitterCpu => [at(Side::Transmitter), None],
        Label::ReceiverCpu => [at(Side::Receiver), None],
        Label::ReceiverSocket => [Some(to), None],
        Label::Device | Label::Path => [Some(from), Some(to)],
    };
    let found = ends.into_iter().flatten().filter_map(|end| end.contention.as_ref());
    if let Some(most) = found.max_by(|one, other| one.lost.total_cmp(&other.lost)) {
        limit.label = most.label;
        limit.evidence.insert(0, most.evidence.clone());
    }
    limit
}

/// What streams were asked to carry one way, in bits/s.
fn asked_bits(order: &RunOrder) -> Option<f64> {
    order.traffic.pacing.map(|pace| pace.bits() as f64 * f64::from(order.traffic.flows))
}

impl Case<'_> {
    fn of_stream(&self) -> Limit {
        let mut evidence = Vec::new();
        let received = self.to.received_bits();
        if let Some(asked) = asked_bits(self.order) {
            evidence.push(Evidence::Received(received, asked));
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
        let losses = losses::of(self);
        let evidence = |first: Vec<Evidence>| -> Vec<Evidence> {
            let others = losses.evidence.iter().chain(&takes.evidence).chain(&sends.evidence);
            let rest: Vec<Evidence> = others.filter(|what| !first.contains(what)).cloned().collect();
            first.into_iter().chain(rest).collect()
        };
        if losses.socket >= LOST {
            return Limit { label: Label::ReceiverSocket, evidence: evidence(vec![]) };
        }
        if losses.behind >= LOST {
            let label = if takes.saturated { Label::cpu(self.to.side) } else { Label::Device };
            return Limit { label, evidence: evidence(vec![]) };
        }
        if let Some(reached) = self.link() {
            return Limit { label: Label::Link, evidence: evidence(vec![reached]) };
        }
        if losses.before >= LOST {
            return Limit { label: Label::Device, evidence: evidence(vec![]) };
        }
        if sends.saturated {
            return Limit { label: sends.label(self.from.side), evidence: evidence(sends.evidence.clone()) };
        }
        if takes.saturated {
            return Limit { label: Label::cpu(self.to.side), evidence: evidence(takes.evidence.clone()) };
        }
        let told = if losses.elsewhere >= LOST {
            Evidence::LostUncounted(losses.elsewhere)
        } else {
            Evidence::NobodyBusy
        };
        Limit { label: Label::Path, evidence: evidence(vec![told]) }
    }

    fn of_tcp(&self) -> Limit {
        let (sends, takes) = (self.sends(), self.takes());
        let tcp = self.from.tcp();
        let mut evidence: Vec<Evidence> = Vec::new();
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
        for what in first.into_iter().chain(sends.evidence).chain(takes.evidence).chain(tcp.evidence()) {
            if !evidence.contains(&what) {
                evidence.push(what);
            }
        }
        Limit { label, evidence }
    }

    fn of_transactions(&self) -> Limit {
        let (asks, answers) = (self.sends(), self.takes());
        let done = self.from.per_second(self.from.window.load.sent.transactions);
        let mut first = Vec::new();
        let mut rest = Vec::new();
        let mut label = None;
        if let Some(asked) = self.order.traffic.rate {
            first.push(Evidence::Answered(done, asked));
            label = (done >= ASKED * f64::from(asked)).then_some(Label::Pacing);
        }
        if label.is_none() && self.order.traffic.kind == Kind::UdpRr {
            let losses = losses::of(self);
            label = (losses.socket >= LOST).then_some(Label::ReceiverSocket);
            rest.extend(losses.evidence);
        }
        if label.is_none()
            && let Some(reached) = self.link()
        {
            first.insert(0, reached);
            label = Some(Label::Link);
        }
        let label = label.or_else(|| self.cpu(&asks, &answers, 0.0)).unwrap_or_else(|| {
            let flight = u64::from(self.order.traffic.in_flight) * u64::from(self.order.traffic.flows);
            let polls = self.polls(self.from) || self.polls(self.to);
            first.insert(0, Evidence::RoundTrip(flight, polls));
            Label::Path
        });
        first.extend(rest);
        let (one, other) = if label == Label::cpu(self.to.side) { (answers, asks) } else { (asks, answers) };
        first.extend(one.evidence.into_iter().chain(other.evidence));
        Limit { label, evidence: first }
    }

    /// Of the sending, or asking, end. The asking end also receives the answers, and may poll for
    /// them.
    fn sends(&self) -> Busy {
        Busy::of(self.from, true, self.order.traffic.kind.is_rr() && self.polls(self.from))
    }

    fn takes(&self) -> Busy {
        Busy::of(self.to, false, self.polls(self.to))
    }

    /// Whether an end's threads are busy whatever comes. Polling that was refused, or had no queue
    /// to poll, is sleep.
    fn polls(&self, end: &End<'_>) -> bool {
        let traffic = &self.order.traffic;
        traffic.reader == load::Reader::Spin || (traffic.busy_poll.is_some() && !end.whole.outcome.slept)
    }

    /// Whose CPU the other end waits for. `closed`: the share of the time that the sender waited
    /// for the receiver's window.
    fn cpu(&self, sends: &Busy, takes: &Busy, closed: f64) -> Option<Label> {
        let receiver_first = match (sends.saturated, takes.saturated) {
            // A wait for a CPU that is not over at the window's end is not told, and its thread
            // looks asleep. But if the window was closed while the receiver mostly waited for its
            // CPU, that is why.
            (false, false) if closed >= MUCH && takes.waiting >= closed / 2.0 => true,
            (false, false) => return None,
            (sends, takes) if sends != takes => takes,
            _ => closed >= CLOSED || takes.wanted > sends.wanted,
        };
        Some(if receiver_first { Label::cpu(self.to.side) } else { sends.label(self.from.side) })
    }

    /// Whether the wire carried as much as it can.
    fn link(&self) -> Option<Evidence> {
        [self.from.sends_at_limit(self.order), self.to.takes_at_limit(), self.to.sends_at_limit(self.order)]
            .into_iter()
            .flatten()
            .next()
    }

    /// Whether segments were dropped on their way from one device to the other, and retransmitted.
    fn dropped(&self) -> Option<Evidence> {
        let (near, far) = (&self.from.window.counters, &self.to.window.counters);
        let (queue, wire) = (near.queue.drops, near.link.tx_dropped.max(far.link.rx_dropped));
        let sent = near.tcp.out_segs.saturating_add(near.tcp.retrans_segs);
        let dropped = queue.saturating_add(wire);
        (near.tcp.retrans_segs > 0 && dropped as f64 >= SEGMENTS_LOST * sent as f64).then(|| {
            Evidence::Dropped(Dropped {
                side: self.from.side,
                queue,
                devices: wire,
                retransmitted: near.tcp.retrans_segs,
                segments: sent,
                wire: self.from.window.link.from.to_string(),
            })
        })
    }
}

/// A share of the time with data to send that was spent on a closed window, from which on it was
/// the receiver that had no time.
const CLOSED: f64 = 0.1;

#[cfg(test)]
mod tests;
