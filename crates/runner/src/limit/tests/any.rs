//! Whatever agents count.

use load::Reader;
use proptest::prelude::*;

use super::*;

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), 1u64..2_000_000_000, any::<u64>()]
}

fn times() -> impl Strategy<Value = host::CpuTimes> {
    prop::array::uniform6(number()).prop_map(|[user, system, irq, softirq, steal, idle]| host::CpuTimes {
        user,
        system,
        irq,
        softirq,
        steal,
        idle,
    })
}

fn any_side() -> impl Strategy<Value = SideAccount> {
    let threads = prop::collection::vec(prop::array::uniform4(number()), 0..3);
    (prop::collection::vec(number(), 24), threads, prop::collection::vec(times(), 0..3), any::<[bool; 3]>())
        .prop_map(|(numbers, threads, cpus, [sends, shaped, limited])| {
            let mut account = record::sample::account().transmitter;
            side(&mut account, sends);
            let mut numbers = numbers.into_iter();
            let mut next = || numbers.next().unwrap_or(0);
            let window = &mut account.window;
            window.elapsed_ns = next();
            for counts in [
                &mut window.load.sent,
                &mut window.load.received,
                &mut account.whole.outcome.sent,
                &mut account.whole.outcome.received,
            ] {
                (counts.messages, counts.bytes, counts.socket_drops) = (next(), next(), next());
            }
            for counters in [&mut window.counters, &mut account.whole.counters] {
                (counters.link.tx_packets, counters.link.tx_bytes) = (next(), next());
                (counters.link.rx_dropped, counters.link.tx_dropped) = (next(), next());
                (counters.queue.drops, counters.tcp.retrans_segs) = (next(), next());
            }
            window.threads = threads
                .into_iter()
                .map(|[running_ns, user_ns, system_ns, waiting_ns]| ThreadTimes {
                    running_ns,
                    user_ns,
                    system_ns,
                    waiting_ns,
                })
                .collect();
            window.cpu = host::CpuTimes::sum(&cpus);
            window.cpu_each = cpus;
            window.link = LinkLimit { rate_bits: limited.then(&mut next), shaped, from: String::new() };
            account
        })
}

fn any_order() -> impl Strategy<Value = RunOrder> {
    let kinds = prop::sample::select(Kind::ALL.to_vec());
    let ways = prop::sample::select(vec![Direction::Forward, Direction::Reverse, Direction::Both]);
    let readers = prop::sample::select(vec![Reader::Recv, Reader::Gro, Reader::Spin]);
    (kinds, ways, readers, any::<(Option<u32>, Option<u32>, u32, u32, bool)>()).prop_map(
        |(kind, direction, reader, (pacing, rate, message, flows, ipv6))| RunOrder {
            traffic: Traffic {
                direction,
                reader,
                pacing: pacing.and_then(|bits| Pacing::of_bits(u64::from(bits))),
                rate,
                message,
                flows,
                ..Traffic::new(kind)
            },
            family: load::Family::from_ipv6(ipv6),
            ramp: Duration::ZERO,
            window: Duration::ZERO,
            step: Duration::ZERO,
        },
    )
}

proptest! {
    #[test]
    fn whatever_was_counted_there_is_one_label_with_its_evidence(
        order in any_order(),
        transmitter in any_side(),
        receiver in prop::option::weighted(0.9, any_side()),
    ) {
        let account = RunAccount { transmitter, receiver, ..record::sample::account() };
        let limit = limit(&order, &account);
        prop_assert!(!limit.evidence.is_empty());
        let mut sentences = limit.evidence.iter().map(Evidence::to_string);
        prop_assert!(sentences.all(|what| !what.is_empty() && !what.contains("NaN")), "{limit:?}");
    }
}
