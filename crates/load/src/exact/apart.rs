//! A request and its answer, each end with a thread of its own: its reader sleeps until a packet
//! wakes it.

use std::io;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::JoinHandle;

use words::Traffic;

use super::work::{Plain, Trouble, Work, whole};
use crate::lane::Calls;
use crate::message::Buffer;
use crate::sys;

/// The requesting end. The answering one is a thread, which ends with this.
pub(super) struct Apart {
    near: End,
    far: Option<JoinHandle<()>>,
    number: u32,
    over: Arc<AtomicBool>,
    sink: RawFd,
}

/// An end: what it sends, and what it waits for.
struct End {
    socket: RawFd,
    stream: bool,
    sends: Buffer,
    /// Bytes of the other end's message.
    takes: usize,
    room: Buffer,
}

impl Apart {
    pub(super) fn new(traffic: &Traffic, source: RawFd, sink: RawFd) -> Result<Self, Trouble> {
        let (stream, request, response) =
            (!traffic.kind.is_udp(), traffic.message as usize, traffic.response as usize);
        let near = End::new(source, stream, request, response);
        let over = Arc::new(AtomicBool::new(false));
        let (told, number) = mpsc::channel();
        let ends = Arc::clone(&over);
        let answer = move || {
            let _ = told.send(nix::unistd::gettid().as_raw().unsigned_abs());
            let mut far = End::new(sink, stream, response, request);
            while !ends.load(Ordering::Acquire) {
                match far.take(&mut Plain).and_then(|()| far.send(&mut Plain)) {
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
        let number = number.recv().map_err(|_| ("clone", io::ErrorKind::BrokenPipe.into()))?;
        Ok(Self { near, far: Some(far), number, over, sink })
    }
}

impl End {
    fn new(socket: RawFd, stream: bool, sends: usize, takes: usize) -> Self {
        // One byte more than a message, to detect a larger one.
        let (sends, room) = (Buffer::pattern(sends), Buffer::room(takes + 1));
        Self { socket, stream, sends, takes, room }
    }

    #[inline(always)]
    fn send<C: Calls>(&self, calls: &mut C) -> Result<(), Trouble> {
        let message = self.sends.as_ref();
        whole("send", calls.around(|| sys::send_flags(self.socket, message, 0)), message.len())
    }

    #[inline(always)]
    fn take<C: Calls>(&mut self, calls: &mut C) -> Result<(), Trouble> {
        let (socket, room) = (self.socket, self.room.as_mut());
        let mut got = 0;
        while got < self.takes {
            match calls.around(|| sys::receive(socket, room, 0)) {
                part if part > 0 && self.stream => got += part as usize,
                part if part > 0 => return whole("recv", part, self.takes),
                0 => return Err(("recv", io::ErrorKind::UnexpectedEof.into())),
                _ => return Err(("recv", io::Error::last_os_error())),
            }
        }
        whole("recv", got as isize, self.takes)
    }
}

impl Work for Apart {
    fn messages(&self) -> u32 {
        1
    }

    fn threads(&self) -> Vec<u32> {
        vec![self.number]
    }

    #[inline(always)]
    fn turn<C: Calls>(&mut self, calls: &mut C) -> Result<(), Trouble> {
        self.near.send(calls)?;
        self.near.take(calls)
    }
}

impl Drop for Apart {
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
