//! Probes on the running kernel: its tracepoints.

use std::net::UdpSocket;

use super::*;
use crate::probe_counts::Journeys;

fn probe(number: u8, name: &str) -> Probe {
    let place =
        ProbePoint { kind: PointKind::Tracepoint, name: name.to_owned(), arguments: None, packet: None };
    Probe { number, place, at: At::Entry, phase: JourneyPhase::Out }
}

fn capable() -> bool {
    crate::ProbeLadder::read().obstacle().is_none()
}

fn thread() -> u32 {
    host::bpf::current_thread().unwrap()
}

/// Tracepoints in which nothing preempts a program: the kernel runs each for every packet.
/// (`sys_enter` and `sys_exit` are not such: a program that is preempted is left out for
/// others.)
#[test]
fn each_datagram_of_a_followed_thread_is_counted_once_and_no_other() {
    assert!(capable(), "root may load raw tracepoints here");
    let names = ["net_dev_queue", "net_dev_start_xmit", "net_dev_xmit"];
    let probes: Vec<Probe> = names.iter().zip(0..).map(|(name, number)| probe(number, name)).collect();
    let (tracer, means) = KernelPrograms::running().unwrap().attach(&probes, 0, 0, false).unwrap();
    assert_eq!(means, vec![Ok(Attachment::Tracepoint); names.len()]);
    tracer.follow(thread()).unwrap();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let here = socket.local_addr().unwrap();
    let send = move |socket: &UdpSocket| {
        for _ in 0..100 {
            socket.send_to(&[0; 100], here).unwrap();
        }
    };
    send(&socket);
    let other = std::thread::spawn(move || send(&UdpSocket::bind("127.0.0.1:0").unwrap()));
    other.join().unwrap();
    let reading = tracer.read().unwrap();
    // What others send meanwhile, in a soft interrupt of this thread, is theirs.
    let journeys = Journeys { inside: 0, ..reading.journeys };
    assert_eq!(journeys, Journeys { arrived: 100, ..Journeys::default() });
    let way = &reading.ways[0];
    assert_eq!((reading.ways.len(), way.whole.count, way.segments.len()), (1, 100, 2));
    let parts: u64 = way.segments.iter().map(|segment| segment.sum).sum();
    assert_eq!(parts, way.whole.sum, "the parts are the whole");
    drop(tracer);
}

#[test]
fn programs_that_restart_count_from_zero() {
    let names = ["net_dev_queue", "net_dev_start_xmit", "net_dev_xmit"];
    let probes: Vec<Probe> = names.iter().zip(0..).map(|(name, number)| probe(number, name)).collect();
    let (mut tracer, _) = KernelPrograms::running().unwrap().attach(&probes, 0, 0, false).unwrap();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    for count in [5, 3] {
        tracer.attach(&probes).unwrap();
        tracer.restart().unwrap();
        tracer.follow(thread()).unwrap();
        for _ in 0..count {
            socket.send_to(&[0; 100], socket.local_addr().unwrap()).unwrap();
        }
        let reading = tracer.read().unwrap();
        let [way] = reading.ways.as_slice() else { panic!("{reading:?}") };
        assert_eq!((reading.journeys.arrived, way.whole.count, way.segments[1].count), (count, count, count));
        tracer.detach();
        socket.send_to(&[0; 100], socket.local_addr().unwrap()).unwrap();
        assert_eq!(tracer.read().unwrap(), reading, "what is detached counts nothing");
    }
}

#[test]
fn one_packet_in_so_many_is_sampled_with_its_stamps() {
    let names = ["net_dev_queue", "net_dev_start_xmit", "net_dev_xmit"];
    let probes: Vec<Probe> = names.iter().zip(0..).map(|(name, number)| probe(number, name)).collect();
    let (mut tracer, _) = KernelPrograms::running().unwrap().attach(&probes, 0, 4, false).unwrap();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let send = |tracer: &mut Tracer, count: u64| {
        tracer.follow(thread()).unwrap();
        for _ in 0..count {
            socket.send_to(&[0; 100], socket.local_addr().unwrap()).unwrap();
        }
        let (reading, sampled) = (tracer.read().unwrap(), tracer.sampled().unwrap());
        assert_eq!(reading.journeys.arrived, count, "{:?}", reading.journeys);
        sampled
    };
    // One CPU may have the first packets, another the others; the ring is read once a batch.
    let some = send(&mut tracer, 100);
    assert!((24..=26).contains(&some.packets.len()) && some.missed == 0, "{some:?}");
    let mut before = 0;
    for packet in &some.packets {
        let points: Vec<u8> = packet.stamps.iter().map(|stamp| stamp.point).collect();
        assert_eq!(points, [0, 1, 2]);
        assert!(packet.stamps.is_sorted_by_key(|stamp| stamp.at), "{packet:?}");
        assert!(packet.stamps[0].at > before, "{some:?}");
        before = packet.stamps[2].at;
    }
    tracer.attach(&probes).unwrap();
    tracer.restart().unwrap();
    let more = send(&mut tracer, 4000);
    let (kept, missed) = (more.packets.len() as u64, more.missed);
    assert!((479..=482).contains(&kept) && (998..=1002).contains(&(kept + missed)), "{kept} {missed}");
}

#[test]
fn places_are_tried_without_a_journey() {
    let probes = [probe(0, "net_dev_queue"), probe(1, "qdisc_dequeue")];
    let (tracer, _) = KernelPrograms::running().unwrap().attach(&probes, 0, 0, true).unwrap();
    tracer.follow(thread()).unwrap();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.send_to(&[0; 100], socket.local_addr().unwrap()).unwrap();
    let reading = tracer.read().unwrap();
    // Loopback has no queue.
    assert_eq!(reading.hits[..2], [1, 0]);
    assert_eq!((reading.journeys, reading.ways.len()), (Journeys::default(), 0));
}

