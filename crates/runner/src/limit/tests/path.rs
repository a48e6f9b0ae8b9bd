//! Limits outside of the ends: drops, links, paces, and the path.

use super::*;

#[test]
fn a_receiver_that_works_for_what_it_drops_is_in_a_livelock() {
    let mut case = quiet(Kind::UdpStream);
    let receiver = &mut receiver_of(&mut case).whole.outcome.received;
    (receiver.messages, receiver.socket_drops) = (10_000, 90_000);
    let is_told = |case: &(RunOrder, RunAccount)| {
        let found = limit(&case.0, &case.1);
        assert_eq!(found.label, Label::ReceiverSocket);
        found
            .evidence
            .iter()
            .any(|what| what.to_string().contains("receive livelock: interrupts take 98.0 %"))
    };
    assert!(!is_told(&case), "its CPUs are half idle");
    receiver_of(&mut case).window.cpu =
        host::CpuTimes { softirq: 980_000_000, system: 20_000_000, ..Default::default() };
    assert!(is_told(&case));
    let receiver = &mut receiver_of(&mut case).whole.outcome.received;
    (receiver.messages, receiver.socket_drops) = (80_000, 20_000);
    assert!(!is_told(&case), "most of what arrives is received");
}

#[test]
fn a_socket_that_drops_comes_before_all_that_lies_before_it() {
    let mut case = quiet(Kind::UdpStream);
    works(&mut case.1.transmitter, 999, 0, 2);
    (
        receiver_of(&mut case).whole.outcome.received.messages,
        receiver_of(&mut case).whole.outcome.received.socket_drops,
    ) = (59_900, 40_100);
    expect(&case, Label::ReceiverSocket, "receiver's socket dropped 40,100 of 100,000 datagrams (40.1 %)");
    // With the evidence of whether it was asleep.
    let found: Vec<String> = limit(&case.0, &case.1).evidence.iter().map(Evidence::to_string).collect();
    assert!(found.iter().any(|what| what.contains("receiving thread 50.0 % busy")), "{found:?}");
    // A few are a stall, not a limit.
    (
        receiver_of(&mut case).whole.outcome.received.messages,
        receiver_of(&mut case).whole.outcome.received.socket_drops,
    ) = (99_500, 500);
    assert_eq!(limit(&case.0, &case.1).label, Label::TransmitterCpu);

    let mut rr = quiet(Kind::UdpRr);
    receiver_of(&mut rr).whole.outcome.received.socket_drops = 5000;
    assert_eq!(limit(&rr.0, &rr.1).label, Label::ReceiverSocket);
}

#[test]
fn queues_that_drop_are_the_device() {
    let mut udp = quiet(Kind::UdpStream);
    works(&mut udp.1.transmitter, 999, 0, 2);
    receiver_of(&mut udp).whole.outcome.received.messages = 30_000;
    udp.1.transmitter.whole.counters.queue.drops = 70_000;
    expect(
        &udp,
        Label::Device,
        "the queue before the transmitter's wire (v0 is a veth) dropped 70,000 of 100,000",
    );

    let mut tcp = quiet(Kind::TcpStream);
    tcp.1.transmitter.window.counters.queue.drops = 300;
    assert_eq!(limit(&tcp.0, &tcp.1).label, Label::Path, "nothing was retransmitted: not ours");
    tcp.1.transmitter.window.counters.tcp.retrans_segs = 300;
    expect(&tcp, Label::Device, "300 packets dropped by the queue before the transmitter's wire");

    // A backlog that drops because its CPU has no time left is that CPU.
    let mut backlog = quiet(Kind::UdpStream);
    receiver_of(&mut backlog).whole.outcome.received.messages = 30_000;
    receiver_of(&mut backlog).whole.counters.link.rx_dropped = 70_000;
    expect(&backlog, Label::Device, "before the receiver dropped 70,000");
    works(receiver_of(&mut backlog), 990, 0, 1);
    assert_eq!(limit(&backlog.0, &backlog.1).label, Label::ReceiverCpu);
}

#[test]
fn a_rate_that_is_reached_is_the_link() {
    for kind in [Kind::UdpStream, Kind::TcpStream, Kind::UdpRr] {
        let mut case = quiet(kind);
        let limited =
            |rate, shaped| LinkLimit { rate_bits: Some(rate), shaped, from: "tbf at the root of v0".into() };
        case.1.transmitter.window.link = limited(900_000_000, true);
        case.1.transmitter.whole.counters.queue.drops = 20_000;
        expect(&case, Label::Link, "transmitter sent 852.8 Mbit/s with headers, 94.8 % of 900.0 Mbit/s");
        case.1.transmitter.window.link = limited(1_500_000_000, true);
        assert_ne!(limit(&case.0, &case.1).label, Label::Link);
        case.1.transmitter.window.counters.queue.overlimits = 7;
        expect(&case, Label::Link, "delayed packets 7 times");
        // A bucket at the receiver limits the way that it sends; a cable limits the way that it
        // receives.
        case.1.transmitter.window.link = LinkLimit::default();
        receiver_of(&mut case).window.counters.link.tx_bytes = 1000;
        receiver_of(&mut case).window.link = limited(900_000_000, true);
        assert_ne!(limit(&case.0, &case.1).label, Label::Link);
        receiver_of(&mut case).window.link = limited(900_000_000, false);
        expect(&case, Label::Link, "receiver received");
    }
}

