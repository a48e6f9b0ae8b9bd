//! Datagrams, one way: a turn makes one call of the sender, and then receives everything.

use std::io;
use std::os::fd::RawFd;

use words::{Reader, Sender, Traffic};

use super::work::{BoxedWork, RepeatableWork, Trouble, flags, is_early};
use crate::error::Result as Made;
use crate::lane::Calls;
use crate::sys::Destination;
use crate::workload::udp_stream::receive::{DatagramReader as Read, Merged, SingleReceive};
use crate::workload::udp_stream::send::{self, DatagramWriter, datagrams_in_buffer};

// Each combination of a sender and a reader is compiled separately, without branches on them.
pub(super) fn work<'e>(
    traffic: &Traffic,
    sockets: (RawFd, Option<RawFd>),
    to: Destination<'e>,
) -> BoxedWork<'e> {
    let message = traffic.message as usize;
    if traffic.sender == Sender::Sendmmsg {
        return received(traffic, sockets, send::Many::new(message, to));
    }
    let datagrams = datagrams_in_buffer(traffic.sender, message);
    received(traffic, sockets, send::SingleSend::new(message, datagrams, to))
}

fn received<'e>(
    traffic: &Traffic,
    ends: (RawFd, Option<RawFd>),
    writer: impl DatagramWriter + 'e,
) -> BoxedWork<'e> {
    let (source, sink) = ends;
    let (message, flags) = (traffic.message as usize, flags(traffic.reader));
    let each = datagrams_in_buffer(traffic.sender, message);
    let sending = Sending { source, writer, each };
    match (sink, traffic.reader) {
        (None, _) => Box::new(sending),
        (Some(sink), Reader::Gro) => {
            Box::new(Carrying { sending, sink, message, flags, reader: Merged::new() })
        }
        (Some(sink), _) => {
            Box::new(Carrying { sending, sink, message, flags, reader: SingleReceive::new(message) })
        }
    }
}

pub(super) fn single<'e>(
    [source, sink]: [RawFd; 2],
    message: usize,
    flags: libc::c_int,
) -> Carrying<send::SingleSend<'e>, SingleReceive> {
    let sending = Sending { source, writer: send::SingleSend::new(message, 1, Destination::NONE), each: 1 };
    Carrying { sending, sink, message, flags, reader: SingleReceive::new(message) }
}

struct Sending<W> {
    source: RawFd,
    writer: W,
    // The datagrams in each buffer.
    each: usize,
}

impl<W: DatagramWriter> RepeatableWork for Sending<W> {
    fn messages(&self) -> u32 {
        (W::BUFFERS * self.each) as u32
    }

    #[inline(always)]
    fn turn<C: Calls>(&mut self, calls: &mut C) -> Result<(), Trouble> {
        let wrote = calls.around(|| self.writer.write(self.source, W::BUFFERS));
        if wrote > 0 && (W::BUFFERS == 1 || wrote as usize == W::BUFFERS) {
            return Ok(());
        }
        Err((W::CALL.name, if wrote < 0 { io::Error::last_os_error() } else { odd() }))
    }
}

pub(super) struct Carrying<W, R> {
    sending: Sending<W>,
    sink: RawFd,
    message: usize,
    reader: R,
    flags: libc::c_int,
}

impl<W: DatagramWriter, R: Read> RepeatableWork for Carrying<W, R> {
    fn messages(&self) -> u32 {
        self.sending.messages()
    }

    #[inline(always)]
    fn turn<C: Calls>(&mut self, calls: &mut C) -> Result<(), Trouble> {
        self.sending.turn(calls)?;
        let (mut left, mut looks) = (u64::from(self.messages()), 0);
        while left > 0 {
            let got = calls.around(|| self.reader.receive(self.sink, self.flags));
            if got < 0 {
                if is_early(self.flags, &mut looks) {
                    continue;
                }
                return Err((R::CALL.name, io::Error::last_os_error()));
            }
            let mut whole = true;
            let came: Made<_> = self.reader.for_each_datagram(got as usize, |datagram| {
                whole &= datagram.len() == self.message;
                Ok(())
            });
            match came {
                Ok((messages, _)) if whole && messages > 0 && messages <= left => left -= messages,
                _ => return Err((R::CALL.name, odd())),
            }
        }
        Ok(())
    }
}

// The kernel has no error for a message that arrived with another size, or with others.
fn odd() -> io::Error {
    io::Error::from_raw_os_error(libc::EMSGSIZE)
}
