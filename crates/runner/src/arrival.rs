//! Whether anything arrived in a run's window.

use load::{Direction, Kind};
use record::{RunAccount, SideAccount};
use testbed::RunOrder;

use crate::loss::Loss;

/// Why a run has no rate: nothing arrived in one of its directions. A rate of 0 is no measurement
/// of what the switches do, so such a run fails. The text says where the messages went, as far as
/// that is known.
#[must_use]
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
