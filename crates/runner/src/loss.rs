//! Where a UDP workload's messages went, over the whole life of its sockets.

use agent::message::Finished;
use study::WorkloadKind;
use testbed::RunAccount;

/// The account of one run's messages. Over the whole run, not the window: only when the senders have stopped and the
/// receiver has drained its socket is nothing on the way any more.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Loss {
    offered: u64,
    sent: u64,
    received: u64,
    queue: u64,
    device: u64,
    socket: u64,
}

impl Loss {
    /// The account of a workload over UDP whose messages somebody was to take.
    pub(crate) fn of(kind: WorkloadKind, account: &RunAccount) -> Option<Self> {
        let (transmitter, receiver) = (&account.transmitter.whole, &account.receiver.as_ref()?.whole);
        kind.is_udp().then(|| Self::between(kind, transmitter, receiver))
    }

    fn between(kind: WorkloadKind, transmitter: &Finished, receiver: &Finished) -> Self {
        let asked = &transmitter.outcome.sent;
        if kind == WorkloadKind::UdpRr {
            // A transaction is lost with its request or with its answer; both sockets may have dropped.
            return Self {
                offered: asked.messages + asked.no_buffers,
                sent: asked.messages,
                received: asked.messages.saturating_sub(asked.timeouts),
                queue: asked.no_buffers,
                device: 0,
                socket: transmitter.outcome.socket_drops() + receiver.outcome.socket_drops(),
            };
        }
        let (near, far) = (&transmitter.counters, &receiver.counters);
        let offered = asked.messages + asked.no_buffers;
        let received = receiver.outcome.received.messages;
        // What the socket refused and what it dropped are exact: datagrams of ours, each counted once.
        let socket = receiver.outcome.socket_drops();
        let missing = offered.saturating_sub(received).saturating_sub(asked.no_buffers + socket);
        // A queueing discipline and a device count every packet that they drop, neighbour discovery among them: what
        // goes beyond the datagrams that are missing was none of them. (UDP's own SndbufErrors is no count of
        // datagrams: a send that was given up for want of room and made good later is in it, too.)
        let dropped_by_queue = near.queue.drops.min(missing);
        // A full backlog behind a veth counts at both of its ends: as not sent by the one and not taken by the other.
        let device = near.link.tx_dropped.max(far.link.rx_dropped).min(missing - dropped_by_queue);
        let queue = asked.no_buffers + dropped_by_queue;
        Self { offered, sent: asked.messages, received, queue, device, socket }
    }

    /// The account by metric key. Lost is what was offered and not received, wherever it stayed.
    pub(crate) fn tell(&self, mut put: impl FnMut(&str, f64)) {
        let lost = self.offered.saturating_sub(self.received);
        let accounted = self.queue + self.device + self.socket;
        put("offered", self.offered as f64);
        put("sent", self.sent as f64);
        put("received", self.received as f64);
        put("lost", lost as f64);
        put("lost_queue", self.queue as f64);
        put("lost_device", self.device as f64);
        put("lost_socket", self.socket as f64);
        put("lost_unaccounted", lost.saturating_sub(accounted) as f64);
        if self.offered > 0 {
            put("loss", lost as f64 * 100.0 / self.offered as f64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::account;

    fn told(loss: &Loss) -> std::collections::BTreeMap<String, f64> {
        let mut metrics = std::collections::BTreeMap::new();
        loss.tell(|key, value| {
            metrics.insert(key.to_owned(), value);
        });
        metrics
    }

    #[test]
    fn a_drop_that_both_ends_of_a_veth_count_is_one_drop() {
        let mut account = account();
        account.transmitter.whole.outcome.sent.messages = 100;
        account.receiver.as_mut().unwrap().whole.outcome.received.messages = 90;
        account.transmitter.whole.counters.link.tx_dropped = 6;
        account.receiver.as_mut().unwrap().whole.counters.link.rx_dropped = 6;
        account.receiver.as_mut().unwrap().whole.outcome.received.socket_drops = 3;
        let told = told(&Loss::of(WorkloadKind::UdpStream, &account).unwrap());
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
        let told = told(&Loss::of(WorkloadKind::UdpStream, &account).unwrap());
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
        let told = told(&Loss::of(WorkloadKind::UdpStream, &account).unwrap());
        assert_eq!((told["lost"], told["lost_socket"], told["lost_queue"]), (10.0, 10.0, 0.0));
    }

    #[test]
    fn what_the_queue_refused_was_offered_but_not_sent() {
        let mut account = account();
        account.transmitter.whole.outcome.sent.messages = 80;
        account.transmitter.whole.outcome.sent.no_buffers = 20;
        account.receiver.as_mut().unwrap().whole.outcome.received.messages = 80;
        let told = told(&Loss::of(WorkloadKind::UdpStream, &account).unwrap());
        assert_eq!((told["offered"], told["sent"], told["received"]), (100.0, 80.0, 80.0));
        assert_eq!((told["lost"], told["lost_queue"], told["lost_unaccounted"]), (20.0, 20.0, 0.0));
    }

    #[test]
    fn an_unanswered_request_is_a_lost_transaction() {
        let mut account = account();
        account.transmitter.whole.outcome.sent.messages = 50;
        account.transmitter.whole.outcome.sent.timeouts = 2;
        let told = told(&Loss::of(WorkloadKind::UdpRr, &account).unwrap());
        assert_eq!((told["lost"], told["loss"]), (2.0, 4.0));
    }
}
