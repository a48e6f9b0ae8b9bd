//! A request and its answer, each end with a thread of its own: its reader sleeps until a packet
//! wakes it.

use std::io;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::JoinHandle;

use words::Traffic;

use super::end::MessageEnd;
use super::work::{Describe, Plain, RepeatableWork, Trouble, Worker};
use crate::lane::Calls;

/// The requesting end. The answering one is a thread, which ends with this.
pub(super) struct SleepingReader {
    near: MessageEnd,
    far: Option<JoinHandle<()>>,
    worker: Worker,
    over: Arc<AtomicBool>,
    sink: RawFd,
}

impl SleepingReader {
    /// `describe` is called by the answering thread.
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
            let described = describe();
            let is_known = described.is_ok();
            if told.send(described).is_err() || !is_known {
                return;
            }
            let mut far = MessageEnd::new(sink, stream, [response, request], 0);
            while !ends.load(Ordering::Acquire) {
                match far.receive(&mut Plain).and_then(|()| far.send(&mut Plain)) {
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
    fn messages(&self) -> u32 {
        1
    }

    fn worker(&self) -> Option<Worker> {
        Some(self.worker)
    }

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