/// The verifier follows a program's branches up to a million instructions.
#[test]
fn the_longest_paths_are_accepted_by_the_verifier() {
    let phase = |number: u8| match number {
        0..3 => JourneyPhase::Leading,
        3..30 => JourneyPhase::Arriving,
        _ => JourneyPhase::Reading,
    };
    let all = 0..POINTS as u8;
    let mut comes_in: Vec<Probe> = all.clone().map(|number| probe(number, "net_dev_queue")).collect();
    for probe in &mut comes_in {
        probe.phase = phase(probe.number);
        probe.place.packet = Some(Packet::Argument(0)).filter(|_| probe.phase != JourneyPhase::Leading);
    }
    let goes_out: Vec<Probe> = all.map(|number| probe(number, "net_dev_queue")).collect();
    for (probes, every) in [(&goes_out, 0), (&goes_out, 1000), (&comes_in, 0), (&comes_in, 1000)] {
        let (_, means) = KernelPrograms::running().unwrap().attach(probes, 0, every, false).unwrap();
        assert_eq!(means, vec![Ok(Attachment::Tracepoint); POINTS]);
    }
}

#[test]
fn a_tracepoint_that_no_kernel_has_is_told_and_the_others_stay() {
    let probes = [probe(0, "net_dev_queue"), probe(1, "no_such_tracepoint")];
    let (_, means) = KernelPrograms::running().unwrap().attach(&probes, 0, 0, false).unwrap();
    assert_eq!(means[0], Ok(Attachment::Tracepoint));
    assert!(means[1].as_ref().unwrap_err().to_string().contains("No such file"), "{means:?}");
}

/// Descriptors of programs, maps and what they are attached to, of this process.
fn held() -> usize {
    let open =
        std::fs::read_dir("/proc/self/fd").unwrap().filter_map(|entry| entry.ok()?.path().read_link().ok());
    open.filter(|link| link.to_string_lossy().contains("bpf")).count()
}

#[test]
fn a_full_table_of_threads_is_told_and_nothing_stays_attached() {
    let probes = [probe(0, "net_dev_queue"), probe(1, "net_dev_xmit")];
    let (tracer, _) = KernelPrograms::running().unwrap().attach(&probes, 0, 0, false).unwrap();
    tracer.follow(thread()).unwrap();
    // Numbers that no thread has: the kernel's own begin at 1.
    let others = (1..=MOST_THREADS).map(|number| tracer.follow(u32::MAX - number));
    let refused: Vec<String> = others.filter_map(Result::err).map(|error| error.to_string()).collect();
    assert_eq!(
        refused,
        ["a trace follows at most 64 threads, and there are more: trace less traffic at a time"]
    );
    // The thread that was followed before still is.
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.send_to(&[0; 100], socket.local_addr().unwrap()).unwrap();
    assert_eq!(tracer.read().unwrap().journeys.arrived, 1);
    drop(tracer);
    // Each test is a process of its own under nextest.
    if std::env::var_os("NEXTEST").is_some() {
        assert_eq!(held(), 0, "something is still attached");
    }
}

/// The way in, by tracepoints: a soft interrupt, the packet, its reader.
fn way_in() -> Vec<Probe> {
    let point = |number: u8, name: &str, phase: JourneyPhase, has_packet: bool| {
        let mut probe = Probe { phase, ..probe(number, name) };
        probe.place.packet = has_packet.then_some(Packet::Argument(0));
        if name == "sys_exit" {
            probe.at = At::Return;
        }
        probe
    };
    vec![
        point(0, "softirq_entry", JourneyPhase::Leading, false),
        point(1, "netif_receive_skb", JourneyPhase::Arriving, true),
        point(2, "sys_enter", JourneyPhase::Reading, false),
        point(3, "skb_copy_datagram_iovec", JourneyPhase::Reading, true),
        point(4, "sys_exit", JourneyPhase::Reading, false),
    ]
}

/// A socket's buffer that is full: the kernel drops what comes then.
#[test]
fn a_datagram_that_the_kernel_drops_on_its_way_in_is_counted_and_never_arrives() {
    const RECVFROM: u64 = 45;
    const SENT: u64 = 100;
    /// A datagram in several pieces of memory: the kernel copies it where a tracepoint is.
    const SIZE: usize = 20_000;
    let (mut tracer, means) =
        KernelPrograms::running().unwrap().attach(&way_in(), RECVFROM, 0, false).unwrap();
    assert!(means.iter().all(Result::is_ok), "{means:?}");
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_nonblocking(true).unwrap();
    let here = socket.local_addr().unwrap();
    tracer.follow(thread()).unwrap();
    for _ in 0..SENT {
        socket.send_to(&[0; SIZE], here).unwrap();
    }
    let mut read = 0;
    while socket.recv_from(&mut [0; SIZE]).is_ok() {
        read += 1;
    }
    let reading = tracer.read().unwrap();
    tracer.detach();
    assert!(read > 0 && read < SENT, "the buffer takes all: {read}");
    let Journeys { arrived, stray, unread, .. } = reading.journeys;
    // A program that is interrupted is left out for others, and two packets may have one place.
    assert!(arrived > 0 && arrived <= read && arrived + stray >= read * 9 / 10, "{read}: {reading:?}");
    assert!(unread >= SENT - read, "{read} of {SENT} were read: {:?}", reading.journeys);
    let followed: u64 = reading.ways.iter().map(|way| way.whole.count).sum();
    assert_eq!(followed, arrived, "what was dropped is in no way");
}
