use std::sync::atomic::{AtomicU8, Ordering};

use super::*;
use counter::{MOST, batches_of};
use words::{Reader, Sender};

/// An address that no other test has, in any process: the ports are constant.
fn local() -> std::net::IpAddr {
    static NEXT: AtomicU8 = AtomicU8::new(1);
    let [.., high, low] = std::process::id().to_be_bytes();
    [127, high, low, NEXT.fetch_add(1, Ordering::Relaxed)].into()
}

fn spec(traffic: Traffic) -> Spec {
    Spec { traffic, local: local(), cpus: Vec::new(), interface: None }
}

fn ran(traffic: Traffic) -> Account {
    let spec = spec(traffic);
    let receiver = ReceivingEnd::open(&spec).unwrap();
    run(&spec, Some(receiver), None, &mut || {}, &mut || Err(SoftirqError("nobody counts".to_owned())))
        .unwrap_or_else(|error| panic!("{error}: {:?}", spec.traffic))
}

#[test]
fn every_kind_is_counted_and_divides_into_user_and_kernel() {
    for kind in [Kind::UdpStream, Kind::TcpStream, Kind::UdpRr, Kind::TcpRr] {
        let account = ran(Traffic::new(kind));
        assert_eq!(account.batches, batches_of(connections(kind)));
        assert_eq!(account.batches, if kind.is_udp() { 201 } else { 67 });
        assert!(account.messages.is_power_of_two() && account.messages <= MOST, "{account:?}");
        let (whole, kernel) = (account.whole, account.kernel);
        assert!(whole.least <= whole.low && whole.low <= whole.median, "{kind}: {whole:?}");
        assert!(whole.median <= whole.high && whole.high <= whole.most, "{kind}: {whole:?}");
        assert!(whole.median > 0.0 && kernel.median > 0.0, "{kind}: {account:?}");
        // A busy machine delays a datagram, and its reader calls once more.
        assert!(account.calls >= if kind.is_rr() { 4.0 } else { 2.0 }, "{account:?}");
        assert_eq!((account.softirq, account.softirq_absent.as_deref()), (None, Some("nobody counts")));
    }
}

/// Calls for a datagram: those of the sender, and those that the reader needs for all. Loopback
/// merges nothing: a buffer stays one.
#[test]
#[ignore = "counts system calls: needs a quiet machine"]
fn datagrams_are_sent_and_taken_many_at_a_time() {
    const MANY: f64 = 1.0 / 64.0;
    for (kind, calls) in [(Kind::UdpStream, 2.0), (Kind::UdpRr, 4.0), (Kind::TcpRr, 4.0)] {
        assert_eq!(ran(Traffic::new(kind)).calls, calls, "{kind}");
    }
    for (sender, reader, calls) in [
        (Sender::Sendmmsg, Reader::Recv, MANY + 1.0),
        (Sender::Gso, Reader::Spin, MANY + 1.0),
        (Sender::Send, Reader::Gro, 2.0),
        (Sender::Gso, Reader::Gro, 2.0 * MANY),
    ] {
        let account = ran(Traffic { sender, reader, message: 1000, ..Traffic::new(Kind::UdpStream) });
        assert_eq!(account.calls, calls, "{sender} to {reader}: {account:?}");
    }
}

/// One datagram to a call is two calls, one of either end.
#[test]
fn many_datagrams_to_a_call_are_fewer_calls() {
    let calls = |sender, reader| {
        ran(Traffic { sender, reader, message: 1000, ..Traffic::new(Kind::UdpStream) }).calls
    };
    assert!(calls(Sender::Sendmmsg, Reader::Recv) < 2.0);
    assert!(calls(Sender::Gso, Reader::Gro) < 1.0);
}

#[test]
fn other_ways_over_a_connection_and_sockets_without_one_are_counted() {
    for (sender, reader, message) in
        [(Sender::Send, Reader::Spin, 16_384), (Sender::Sendfile, Reader::Trunc, 5 << 20)]
    {
        ran(Traffic { sender, reader, message, ..Traffic::new(Kind::TcpStream) });
    }
    for kind in [Kind::TcpRr, Kind::UdpRr] {
        ran(Traffic { reader: Reader::Spin, ..Traffic::new(kind) });
    }
    for sender in [Sender::Send, Sender::Sendmmsg, Sender::Gso] {
        ran(Traffic { sender, connected: false, message: 1000, ..Traffic::new(Kind::UdpStream) });
    }
}

