//! The fate of a UDP workload's messages, and runs in whose window nothing arrived.

use agent::message::Finished;
use load::{Direction, Kind, Reader, Traffic};
use record::{RunAccount, SideAccount};
use study::metric::{self, Metric};
use testbed::RunOrder;

use crate::kernel_metrics::ratio;

/// Over the whole run: in a window some are on the way. Offered messages were received, or lost at
/// one of these places, or are [`Loss::unaccounted`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Loss {
    pub(crate) offered: u64,
    pub(crate) sent: u64,
    pub(crate) received: u64,
    /// Lost in the queueing disciplines of the sending interface, refused sends included.
    pub(crate) queue: u64,
    pub(crate) device: u64,
    /// Lost in the receiving device, or its backlog.
    pub(crate) behind: u64,
    pub(crate) socket: u64,
}

// `UDP_MAX_SEGMENTS` of linux/udp.h; and no packet holds more than 64 KiB.
const MOST_SEGMENTS: u64 = 128;
const LARGEST_PACKET: u64 = 65_535;

impl Loss {
    pub(crate) fn from_account(traffic: &Traffic, account: &RunAccount) -> Option<Self> {
        let (transmitter, receiver) = (&account.transmitter.whole, &account.receiver.as_ref()?.whole);
        let forward = || Self::between(traffic, transmitter, receiver);
        let reverse = || Self::between(traffic, receiver, transmitter);
        traffic.kind.is_udp().then(|| match traffic.direction {
            Direction::Forward => forward(),
            Direction::Reverse => reverse(),
            Direction::Both => forward().plus(reverse()),
        })
    }

    pub(crate) fn between(traffic: &Traffic, from: &Finished, to: &Finished) -> Self {
        let asked = &from.outcome.sent;
        let offered = asked.messages.saturating_add(asked.no_buffers);
        if traffic.kind.is_rr() {
            // A transaction is lost with its request or its answer; both sockets may have dropped.
            return Self {
                offered,
                sent: asked.messages,
                received: asked.messages.saturating_sub(asked.timeouts),
                queue: asked.no_buffers,
                socket: from.outcome.socket_drops().saturating_add(to.outcome.socket_drops()),
                ..Self::default()
            };
        }
        let received = to.outcome.received.messages;
        let dropped_by_socket = to.outcome.received.socket_drops;
        let missing = offered.saturating_sub(received).saturating_sub(asked.no_buffers);
        // A full backlog behind a veth counts at both of its ends: as not sent and as not received.
        let behind = to.counters.link.rx_dropped;
        let device = from.counters.link.tx_dropped.saturating_sub(behind);
        let queue = from.counters.queue.drops;

        // The socket's count is exact, but one that takes merged packets counts packets.
        let segments = (LARGEST_PACKET / u64::from(traffic.message.max(1))).clamp(1, MOST_SEGMENTS);
        let merged = traffic.reader == Reader::Gro;
        let exact = if merged { 0 } else { dropped_by_socket };
        // A queueing discipline and a device count packets of many datagrams (GSO) or of other
        // traffic, so they are given the missing ones. (UDP's SndbufErrors includes repeated
        // sends.)
        let most = if traffic.sender.segments() { segments } else { 1 };
        let places = [
            (if merged { dropped_by_socket } else { 0 }, segments),
            (queue, most),
            (behind, most),
            (device, most),
        ];
        let [socket, queue, behind, device] = shared_out(missing.saturating_sub(exact), places);
        Self {
            offered,
            sent: asked.messages,
            received,
            queue: queue.saturating_add(asked.no_buffers),
            device,
            behind,
            socket: socket.saturating_add(exact),
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            offered: self.offered.saturating_add(other.offered),
            sent: self.sent.saturating_add(other.sent),
            received: self.received.saturating_add(other.received),
            queue: self.queue.saturating_add(other.queue),
            device: self.device.saturating_add(other.device),
            behind: self.behind.saturating_add(other.behind),
            socket: self.socket.saturating_add(other.socket),
        }
    }

    /// Of the offered messages; 0 if there were none.
    pub(crate) fn share(&self, messages: u64) -> f64 {
        if self.offered == 0 { 0.0 } else { messages as f64 / self.offered as f64 }
    }

