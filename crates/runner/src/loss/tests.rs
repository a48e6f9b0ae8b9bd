//! Losses by place.

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
