//! A process that is the pipe of a guest's agent. To its controller it is an agent, with a
//! [`Launch`], signs of life and a lease. Until [`Relay::join`] it answers by itself.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::controller::{self, ReceivedLine, Requests};
use crate::error::{Refusal, ServeError};
use crate::frame::{Deadline, LineReader, NO_REQUEST, decode, encode};
use crate::launch::Launch;
use crate::message::{Answer, PROTOCOL, Request};
use crate::serve::reply;

/// The controller's end of the relay.
pub struct Relay {
    requests: Requests,
    /// The id and the deadline of the last request.
    asked: (u64, Deadline),
}

impl Relay {
    /// Answers the controller's greeting, with the reason `cannot` if any. `None`: nobody waits.
    ///
    /// # Errors
    /// The first line is no launch, or the pipes fail.
    pub fn open(cannot: Option<String>) -> Result<Option<Self>, ServeError> {
        host::close_inherited()?;
        let mut requests = Requests::Read(LineReader::default());
        let Some(line) = requests.next()? else { return Ok(None) };
        let launch: Launch = decode(&line.bytes)?;
        crate::serve::ignore_signals();
        let requests = requests.watched(launch.lease_ms.map(Duration::from_millis))?;
        let mut relay = Self { requests, asked: (NO_REQUEST, Deadline::new(Instant::now(), Duration::ZERO)) };
        let Some(request) = relay.receive()? else { return Ok(None) };
        let why = match (request, cannot) {
            (Request::Hello { protocol: PROTOCOL }, None) => {
                let (pid, cpus) = (std::process::id(), host::affinity::usable());
                relay.answer(&Answer::Hello { protocol: PROTOCOL, pid, cpus })?;
                return Ok(Some(relay));
            }
            (Request::Hello { protocol: PROTOCOL }, Some(why)) => why,
            _ => format!("the controller does not speak protocol {PROTOCOL}"),
        };
        relay.answer(&Refusal::from(why).into_answer()).map(|()| None)
    }

    /// The controller's next request, as a message of this type; `None` if the controller is gone.
    ///
    /// # Errors
    /// It is another message, or the pipe fails.
    pub fn receive<T: serde::de::DeserializeOwned>(&mut self) -> Result<Option<T>, ServeError> {
        let Some(line) = self.requests.next()? else { return Ok(None) };
        let (id, deadline, request) = line.open()?;
        self.asked = (id, deadline);
        Ok(Some(decode(request)?))
    }

    /// Answers the last request without the agent.
    ///
    /// # Errors
    /// The controller is gone, or does not read.
    pub fn answer(&self, answer: &Answer) -> Result<(), ServeError> {
        let (id, deadline) = self.asked;
        reply(id, answer, deadline.controller_gives_up())
    }

    /// Launches the agent at `port`, and passes lines both ways until an end is gone. True if the
    /// controller's end closed first.
    ///
    /// # Errors
    /// A pipe fails, or no thread can be started.
    pub fn join(self, port: (OwnedFd, OwnedFd)) -> Result<bool, ServeError> {
        let (to, from) = port;
        let mut to = UnixStream::from(to);
        to.write_all(&encode(&Launch::default())?)?;
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        let waits = Arc::new(Mutex::new(Instant::now()));
        let until = Arc::clone(&waits);
        let mut requests = self.requests;
        let forward = move || {
            loop {
                match requests.next() {
                    Ok(Some(line)) if pass_in(&mut to, &line, &until).is_ok() => {}
                    Ok(Some(_)) => break,
                    Ok(None) | Err(_) => break over.store(true, Ordering::Relaxed),
                }
            }
            // The reader of the other way sees an end.
            let _ = to.shutdown(std::net::Shutdown::Both);
        };
        thread::Builder::new().name("to the agent".to_owned()).spawn(forward)?;
        pass_on(from, &waits)?;
        Ok(is_over.load(Ordering::Relaxed))
    }
}

fn pass_in(to: &mut UnixStream, line: &ReceivedLine, waits: &Mutex<Instant>) -> Result<(), ServeError> {
    let until = line.open()?.1.controller_gives_up();
    *waits.lock().unwrap_or_else(PoisonError::into_inner) = until;
    let left = until.saturating_duration_since(Instant::now());
    to.set_write_timeout(Some(left.max(Duration::from_millis(1))))?;
    to.write_all(&line.bytes)?;
    Ok(to.write_all(b"\n")?)
}

fn pass_on(from: OwnedFd, waits: &Mutex<Instant>) -> Result<(), ServeError> {
    let (mut from, mut lines) = (File::from(from), LineReader::default());
    let mut piece = [0; 16 << 10];
    loop {
        // Only complete lines, so that no sign of life comes between parts of a line.
        while let Some(mut line) = lines.next_line()? {
            line.push(b'\n');
            let until = *waits.lock().unwrap_or_else(PoisonError::into_inner);
            match controller::write_line(&line, until) {
                Err(ServeError::Pipe(error)) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
                written => written?,
            }
        }
        match from.read(&mut piece) {
            // A socket whose other end closed with bytes unread gives an error.
            Ok(0) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(count) => lines.push(&piece[..count]),
            Err(error) => return Err(error.into()),
        }
    }
}