#[test]
fn headers_of_segments_to_come_fill_the_link_too() {
    let mut case = quiet(Kind::UdpStream);
    case.0.traffic.sender = Sender::Gso;
    // 100,000 datagrams in 2000 packets.
    case.1.transmitter.window.counters.link.tx_packets = 2000;
    case.1.transmitter.window.counters.link.tx_bytes = 100_084_000;
    case.1.transmitter.window.link =
        LinkLimit { rate_bits: Some(910_000_000), shaped: true, from: "tbf".to_owned() };
    expect(&case, Label::Link, "transmitter sent 833.6 Mbit/s");
}

#[test]
fn what_was_asked_for_and_came_is_pacing() {
    for kind in [Kind::UdpStream, Kind::TcpStream] {
        let mut case = quiet(kind);
        works(&mut case.1.transmitter, 999, 0, 2);
        case.0.traffic.pacing = Pacing::of_bits(820_000_000);
        expect(&case, Label::Pacing, "received 800.0 Mbit/s of the requested 820.0 Mbit/s");
        case.0.traffic.pacing = Pacing::of_bits(2_000_000_000);
        assert_eq!(limit(&case.0, &case.1).label, Label::TransmitterCpu);
    }
    let mut rr = quiet(Kind::TcpRr);
    rr.0.traffic.rate = Some(100_000);
    expect(&rr, Label::Pacing, "100000 of the requested 100000 requests per second");
    rr.0.traffic.rate = Some(200_000);
    assert_eq!(limit(&rr.0, &rr.1).label, Label::Path);
}

#[test]
fn what_is_left_is_the_path_and_says_on_what_grounds() {
    expect(&quiet(Kind::TcpRr), Label::Path, "neither end was busy all the time: 1 in flight");
    expect(
        &quiet(Kind::UdpStream),
        Label::Path,
        "neither end was busy all the time and no place dropped much",
    );
    let mut lost = quiet(Kind::UdpStream);
    receiver_of(&mut lost).whole.outcome.received.messages = 90_000;
    expect(&lost, Label::Path, "10.0 % of the datagrams were lost at a place without a counter");

    let mut tcp = quiet(Kind::TcpStream);
    let info = |change: fn(&mut TcpInfo)| {
        let mut case = quiet(Kind::TcpStream);
        change(case.1.transmitter.whole.outcome.flows[0].tcp.as_mut().unwrap());
        case
    };
    expect(&info(|info| info.receiver_limited_us = 800_000), Label::Path, "window was closed for 80.0 %");
    expect(
        &info(|info| info.buffer_limited_us = 600_000),
        Label::Path,
        "send buffer was the limit for 60.0 %",
    );
    expect(
        &info(|info| info.retransmits = 70),
        Label::Path,
        "70 of 100,000 segments were lost at a place without a counter",
    );
    let reordered = info(|info| (info.retransmits, info.duplicates) = (1000, 960));
    expect(
        &reordered,
        Label::Path,
        "960 of 100,000 segments were retransmitted needlessly: they had arrived",
    );
    let evidence = limit(&reordered.0, &reordered.1).evidence;
    let share = "1,000 of 100,000 segments retransmitted, 960 of them (96.0 %) needlessly";
    assert!(evidence.iter().any(|what| what.to_string().contains(share)), "{evidence:#?}");
    expect(&info(|info| info.retransmits = 7), Label::Path, "neither end was busy");
    tcp.1.transmitter.whole.outcome.flows.clear();
    expect(&tcp, Label::Path, "neither end was busy");
}

#[test]
fn a_stream_that_flows_back_has_its_sender_at_the_receiver() {
    let mut case = quiet(Kind::TcpStream);
    let RunAccount { transmitter, receiver, .. } = &mut case.1;
    std::mem::swap(transmitter, receiver.as_mut().unwrap());
    case.0.traffic.direction = Direction::Reverse;
    works(receiver_of(&mut case), 990, 0, 1);
    expect(&case, Label::ReceiverCpu, "receiver's sending thread 99.0 % busy");
    case.0.traffic.direction = Direction::Both;
    let both = limit(&case.0, &case.1);
    assert!(
        both.evidence.iter().any(|what| what.to_string().starts_with("reverse: receiver's sending")),
        "{both:?}"
    );
    // The way forward waits for its CPU too, which is full of sending.
    assert_eq!(
        (both.label, both.evidence[0].to_string().as_str()),
        (Label::ReceiverCpu, "forward: limited by receiver CPU")
    );
}

#[test]
fn what_nobody_receives_is_limited_by_its_sender() {
    let mut case = quiet(Kind::Pps);
    case.1.receiver = None;
    works(&mut case.1.transmitter, 990, 0, 5);
    expect(&case, Label::TransmitterCpu, "transmitter's sending thread 99.0 % busy");
    case.0.traffic.pacing = Pacing::of_bits(810_000_000);
    expect(&case, Label::Pacing, "sent 800.0 Mbit/s of the requested 810.0 Mbit/s");
    case.0.traffic.pacing = None;
    works(&mut case.1.transmitter, 300, 0, 5);
    assert_eq!(limit(&case.0, &case.1).label, Label::Path);
    case.1.transmitter.window.load.sent.no_buffers = 7000;
    expect(&case, Label::Device, "the transmitter's queue rejected 7,000 datagrams");
}
