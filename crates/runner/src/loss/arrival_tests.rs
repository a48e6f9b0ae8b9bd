//! Runs in whose window nothing arrived.

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
