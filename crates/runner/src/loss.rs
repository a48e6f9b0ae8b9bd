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

/// `most`: datagrams in a packet. With more packets than datagrams, the places are filled in order;
/// else in proportion to their packets.
fn shared_out<const PLACES: usize>(missing: u64, places: [(u64, u64); PLACES]) -> [u64; PLACES] {
    let packets = places.iter().fold(0u64, |sum, (packets, _)| sum.saturating_add(*packets));
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
    let sent: u64 = [Some(transmitter), receiver]
        .into_iter()
        .flatten()
        .map(|end| end.window.load.sent)
        .map(|sent| sent.messages.saturating_add(sent.no_buffers))
        .fold(0, u64::saturating_add);
    let lost = Loss::from_account(traffic, account).map_or_else(String::new, |loss| {
        format!(
            "; of {} messages of the whole run {} were lost: queue {}, device {}, behind the wire {}, socket {}, places without a counter {}",
            loss.offered,
            loss.lost(),
            loss.queue,
            loss.device,
            loss.behind,
            loss.socket,
            loss.unaccounted()
        )
    });
    Some(format!("{empty} in the window, in which {sent} messages were sent{lost}"))
}

#[cfg(test)]
mod tests {
    use load::{Kind, Sender};
    use proptest::prelude::*;

    use super::*;
    use record::sample::account;

    fn stream() -> Traffic {
        Traffic { message: 1000, ..Traffic::new(Kind::UdpStream) }
    }

