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

pub use counter::{Account, BatchSpread, CountSoftirqs, SoftirqError, SoftirqTime};
pub use ends::ReceivingEnd;
pub use work::{Borrower, Describe, LentWork, Worker};

use std::io;
use std::net::SocketAddr;
use std::os::fd::AsRawFd;

use socket2::Socket;
use words::{Kind, Sender, Traffic};

use crate::error::{Context, Error, Result};
use crate::socket::Applied;
use crate::spec::Spec;
use crate::sys::{self, Destination};
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
    borrower: Borrower<'_, M>,
) -> Result<(M, Vec<Applied>)> {
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
    borrower: Borrower<'_, M>,
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
        let to = Destination::new(ends.destination.as_ref());
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
mod tests;
