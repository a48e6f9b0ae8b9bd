//! Counts fixed work: the same few messages again and again, by one thread with both ends' sockets.
//!
//! It is made for a machine whose clock counts instructions (an emulated guest with one CPU): there
//! nothing runs in parallel, nothing waits, and the cost of a message is a whole number that any
//! machine reproduces. Elsewhere it gives noisy nanoseconds.
//!
//! The clock is read between batches, short enough that most see no timer tick; the median batch
//! counts. A second pass reads the clock around every system call: that time, less the cost of
//! reading, is the kernel's share. A third one counts the time in soft interrupts; half of its
//! extra time is subtracted.

mod counter;
mod datagrams;
mod ends;
mod exchange;
pub(crate) mod memory;
mod stream;
mod work;

pub use counter::{Account, CountSoftirqs, SoftirqTime, Spread};
pub use ends::ReceivingEnd;
pub use work::{Describe, LentWork, Worker};

use std::io;
use std::net::SocketAddr;
use std::os::fd::AsRawFd;

use socket2::Socket;
use words::{Kind, Sender, Traffic};

use crate::error::{Context, Error, Result};
use crate::socket::Applied;
use crate::spec::Spec;
use crate::sys::{self, Target};
use crate::workload::tcp_stream::send::{Copied, FromFile};

use self::ends::Ends;
use self::exchange::{MessageEnd, SleepingReader};
use self::stream::Streamed;
use self::work::BoxedWork;

const BEAT_NS: u64 = 1_000_000_000;

/// Waits for the next second of the clock: from here on timer ticks have the same distance.
pub fn await_beat() {
    sys::sharpen_timers();
    sys::sleep_until((sys::now() / BEAT_NS + 1) * BEAT_NS);
}

/// The connections of a workload that are counted, each by a thread of its own. A few take more for
/// all their messages: two of 130 took 0.04 % more instructions (`tcp_rr`, Linux 6.1).
pub fn connections(kind: Kind) -> u32 {
    if kind.is_udp() { 1 } else { 3 }
}

/// Counts the workload's messages over one connection, all by the calling thread. `receiver` is the
/// socket of the other end; without one the messages go to `nobody` (an address behind an interface
/// that discards them). `settled` is called when the kernel has resolved the address of the peer.
///
/// # Errors
/// A workload that needs more than one thread ([`crate::Traffic::validate_exact`]), a socket that
/// cannot be opened, a message that does not arrive within seconds.
pub fn run(
    spec: &Spec,
    receiver: Option<ReceivingEnd>,
    nobody: Option<SocketAddr>,
    settled: &mut dyn FnMut(),
    softirqs: CountSoftirqs<'_>,
) -> Result<Account> {
    spec.traffic.validate_exact()?;
    let ends = Ends::connect(spec, receiver, nobody)?;
    let mut work = work_between(&spec.traffic, &ends)?;
    let account = counter::count(&mut *work, &spec.traffic, settled, softirqs);
    let account = account.map_err(|(call, error)| ends::flow(call, ends.peer, &error))?;
    Ok(Account { applied: ends.applied.clone(), ..account })
}

