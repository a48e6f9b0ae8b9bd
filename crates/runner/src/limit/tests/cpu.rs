//! Ends whose threads or CPUs were busy.

use super::*;

#[test]
fn a_busy_sender_is_the_transmitters_cpu_or_the_generator() {
    for kind in [Kind::UdpStream, Kind::TcpStream, Kind::UdpRr, Kind::TcpRr, Kind::TcpCrr] {
        let mut case = quiet(kind);
        works(&mut case.1.transmitter, 987, 0, 2);
        if kind.is_rr() {
            assert_eq!(limit(&case.0, &case.1).label, Label::TransmitterCpu, "{kind}");
        } else {
            let words = "transmitter's sending thread 98.7 % busy, 2.0 % of it in user space";
            expect(&case, Label::TransmitterCpu, words);
        }
        works(&mut case.1.transmitter, 990, 0, 70);
        assert_eq!(limit(&case.0, &case.1).label, Label::Generator, "{kind}");
        // Something else on its CPU is its CPU, too.
        works(&mut case.1.transmitter, 480, 510, 2);
        let found = limit(&case.0, &case.1);
        assert_eq!(found.label, Label::TransmitterCpu, "{kind}");
        assert!(
            found.evidence.iter().any(|what| what.to_string().contains("without a CPU 51.0 %")),
            "{found:?}"
        );
    }
}

#[test]
fn a_busy_receiver_holds_tcp_back_and_udp_only_where_it_drops_nothing() {
    let mut tcp = quiet(Kind::TcpStream);
    works(receiver_of(&mut tcp), 400, 590, 1);
    expect(&tcp, Label::ReceiverCpu, "receiver's receiving thread 40.0 % busy");
    // Both are: who wanted more, or whose window was closed.
    works(&mut tcp.1.transmitter, 995, 0, 1);
    assert_eq!(limit(&tcp.0, &tcp.1).label, Label::TransmitterCpu);
    tcp.1.transmitter.whole.outcome.flows[0].tcp.as_mut().unwrap().receiver_limited_us = 400_000;
    assert_eq!(limit(&tcp.0, &tcp.1).label, Label::ReceiverCpu);

    let mut udp = quiet(Kind::UdpStream);
    works(receiver_of(&mut udp), 999, 0, 1);
    expect(&udp, Label::ReceiverCpu, "receiver's receiving thread 99.9 % busy");
}

#[test]
fn a_thread_that_waits_for_a_cpu_most_of_the_time_waits_for_nothing_else_as_long() {
    let mut case = quiet(Kind::TcpStream);
    works(&mut case.1.transmitter, 190, 660, 0);
    works(receiver_of(&mut case), 50, 420, 0);
    expect(&case, Label::TransmitterCpu, "ready but without a CPU 66.0 % of the time");
}

#[test]
fn a_wait_from_before_the_window_is_no_more_than_the_window() {
    let mut case = quiet(Kind::TcpStream);
    works(&mut case.1.transmitter, 100, 1_183, 0);
    expect(&case, Label::TransmitterCpu, "ready but without a CPU 90.0 % of the time");
}

#[test]
fn a_window_that_is_closed_while_the_receiver_waits_for_its_cpu_is_that_cpu() {
    let mut case = quiet(Kind::TcpStream);
    case.1.transmitter.whole.outcome.flows[0].tcp.as_mut().unwrap().receiver_limited_us = 615_000;
    works(&mut case.1.transmitter, 69, 0, 0);
    works(receiver_of(&mut case), 8, 404, 0);
    expect(&case, Label::ReceiverCpu, "ready but without a CPU 40.4 % of the time");
    works(receiver_of(&mut case), 8, 100, 0);
    expect(&case, Label::Path, "window was closed for 61.5 %");
}

#[test]
fn a_thread_that_polls_is_busy_by_order() {
    let mut case = quiet(Kind::UdpRr);
    case.0.traffic.reader = Reader::Spin;
    works(&mut case.1.transmitter, 999, 0, 30);
    works(receiver_of(&mut case), 999, 0, 30);
    expect(&case, Label::Path, "waiting for the round trip; an end that polls is always busy");
}

#[test]
fn polling_that_was_refused_is_sleep() {
    let mut case = quiet(Kind::UdpRr);
    case.0.traffic.busy_poll = Some(Duration::from_micros(50));
    works(receiver_of(&mut case), 999, 0, 30);
    assert_eq!(limit(&case.0, &case.1).label, Label::Path);
    // Words of a note decide nothing.
    receiver_of(&mut case).whole.outcome.notes.push(load::LoadNote::NothingToPoll);
    assert_eq!(limit(&case.0, &case.1).label, Label::Path);
    receiver_of(&mut case).whole.outcome.slept = true;
    assert_eq!(limit(&case.0, &case.1).label, Label::ReceiverCpu);
}

#[test]
fn software_interrupts_that_fill_a_cpu_are_that_cpu() {
    let mut case = quiet(Kind::TcpStream);
    let full =
        host::CpuTimes { softirq: 920_000_000, system: 70_000_000, idle: 10_000_000, ..Default::default() };
    receiver_of(&mut case).window.cpus = vec![3];
    (receiver_of(&mut case).window.cpu, receiver_of(&mut case).window.cpu_each) = (full, vec![full]);
    let found = limit(&case.0, &case.1);
    assert_eq!(found.label, Label::ReceiverCpu);
    assert!(
        found.evidence.iter().any(|what| what.to_string() == "receiver's CPU 3 92.0 % in interrupts"),
        "{found:?}"
    );
    // Full of other programs, with some interrupts, it is no sign of this traffic; full of this
    // program it is.
    let mixed =
        host::CpuTimes { user: 690_000_000, softirq: 300_000_000, idle: 10_000_000, ..Default::default() };
    (receiver_of(&mut case).window.cpu, receiver_of(&mut case).window.cpu_each) = (mixed, vec![mixed]);
    assert_eq!(limit(&case.0, &case.1).label, Label::Path);
    receiver_of(&mut case).window.own.user_ns = 650_000_000;
    let found = limit(&case.0, &case.1);
    let words = "receiver's CPU 3 99.0 % busy with this traffic, 30.0 % of its time in interrupts";
    assert!(
        found.label == Label::ReceiverCpu && found.evidence.iter().any(|what| what.to_string() == words),
        "{found:?}"
    );
    // In a window of a few ticks nothing can be said of a CPU.
    receiver_of(&mut case).window.elapsed_ns = 50_000_000;
    receiver_of(&mut case).window.threads.clear();
    assert_eq!(limit(&case.0, &case.1).label, Label::Path);
}