    fn metrics_of(loss: &Loss) -> std::collections::BTreeMap<&'static str, f64> {
        loss.metrics().into_iter().map(|(metric, value)| (metric.key, value)).collect()
    }

    #[test]
    fn a_drop_that_both_ends_of_a_veth_count_is_one_drop() {
        let mut account = account();
        account.transmitter.whole.outcome.sent.messages = 100;
        account.receiver.as_mut().unwrap().whole.outcome.received.messages = 90;
        account.transmitter.whole.counters.link.tx_dropped = 6;
        account.receiver.as_mut().unwrap().whole.counters.link.rx_dropped = 6;
        account.receiver.as_mut().unwrap().whole.outcome.received.socket_drops = 3;
        let told = metrics_of(&Loss::from_account(&stream(), &account).unwrap());
        assert_eq!(told["lost"], 10.0);
        assert_eq!(told["lost_device"], 6.0);
        assert_eq!(told["lost_socket"], 3.0);
        assert_eq!(told["lost_unaccounted"], 1.0);
        assert_eq!(told["loss"], 10.0);
    }

    #[test]
    fn a_device_may_drop_packets_that_are_none_of_ours() {
        let mut account = account();
        account.transmitter.whole.outcome.sent.messages = 100;
        account.receiver.as_mut().unwrap().whole.outcome.received.messages = 95;
        account.receiver.as_mut().unwrap().whole.outcome.received.socket_drops = 3;
        account.receiver.as_mut().unwrap().whole.counters.link.rx_dropped = 4;
        let told = metrics_of(&Loss::from_account(&stream(), &account).unwrap());
        assert_eq!((told["lost"], told["lost_socket"], told["lost_device"]), (5.0, 3.0, 2.0));
        assert_eq!(told["lost_unaccounted"], 0.0);
    }

    #[test]
    fn a_send_that_was_made_good_is_no_loss() {
        let mut account = account();
        account.transmitter.whole.outcome.sent.messages = 100;
        account.receiver.as_mut().unwrap().whole.outcome.received.messages = 90;
        account.receiver.as_mut().unwrap().whole.outcome.received.socket_drops = 10;
        account.transmitter.whole.counters.udp.sndbuf_errors = 1;
        let told = metrics_of(&Loss::from_account(&stream(), &account).unwrap());
        assert_eq!((told["lost"], told["lost_socket"], told["lost_queue"]), (10.0, 10.0, 0.0));
    }

    #[test]
    fn what_the_queue_refused_was_offered_but_not_sent() {
        let mut account = account();
        account.transmitter.whole.outcome.sent.messages = 80;
        account.transmitter.whole.outcome.sent.no_buffers = 20;
        account.receiver.as_mut().unwrap().whole.outcome.received.messages = 80;
        let told = metrics_of(&Loss::from_account(&stream(), &account).unwrap());
        assert_eq!((told["offered"], told["sent"], told["received"]), (100.0, 80.0, 80.0));
        assert_eq!((told["lost"], told["lost_queue"], told["lost_unaccounted"]), (20.0, 20.0, 0.0));
    }

    #[test]
    fn an_unanswered_request_is_a_lost_transaction() {
        let mut account = account();
        account.transmitter.whole.outcome.sent.messages = 50;
        account.transmitter.whole.outcome.sent.timeouts = 2;
        let told = metrics_of(&Loss::from_account(&Traffic::new(Kind::UdpRr), &account).unwrap());
        assert_eq!((told["lost"], told["loss"]), (2.0, 4.0));
    }

    #[test]
    fn a_dropped_packet_of_many_segments_is_many_datagrams() {
        let mut account = account();
        account.transmitter.whole.outcome.sent.messages = 1000;
        account.receiver.as_mut().unwrap().whole.outcome.received.messages = 600;
        account.receiver.as_mut().unwrap().whole.outcome.received.socket_drops = 40;
        account.transmitter.whole.counters.queue.drops = 9;
        let gso = Traffic { sender: Sender::Gso, ..stream() };
        let loss = Loss::from_account(&gso, &account).unwrap();
        assert_eq!((loss.socket, loss.queue, loss.unaccounted()), (40, 360, 0));
        // 65 of 1000 bytes are the most that a packet holds.
        account.transmitter.whole.counters.queue.drops = 2;
        assert_eq!(Loss::from_account(&gso, &account).unwrap().unaccounted(), 360 - 2 * 65);
        // And one at a time if nothing is segmented.
        assert_eq!(Loss::from_account(&stream(), &account).unwrap().unaccounted(), 358);
        // A socket that takes merged packets drops them whole.
        let gro = Traffic { reader: Reader::Gro, ..stream() };
        account.transmitter.whole.counters.queue.drops = 0;
        let loss = Loss::from_account(&gro, &account).unwrap();
        assert_eq!((loss.socket, loss.unaccounted()), (400, 0));
    }

    #[test]
    fn each_way_of_a_stream_has_its_own_places() {
        let mut account = account();
        for end in [&mut account.transmitter, account.receiver.as_mut().unwrap()] {
            end.whole.outcome.sent.messages = 100;
            end.whole.outcome.received.messages = 90;
        }
        account.transmitter.whole.outcome.received.socket_drops = 10;
        account.receiver.as_mut().unwrap().whole.counters.queue.drops = 7;
        let both = Loss::from_account(&Traffic { direction: Direction::Both, ..stream() }, &account).unwrap();
        assert_eq!((both.offered, both.lost(), both.socket, both.queue), (200, 20, 10, 0));
        assert_eq!(both.unaccounted(), 10);
        let reverse =
            Loss::from_account(&Traffic { direction: Direction::Reverse, ..stream() }, &account).unwrap();
        assert_eq!((reverse.offered, reverse.socket, reverse.unaccounted()), (100, 10, 0));
    }

    fn number() -> impl Strategy<Value = u64> {
        prop_oneof![0u64..5, 0u64..10_000, any::<u64>()]
    }

    proptest! {
        #[test]
        fn what_is_shared_out_adds_up(missing in number(), places in prop::array::uniform4((number(), 1u64..129))) {
            let shares = shared_out(missing, places);
            let all = shares.iter().fold(0u64, |sum, share| sum.saturating_add(*share));
            let most = places.iter().fold(0u64, |sum, (packets, most)| sum.saturating_add(packets.saturating_mul(*most)));
            prop_assert_eq!(all, missing.min(most));
            for (share, (packets, most)) in shares.iter().zip(places) {
                prop_assert!(*share <= packets.saturating_mul(most));
            }
        }

        #[test]
        fn any_counters_make_an_account(numbers in prop::collection::vec(number(), 12), message in any::<u32>(), gso in any::<bool>()) {
            let mut account = account();
            let mut numbers = numbers.into_iter();
            let mut next = || numbers.next().unwrap_or(0);
            for end in [&mut account.transmitter.whole, &mut account.receiver.as_mut().unwrap().whole] {
                (end.outcome.sent.messages, end.outcome.received.messages) = (next(), next());
                (end.outcome.sent.no_buffers, end.outcome.received.socket_drops) = (next(), next());
                (end.counters.queue.drops, end.counters.link.tx_dropped) = (next(), next());
            }
            let sender = if gso { Sender::Gso } else { Sender::Send };
            for kind in [Kind::UdpStream, Kind::UdpRr] {
                let loss = Loss::from_account(&Traffic { message, sender, direction: Direction::Both, ..Traffic::new(kind) }, &account).unwrap();
                for (metric, value) in loss.metrics() {
                    prop_assert!(value >= 0.0 || (metric == metric::LOSS && loss.offered == 0));
                }
                prop_assert!(loss.unaccounted() <= loss.lost());
            }
        }
    }
}

