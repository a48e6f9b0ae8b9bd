//! The work that a traffic's sender and reader make together.

use std::io;
use std::os::fd::{AsRawFd, RawFd};

use words::{Kind, Reader, Traffic};

use super::counter::{Counted, Counter};
use super::datagrams::{Carried, Give, Many, Offered, One, Room};
use super::ends::{Ends, flow};
use super::exchange::Exchanged;
use super::stream;
use super::turn::calls;
use super::work::Trouble;
use crate::error::Result;
use crate::workload::udp_stream::batch::{Arrivals, shape};
use crate::workload::udp_stream::gro::Merged;

/// Has the work of this traffic counted. Each combination of a sender and a reader is compiled for
/// itself: what is counted decides nothing.
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
