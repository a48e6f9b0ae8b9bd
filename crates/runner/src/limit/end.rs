//! One end of a run and its rates, and where datagrams between two ends were lost.

use agent::message::{Finished, Measured};
use host::{QueueCounters, ThreadTimes};
use load::TcpInfo;
use record::{Evidence, LossPlace, RunAccount, SideAccount};
use study::Side;
use testbed::RunOrder;

use super::contended::{Contention, mean_share};
use crate::kernel_metrics::needless;
use crate::loss::Loss;

// By the square-root law (Mathis et al., 1997) a loss of 1 in 10,000 allows a window of about 120
// segments.
pub(super) const SEGMENTS_LOST: f64 = 1e-4;
// From this share of the time with data to send on, a wait of TCP is the limit.
pub(super) const MUCH: f64 = 0.3;

pub(super) struct MeasuredEnd<'a> {
    pub(super) side: Side,
    pub(super) window: &'a Measured,
    pub(super) whole: &'a Finished,
    /// The CPU time that it lost to other processes, if that is much.
    pub(super) contention: Option<Contention>,
}

/// One way of a stream, or requests and their answers.
pub(super) struct OneWay<'a> {
    pub(super) order: &'a RunOrder,
    pub(super) from: &'a MeasuredEnd<'a>,
    pub(super) to: &'a MeasuredEnd<'a>,
}

// A token bucket counts bytes, and a wire has preamble and gaps, that the interface does not count.
const REACHED: f64 = 0.9;
// TCP does not fill a token bucket's short queue better.
const HELD_UP: f64 = 0.5;

impl<'a> MeasuredEnd<'a> {
    pub(super) fn new(side: Side, own: &'a SideAccount, account: &RunAccount) -> Self {
        let contention = Contention::find(account, side, own);
        Self { side, window: &own.window, whole: &own.whole, contention }
    }

    /// A count of the window per second of it; 0 of a window without length.
    pub(super) fn per_second(&self, counted: u64) -> f64 {
        match self.window.elapsed_ns {
            0 => 0.0,
            elapsed => counted as f64 * 1e9 / elapsed as f64,
        }
    }

    pub(super) fn received_bits(&self) -> f64 {
        8.0 * self.per_second(self.window.load.received.bytes)
    }

    pub(super) fn threads(&self, sending: bool) -> Vec<ThreadTimes> {
        let (threads, shares) = (&self.window.threads, &self.whole.outcome.threads);
        // If the two do not fit, use all threads.
        if threads.len() != shares.len() {
            return threads.clone();
        }
        let of = threads.iter().zip(shares).filter(|(_, share)| share.sends == sending);
        of.map(|(times, _)| *times).collect()
    }

    /// The mean over its threads, as a share of the window.
    pub(super) fn running(&self) -> f64 {
        mean_share(&self.window.threads, self.window.elapsed_ns, |thread| thread.running_ns)
    }

    /// In bits/s.
    fn rate(&self) -> Option<f64> {
        self.window.link.rate_bits.filter(|bits| *bits > 0).map(|bits| bits as f64)
    }

    pub(super) fn sends_at_limit(&self, order: &RunOrder) -> Option<Evidence> {
        let counters = &self.window.counters;
        let rate = self.rate()?;
        let sent = 8.0 * self.per_second(self.wire_bytes(order));
        let held = self.window.link.shaped && (counters.queue.overlimits > 0 || counters.queue.drops > 0);
        let is_reached = sent >= rate * REACHED || (held && sent >= rate * HELD_UP);
        is_reached.then(|| self.reached(true, sent, rate, counters.queue))
    }

    pub(super) fn takes_at_limit(&self) -> Option<Evidence> {
        // A queueing discipline limits only what is sent.
        let rate = self.rate().filter(|_| !self.window.link.shaped)?;
        let taken = 8.0 * self.per_second(self.window.counters.link.rx_bytes);
        (taken >= rate * REACHED).then(|| self.reached(false, taken, rate, QueueCounters::default()))
    }

    fn reached(&self, sent: bool, carried_bits: f64, rate_bits: f64, queue: QueueCounters) -> Evidence {
        let (from, delayed, dropped) = (self.window.link.from.clone(), queue.overlimits, queue.drops);
        Evidence::AtLinkRate { side: self.side, sent, carried_bits, rate_bits, from, delayed, dropped }
    }

