//! A request and its answer: in one thread, or with a thread for each end.

use std::io;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;

use words::Traffic;

use super::ends::LOST;
use super::work::{Describe, RepeatableWork, Trouble, Worker, expect_whole, is_early};
use crate::lane::Calls;
use crate::message::Buffer;
use crate::sys;

impl<W: RepeatableWork> RepeatableWork for [W; 2] {
    #[inline(always)]
    fn turn<C: Calls>(&mut self, calls: &mut C) -> Result<(), Trouble> {
        let [request, answer] = self;
        request.turn(calls)?;
        answer.turn(calls)
    }
}

pub(crate) struct MessageEnd {
    socket: RawFd,
    stream: bool,
    sends: Buffer,
    takes: usize,
    room: Buffer,
    flags: libc::c_int,
}

impl MessageEnd {
    /// `bytes`: those of the message that it sends, and of the one that it takes.
    pub(crate) fn new(socket: RawFd, stream: bool, bytes: [usize; 2], flags: libc::c_int) -> Self {
        let [sends, takes] = bytes;
        // One byte more than a message, to detect a larger one.
        let (sends, room) = (Buffer::pattern(sends), Buffer::room(takes + 1));
        Self { socket, stream, sends, takes, room, flags }
    }

    #[inline(always)]
    pub(super) fn send<C: Calls>(&self, calls: &mut C) -> Result<(), Trouble> {
        let message = self.sends.as_ref();
        expect_whole("send", calls.around(|| sys::send_flags(self.socket, message, 0)), message.len())
    }

    #[inline(always)]
    pub(super) fn receive<C: Calls>(&mut self, calls: &mut C) -> Result<(), Trouble> {
        let (socket, flags, room) = (self.socket, self.flags, self.room.as_mut());
        let (mut got, mut looks) = (0, 0);
        while got < self.takes {
            match calls.around(|| sys::receive(socket, room, flags)) {
                part if part > 0 && self.stream => got += part as usize,
                part if part > 0 => return expect_whole("recv", part, self.takes),
                0 => return Err(("recv", io::ErrorKind::UnexpectedEof.into())),
                _ if is_early(flags, &mut looks) => {}
                _ => return Err(("recv", io::Error::last_os_error())),
            }
        }
        expect_whole("recv", got as isize, self.takes)
    }
}

impl RepeatableWork for MessageEnd {
    #[inline(always)]
    fn turn<C: Calls>(&mut self, calls: &mut C) -> Result<(), Trouble> {
        // As work it asks, and another machine answers: only there an answer can be lost.
        self.send(calls)?;
        self.receive(calls).map_err(late)
    }
}

#[cold]
fn late((call, error): Trouble) -> Trouble {
    if error.kind() != io::ErrorKind::WouldBlock {
        return (call, error);
    }
    let seconds = LOST.as_secs();
    let why =
        format!("no answer came within {seconds} s: it is lost, or the other machine is stuck; try again");
    (call, io::Error::new(io::ErrorKind::TimedOut, why))
}

pub(super) struct SleepingReader {
    near: MessageEnd,
    far: Option<JoinHandle<()>>,
    pub(super) worker: Worker,
    over: Arc<AtomicBool>,
    sink: RawFd,
}

impl SleepingReader {
    pub(super) fn new(
        traffic: &Traffic,
        [source, sink]: [RawFd; 2],
        describe: Describe,
    ) -> Result<Self, Trouble> {
        let (stream, request, response) =
            (!traffic.kind.is_udp(), traffic.message as usize, traffic.response as usize);
        let near = MessageEnd::new(source, stream, [request, response], 0);
        let over = Arc::new(AtomicBool::new(false));
        let (told, worker) = mpsc::channel();
        let ends = Arc::clone(&over);
        let answer = move || {
            // It describes the calling thread, so this one must call it.
            let described = describe();
            let is_known = described.is_ok();
            if told.send(described).is_err() || !is_known {
                return;
            }
            let mut far = MessageEnd::new(sink, stream, [response, request], 0);
            while !ends.load(Ordering::Acquire) {
                match far.receive(&mut ()).and_then(|()| far.send(&mut ())) {
                    Ok(()) => {}
                    // Between two batches nobody asks for longer than a socket waits.
                    Err((_, error)) if error.kind() == io::ErrorKind::WouldBlock => {}
                    // The requesting end meets this trouble too, and tells it.
                    Err(_) => return,
                }
            }
        };
        let thread = std::thread::Builder::new().name("answers".to_owned());
        let far = thread.spawn(answer).map_err(|error| ("clone", error))?;
        let worker = worker.recv().unwrap_or_else(|_| Err(io::ErrorKind::BrokenPipe.into()));
        Ok(Self { near, far: Some(far), worker: worker.map_err(|error| ("bpf", error))?, over, sink })
    }
}

impl RepeatableWork for SleepingReader {
    #[inline(always)]
    fn turn<C: Calls>(&mut self, calls: &mut C) -> Result<(), Trouble> {
        self.near.send(calls)?;
        self.near.receive(calls)
    }
}

impl Drop for SleepingReader {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Release);
        // Wakes the reader of a connected socket.
        // SAFETY: the call takes only numbers; the socket is open, as its owner outlives this.
        unsafe { libc::shutdown(self.sink, libc::SHUT_RDWR) };
        if let Some(far) = self.far.take() {
            let _ = far.join();
        }
    }
}