/// Lends the same work to a borrower, who repeats it as often as he likes. Returns his result, and
/// the options of the sockets. `asleep`: requests and answers only; the answering end has a thread,
/// and either reader sleeps until a packet wakes it.
///
/// # Errors
/// As [`run`]; `asleep` with messages that are not answered.
pub fn lend<M>(
    spec: &Spec,
    receiver: Option<ReceivingEnd>,
    nobody: Option<SocketAddr>,
    asleep: bool,
    describe: Describe,
    borrower: &mut dyn FnMut(&mut LentWork<'_>) -> M,
) -> Result<(M, Vec<Applied>)> {
    spec.traffic.validate_exact()?;
    let ends = Ends::connect(spec, receiver, nobody)?;
    let failed = |(call, error): work::Trouble| ends::flow(call, ends.peer, &error);
    let (work, other): (BoxedWork<'_>, _) = match &ends.sink {
        _ if !asleep => (work_between(&spec.traffic, &ends)?, None),
        Some(sink) if spec.traffic.kind.is_rr() => {
            let sockets = [ends.source.as_raw_fd(), sink.as_raw_fd()];
            let apart = SleepingReader::new(&spec.traffic, sockets, describe).map_err(failed)?;
            let other = apart.worker;
            (Box::new(apart), Some(other))
        }
        _ => {
            let why = "a reader sleeps only where messages are answered";
            return Err(Error::mismatch("workload", spec.traffic.kind, why));
        }
    };
    let mut lent = LentWork::new(work, describe, other).map_err(|error| failed(("bpf", error)))?;
    Ok((borrower(&mut lent), ends.applied.clone()))
}

/// `asleep`: reads sleep until a packet wakes them; if not, they never sleep.
pub(crate) fn lend_asking<M>(
    traffic: &Traffic,
    (socket, peer): (&Socket, SocketAddr),
    asleep: bool,
    describe: Describe,
    borrower: &mut dyn FnMut(&mut LentWork<'_>) -> M,
) -> Result<M> {
    if let Some(misfit) = traffic.apart_misfits().into_iter().next() {
        return Err(misfit.into());
    }
    let bytes = [traffic.message as usize, traffic.response as usize];
    let flags = if asleep { work::flags(traffic.reader) } else { libc::MSG_DONTWAIT };
    // A lost datagram is not sent again here, so a slow answer must not be taken for a lost one.
    socket.set_read_timeout(Some(ends::LOST)).or_setup("setsockopt SO_RCVTIMEO", "the asking end")?;
    let asking = MessageEnd::new(socket.as_raw_fd(), !traffic.kind.is_udp(), bytes, flags);
    let lent = LentWork::new(Box::new(asking), describe, None);
    Ok(borrower(&mut lent.map_err(|error| ends::flow("bpf", peer, &error))?))
}

fn work_between<'e>(traffic: &Traffic, ends: &'e Ends) -> Result<BoxedWork<'e>> {
    let (source, sink) = (ends.source.as_raw_fd(), ends.sink.as_ref().map(AsRawFd::as_raw_fd));
    if matches!(traffic.kind, Kind::UdpStream | Kind::Pps) {
        let to = Target::new(ends.destination.as_ref());
        return Ok(datagrams::work(traffic, (source, sink), to));
    }
    let sink = sink.ok_or_else(|| ends::flow("connect", ends.peer, &io::ErrorKind::NotConnected.into()))?;
    let flags = work::flags(traffic.reader);
    let bytes = [traffic.message as usize, traffic.response as usize];
    let ways = [[source, sink], [sink, source]];
    let streamed = |way: usize| {
        let message = Copied::new(&ends.pattern.as_ref()[..bytes[way]], 0, libc::MSG_DONTWAIT);
        Streamed::new(ways[way], message, bytes[way], flags)
    };
    Ok(match (traffic.kind, traffic.sender) {
        (Kind::TcpStream, Sender::Sendfile) => {
            Box::new(Streamed::new(ways[0], FromFile::new(bytes[0], 0, 0)?, bytes[0], flags))
        }
        (Kind::TcpStream, _) => Box::new(streamed(0)),
        (Kind::TcpRr, _) => Box::new([0, 1].map(streamed)),
        _ => Box::new([0, 1].map(|way| datagrams::single(ways[way], bytes[way], flags))),
    })
}

#[cfg(test)]
mod tests {
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
        run(&spec, Some(receiver), None, &mut || {}, &mut || Err("nobody counts".to_owned()))
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
        ran(Traffic {
            message: 1 << 20,
            response: 1,
            socket_buffer: Some(65_536),
            ..Traffic::new(Kind::TcpRr)
        });
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
                run(&spec, None, nobody, &mut || {}, &mut || Err("nobody counts".to_owned())).unwrap();
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
        let refused =
            lend(&spec, Some(receiver), None, true, described, &mut |_| ()).unwrap_err().to_string();
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
}