    fn wire_bytes(&self, order: &RunOrder) -> u64 {
        let counters = &self.window.counters;
        let udp = order.traffic.kind.is_udp();
        // A wire and a token bucket count headers of each segment, the interface does not.
        let segments = if !udp {
            counters.tcp.out_segs.saturating_add(counters.tcp.retrans_segs)
        } else if order.traffic.sender.segments() {
            self.window.load.sent.messages
        } else {
            0
        };
        // Ethernet, IP, and UDP or TCP with its timestamps, which has 24 bytes more.
        let header = 14 + u64::from(order.family.udp_headers()) + if udp { 0 } else { 24 };
        let packets = counters.link.tx_packets.saturating_add(counters.queue.drops);
        let more = segments.saturating_sub(packets).saturating_mul(header);
        counters.link.tx_bytes.saturating_add(more)
    }

    pub(super) fn tcp(&self) -> Waits {
        let flows = self.whole.outcome.flows.iter().filter(|flow| flow.sends);
        let infos: Vec<&TcpInfo> = flows.filter_map(|flow| flow.tcp.as_ref()).collect();
        let sum = |of: fn(&TcpInfo) -> u64| infos.iter().map(|info| of(info)).fold(0, u64::saturating_add);
        let busy = sum(|info| info.busy_us);
        let share = |part: u64| if busy == 0 { 0.0 } else { part as f64 / busy as f64 };
        let retransmitted = sum(|info| info.retransmits);
        Waits {
            closed: share(sum(|info| info.receiver_limited_us)),
            full: share(sum(|info| info.buffer_limited_us)),
            retransmitted,
            needless: needless(retransmitted, sum(|info| info.duplicates)),
            sent: sum(|info| info.segments_out),
            window: infos.iter().map(|info| info.congestion_window).min().unwrap_or(0),
            rtt_us: infos.iter().map(|info| info.rtt_us).max().unwrap_or(0),
        }
    }
}

/// Waits of TCP in the whole life of the connections, as shares of the time with data to send.
pub(super) struct Waits {
    /// The receiver's window was closed.
    pub(super) closed: f64,
    /// The sender's own buffer was full.
    full: f64,
    retransmitted: u64,
    needless: u64,
    sent: u64,
    /// The smallest congestion window at the end, in segments.
    window: u32,
    /// The longest round trip at the end, µs.
    rtt_us: u32,
}

impl Waits {
    pub(super) fn verdict(&self) -> Option<Evidence> {
        if self.closed >= MUCH {
            return Some(Evidence::WindowClosed { share: self.closed });
        }
        if self.full >= MUCH {
            return Some(Evidence::BufferFull { share: self.full });
        }
        let much = |segments: u64| segments as f64 > SEGMENTS_LOST * self.sent as f64;
        let (lost, late) = (self.retransmitted - self.needless, self.needless);
        let (segments, window) = (self.sent, self.window);
        if late > lost {
            much(late).then_some(Evidence::SegmentsLate { late, segments, window })
        } else {
            much(lost).then_some(Evidence::SegmentsLost { lost, segments, window })
        }
    }

    pub(super) fn evidence(&self) -> Option<Evidence> {
        let Self { closed, full, retransmitted, needless, sent, window, rtt_us } = *self;
        let tcp = Evidence::Tcp { closed, full, retransmitted, needless, segments: sent, window, rtt_us };
        (sent > 0).then_some(tcp)
    }
}

// Most of a receiver's work is wasted: more sent then means less received (receive livelock: Mogul
// and Ramakrishnan, ACM TOCS 15(3), 1997).
const DROPPED: f64 = 0.4;
const INTERRUPTED: f64 = 0.75;

/// The CPU time that the receiver spends on datagrams that its socket then drops, if it is much.
fn livelock(to: &MeasuredEnd<'_>, dropped: f64) -> Option<Evidence> {
    let times = &to.window.cpu;
    let interrupted = times.irq.saturating_add(times.softirq) as f64 / times.total().max(1) as f64;
    (dropped >= DROPPED && interrupted >= INTERRUPTED)
        .then_some(Evidence::Livelock { side: to.side, share: interrupted })
}

pub(super) fn find_losses(case: &OneWay<'_>) -> (Loss, Vec<Evidence>) {
    // Of the whole run: at a window's edges some datagrams are on the way.
    let loss = Loss::between(&case.order.traffic, case.from.whole, case.to.whole);
    let (from, to) = (case.from, case.to);
    let places = [
        (LossPlace::Socket(to.side), loss.socket),
        (LossPlace::Behind(to.side), loss.behind),
        (LossPlace::Queue { side: from.side, wire: from.window.link.from.to_string() }, loss.queue),
        (LossPlace::Device(from.side), loss.device),
        (LossPlace::Uncounted, loss.unaccounted()),
    ];
    let lossy = places.into_iter().filter(|(_, lost)| *lost > 0);
    let lost = lossy.map(|(place, datagrams)| Evidence::Lost { place, datagrams, offered: loss.offered });
    (loss, lost.chain(livelock(to, loss.share(loss.socket))).collect())
}