#[cfg(test)]
mod arrival_tests {
    use std::time::Duration;

    use load::Traffic;

    use super::*;
    use record::sample::account;

    fn sentence_of(kind: Kind, direction: Direction, change: impl Fn(&mut RunAccount)) -> Option<String> {
        let order = RunOrder {
            traffic: Traffic { direction, ..Traffic::new(kind) },
            family: load::Family::Ipv4,
            ramp: Duration::ZERO,
            window: Duration::from_millis(500),
            step: Duration::from_millis(10),
        };
        let mut account = account();
        change(&mut account);
        nothing_arrived(&order, &account)
    }

    fn deaf(account: &mut RunAccount) {
        let receiver = account.receiver.as_mut().unwrap();
        receiver.window.load.received = load::Counts::default();
        receiver.whole.outcome.received = load::Counts::default();
    }

    #[test]
    fn a_stream_that_arrived_nowhere_says_where_it_went() {
        assert_eq!(sentence_of(Kind::UdpStream, Direction::Forward, |_| {}), None);
        let dropped = sentence_of(Kind::UdpStream, Direction::Forward, |account| {
            deaf(account);
            account.transmitter.whole.counters.queue.drops = 900;
        });
        assert_eq!(
            dropped.as_deref(),
            Some(
                "nothing arrived at the receiver in the window, in which 1000 messages were sent; of 1000 messages of the whole run 1000 were \
                 lost: queue 900, device 0, behind the wire 0, socket 0, places without a counter 100"
            )
        );
        let tcp = sentence_of(Kind::TcpStream, Direction::Forward, deaf);
        assert_eq!(
            tcp.as_deref(),
            Some("nothing arrived at the receiver in the window, in which 1000 messages were sent")
        );
    }

    #[test]
    fn each_way_must_carry_something() {
        let way = |direction| sentence_of(Kind::TcpStream, direction, |_| {}).unwrap_or_default();
        assert!(way(Direction::Reverse).starts_with("nothing arrived at the transmitter"));
        assert!(way(Direction::Both).starts_with("nothing arrived at the transmitter"));
        let both = sentence_of(Kind::TcpStream, Direction::Both, deaf).unwrap();
        assert!(both.starts_with("nothing arrived at either end"), "{both}");
    }

    #[test]
    fn transactions_and_packets_count_where_they_are_counted() {
        let rr = sentence_of(Kind::TcpRr, Direction::Forward, |account| {
            account.transmitter.window.load.sent.transactions = 0
        });
        assert!(rr.unwrap().starts_with("no transaction was completed"));
        assert_eq!(sentence_of(Kind::TcpRr, Direction::Forward, deaf), None);
        let pps = sentence_of(Kind::Pps, Direction::Forward, |account| {
            account.receiver = None;
            account.transmitter.window.counters.link.tx_packets = 0;
        });
        assert!(pps.unwrap().starts_with("no packet left the interface"));
    }
}
