//! What is done again and again, put together from the traffic's sender and reader.

use std::io;
use std::os::fd::{AsRawFd, RawFd};
use words::{Kind, Reader, Traffic};

use crate::error::Result;
use crate::udp_stream::batch::{Arrivals, shape};
use crate::udp_stream::gro::Merged;

use super::calls::Calls;
use super::counter::{Counted, Counter};
use super::datagrams::{Carried, Give, Many, Offered, One, Room};
use super::ends::{Ends, flow};
use super::exchange::Exchanged;
use super::stream;

/// The call that failed, and what the kernel said.
pub(super) type Trouble = (&'static str, io::Error);

/// Work that leaves everything as it was, so that it can be done any number of times.
pub(super) trait Work {
    /// How many messages, or transactions, one turn is.
    fn messages(&self) -> u32;

    /// Does it once.
    fn turn<C: Calls>(&mut self, calls: &mut C) -> std::result::Result<(), Trouble>;
}

/// Has the work of this traffic counted. Each combination of a sender and a reader is compiled for itself: what is counted decides
/// nothing.
pub(super) fn count(traffic: &Traffic, ends: &Ends, counter: Counter<'_>) -> Result<Counted> {
    let (source, sink) = (ends.source.as_raw_fd(), ends.sink.as_ref().map(AsRawFd::as_raw_fd));
    let counted = match (traffic.kind, sink) {
        (Kind::UdpStream | Kind::Pps, _) => given(traffic, ends, source, sink, counter),
        (_, None) => Err(("connect", io::ErrorKind::NotConnected.into())),
        (Kind::TcpStream, Some(sink)) => stream::count(traffic, (source, sink), counter)?,
        (_, Some(sink)) => counter.count(Exchanged::new(traffic, source, sink)),
    };
    counted.map_err(|(call, error)| flow(call, ends.peer, &error))
}

fn given(
    traffic: &Traffic,
    ends: &Ends,
    source: RawFd,
    sink: Option<RawFd>,
    counter: Counter<'_>,
) -> std::result::Result<Counted, Trouble> {
    let (message, to) = (traffic.message as usize, ends.destination.target());
    match shape(traffic.sender, message) {
        (1, datagrams) => taken(traffic, source, sink, One::new(message, datagrams, to), counter),
        shape => taken(traffic, source, sink, Many::new(message, shape, to), counter),
    }
}

fn taken(
    traffic: &Traffic,
    source: RawFd,
    sink: Option<RawFd>,
    give: impl Give,
    counter: Counter<'_>,
) -> std::result::Result<Counted, Trouble> {
    let Some(sink) = sink else { return counter.count(Offered { source, give }) };
    let (message, calls) = (traffic.message as usize, calls(traffic));
    match traffic.reader {
        Reader::Recvmmsg => {
            counter.count(Carried { source, sink, message, calls, give, take: Arrivals::new(message) })
        }
        Reader::Gro => counter.count(Carried { source, sink, message, calls, give, take: Merged::new() }),
        reader => {
            counter.count(Carried { source, sink, message, calls, give, take: Room::new(message, reader) })
        }
    }
}

/// How many calls of the sender a turn begins with: as many as give the reader enough for one of its own.
fn calls(traffic: &Traffic) -> usize {
    let (parcels, each) = shape(traffic.sender, traffic.message as usize);
    let one = match traffic.reader {
        Reader::Recvmmsg => Arrivals::capacity(traffic.message as usize),
        // What one call brings is decided by who put the datagrams together, before.
        _ => 1,
    };
    one.div_ceil(parcels * each)
}

/// How many datagrams are on their way at once.
pub(super) fn on_the_way(traffic: &Traffic) -> u64 {
    let (parcels, each) = shape(traffic.sender, traffic.message as usize);
    (calls(traffic) * parcels * each) as u64
}

/// Whether a call did all that was wanted.
#[inline(always)]
pub(super) fn whole(call: &'static str, done: isize, wanted: usize) -> std::result::Result<(), Trouble> {
    if done == wanted as isize {
        return Ok(());
    }
    Err((
        call,
        if done < 0 { io::Error::last_os_error() } else { io::Error::from_raw_os_error(libc::EMSGSIZE) },
    ))
}
