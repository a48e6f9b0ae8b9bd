use super::*;

#[test]
fn a_difference_of_samples_is_the_window() {
    let flow = |n| Counts { messages: n, bytes: 10 * n, calls: n, ..Counts::default() };
    let first = Sample {
        at_ns: 1_000,
        sent: flow(1),
        received: flow(2),
        flows: vec![flow(1), flow(2)],
        ..Sample::default()
    };
    let last = Sample {
        at_ns: 5_000,
        sent: flow(10),
        received: flow(20),
        flows: vec![flow(10), flow(20)],
        ..Sample::default()
    };
    let window = last.since(&first);
    assert_eq!(window.at_ns, 4_000);
    assert_eq!((window.sent, window.received), (flow(9), flow(18)));
    assert_eq!(window.flows, vec![flow(9), flow(18)]);
    assert_eq!(window.flows.iter().copied().sum::<Counts>(), flow(27));
}

#[test]
fn a_tally_is_seen_from_outside() {
    let counters = LaneCounters::default();
    let mut tally = Tally::new(&counters);
    tally.message(100);
    tally.message(50);
    tally.stream(7);
    tally.completed();
    tally.transaction();
    tally.no_buffers();
    tally.timeout();
    tally.late();
    tally.batch(5, 50);
    tally.arrived(2, 20);
    tally.refused(3);
    let expected = Counts {
        messages: 10,
        bytes: 227,
        calls: 5,
        transactions: 1,
        no_buffers: 4,
        timeouts: 1,
        late: 1,
        socket_drops: 0,
    };
    assert_eq!(counters.read(), expected);
    Tally::new(&counters).message(1);
    assert_eq!(counters.read(), Counts { messages: 11, bytes: 228, calls: 6, ..expected });
}

#[test]
fn writers_share_no_cache_line() {
    assert!(align_of::<LaneCounters>() >= 128);
    assert_eq!(size_of::<LaneCounters>() % 128, 0);
}