    pub(crate) fn lost(&self) -> u64 {
        self.offered.saturating_sub(self.received)
    }

    pub(crate) fn unaccounted(&self) -> u64 {
        [self.queue, self.device, self.behind, self.socket].into_iter().fold(self.lost(), u64::saturating_sub)
    }

    pub(crate) fn metrics(&self) -> [(Metric, f64); 9] {
        let lost = self.lost() as f64;
        [
            (metric::OFFERED, self.offered as f64),
            (metric::SENT, self.sent as f64),
            (metric::RECEIVED, self.received as f64),
            (metric::LOST, lost),
            (metric::LOST_QUEUE, self.queue as f64),
            (metric::LOST_DEVICE, self.device.saturating_add(self.behind) as f64),
            (metric::LOST_SOCKET, self.socket as f64),
            (metric::LOST_UNACCOUNTED, self.unaccounted() as f64),
            (metric::LOSS, ratio(lost * 100.0, self.offered as f64)),
        ]
    }
}

/// `most`: datagrams in a packet.
fn shared_out<const PLACES: usize>(missing: u64, places: [(u64, u64); PLACES]) -> [u64; PLACES] {
    let packets = places.iter().fold(0u64, |sum, (packets, _)| sum.saturating_add(*packets));
    // With more packets than datagrams, the places are filled in order; else in proportion to their
    // packets.
    let mut left = missing;
    let mut shares = places.map(|(packets_here, most)| {
        let proportion = u128::from(missing) * u128::from(packets_here) / u128::from(packets.max(1));
        let fair = u64::try_from(proportion).unwrap_or(u64::MAX).max(packets_here);
        let share = fair.min(packets_here.saturating_mul(most)).min(left);
        left -= share;
        share
    });
    // The rest that a place could not hold, and that rounding left.
    for (share, (packets_here, most)) in shares.iter_mut().zip(places) {
        let more = packets_here.saturating_mul(most).saturating_sub(*share).min(left);
        *share += more;
        left -= more;
    }
    shares
}

/// Why a run has no rate: nothing arrived in one of its directions, which says nothing of what the
/// switches do. The text says where the messages went, as far as that is known.
pub fn nothing_arrived(order: &RunOrder, account: &RunAccount) -> Option<String> {
    let (transmitter, receiver) = (&account.transmitter, account.receiver.as_ref());
    let traffic = &order.traffic;
    let taken = |end: &SideAccount| end.window.load.received.messages;
    let at_receiver = receiver.map_or(0, taken);
    let empty = match (traffic.kind, traffic.direction) {
        (Kind::Pps, _) => {
            (transmitter.window.counters.link.tx_packets == 0).then_some("no packet left the interface")
        }
        (kind, _) if kind.is_rr() => {
            (transmitter.window.load.sent.transactions == 0).then_some("no transaction was completed")
        }
        (_, Direction::Forward) => (at_receiver == 0).then_some("nothing arrived at the receiver"),
        (_, Direction::Reverse) => (taken(transmitter) == 0).then_some("nothing arrived at the transmitter"),
        (_, Direction::Both) => match (at_receiver, taken(transmitter)) {
            (0, 0) => Some("nothing arrived at either end"),
            (0, _) => Some("nothing arrived at the receiver"),
            (_, 0) => Some("nothing arrived at the transmitter"),
            _ => None,
        },
    }?;
    let sent = account.sides().map(|(_, end)| end.window.load.sent);
    let sent = sent.map(|sent| sent.messages.saturating_add(sent.no_buffers)).fold(0, u64::saturating_add);
    let lost = Loss::from_account(traffic, account).map_or_else(String::new, |loss| {
        let Loss { offered, queue, device, behind, socket, .. } = loss;
        let (lost, uncounted) = (loss.lost(), loss.unaccounted());
        format!(
            "; of {offered} messages of the whole run {lost} were lost: queue {queue}, device {device}, behind the wire {behind}, socket {socket}, places without a counter {uncounted}"
        )
    });
    Some(format!("{empty} in the window, in which {sent} messages were sent{lost}"))
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod arrival_tests;