#[test]
fn messages_beyond_every_buffer_go_through() {
    ran(Traffic { message: 5 << 20, ..Traffic::new(Kind::TcpStream) });
    ran(Traffic { message: 1 << 20, response: 1, socket_buffer: Some(65_536), ..Traffic::new(Kind::TcpRr) });
    ran(Traffic { message: 65_507, ..Traffic::new(Kind::UdpStream) });
}

#[test]
fn packets_without_a_receiver_are_counted() {
    for sender in [Sender::Send, Sender::Sendmmsg, Sender::Gso] {
        let traffic = Traffic { sender, ..Traffic::new(Kind::Pps) };
        let spec = spec(traffic);
        let sink = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let nobody = Some(sink.local_addr().unwrap());
        let account =
            run(&spec, None, nobody, &mut || {}, &mut || Err(SoftirqError("nobody counts".to_owned())))
                .unwrap();
        let calls = if sender == Sender::Send { 1.0 } else { 1.0 / 64.0 };
        assert!(account.whole.median > 0.0 && account.calls == calls, "{sender}: {account:?}");
    }
}

fn described() -> io::Result<Worker> {
    Ok(Worker { thread: nix::unistd::gettid().as_raw().unsigned_abs(), initial: 0 })
}

#[test]
fn a_reader_that_sleeps_has_a_thread_of_its_own_which_ends_with_the_work() {
    for (kind, message, response) in
        [(Kind::UdpRr, 1, 1), (Kind::TcpRr, 1, 1), (Kind::TcpRr, 200_000, 7), (Kind::UdpRr, 1400, 9)]
    {
        let traffic = Traffic { message, response, ..Traffic::new(kind) };
        let spec = spec(traffic);
        let receiver = ReceivingEnd::open(&spec).unwrap();
        let path = |thread: u32| format!("/proc/self/task/{thread}");
        let (threads, _) = lend(&spec, Some(receiver), None, true, described, &mut |work| {
            assert!(work.repeat(100).unwrap() > 0);
            let threads: Vec<u32> = work.workers().iter().map(|worker| worker.thread).collect();
            assert!(threads.iter().all(|thread| std::path::Path::new(&path(*thread)).exists()));
            threads
        })
        .unwrap();
        let [own, other] = threads[..] else { panic!("{threads:?}") };
        assert_eq!(own, described().unwrap().thread);
        assert!(!std::path::Path::new(&path(other)).exists(), "the thread is still there");
    }
    let spec = spec(Traffic::new(Kind::UdpStream));
    let receiver = ReceivingEnd::open(&spec).unwrap();
    let refused = lend(&spec, Some(receiver), None, true, described, &mut |_| ()).unwrap_err().to_string();
    assert!(refused.contains("a reader sleeps only where messages are answered"), "{refused}");
}

/// An account in which each batch has a millisecond of soft interrupts, and what of that falls
/// on a message.
fn interrupted() -> (Account, f64) {
    let spec = spec(Traffic::new(Kind::UdpStream));
    let receiver = ReceivingEnd::open(&spec).unwrap();
    // Adds a millisecond at each call, far more than a batch takes.
    let mut told = 0u64;
    let time = move || {
        told += 1_000_000;
        Ok(told)
    };
    let count = &mut || Ok(Box::new(time) as SoftirqTime);
    let account = run(&spec, Some(receiver), None, &mut || {}, count).unwrap();
    let told = 1e6 / f64::from(account.messages);
    (account, told)
}

#[test]
fn soft_interrupts_are_counted_for_a_message() {
    let (account, _) = interrupted();
    let softirq = account.softirq.unwrap();
    assert!(softirq.median > 0.0 && softirq.least == softirq.most, "{account:?}");
}

#[test]
#[ignore = "compares times: needs a quiet machine"]
fn soft_interrupts_of_a_message_are_those_that_were_told() {
    let (account, told) = interrupted();
    // Half of the extra time of this pass does not count: noise, here.
    assert!((account.softirq.unwrap().median - told).abs() < account.whole.median, "{account:?}");
}
