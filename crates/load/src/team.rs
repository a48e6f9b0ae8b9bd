//! The threads of one end: started together, watched from outside, stopped in bounded time.

use std::cell::Cell;
use std::net::{Shutdown, SocketAddr};
use std::os::fd::AsRawFd;
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use socket2::Socket;

use crate::control::Control;
use crate::counts::{Counts, Sample};
use crate::error::{Errno, Error, Result};
use crate::lane::{End, Lane};
use crate::latency;
use crate::outcome::{Buffers, FlowOutcome, Outcome};
use crate::phase::{ABORT, Phase, STOP};
use crate::spec::{Kind, Spec};
use crate::tcp_info::TcpInfo;
use crate::{socket, sys, tcp_rr, tcp_stream, udp_rr, udp_stream};

/// How long receivers may go on taking what is queued, and senders' queues may go on emptying, after the stop.
const DRAIN: Duration = Duration::from_millis(1500);
/// How long threads that were told to end at once may take.
const JOIN: Duration = Duration::from_secs(3);
/// Room for the stack of a loop, which calls nothing deep.
const STACK: usize = 256 << 10;

/// Which end a team is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Transmitter,
    Receiver,
}

/// The flows of one end, connected, with a thread for each once started.
#[derive(Debug)]
pub(crate) struct Team {
    role: Role,
    spec: Spec,
    sockets: Vec<Socket>,
    peers: Vec<SocketAddr>,
    control: Arc<Control>,
    threads: Vec<JoinHandle<Option<End>>>,
    started: bool,
    drops: Mutex<Vec<DropCount>>,
}

impl Team {
    /// Takes connected sockets, one per flow, and the peer of each.
    pub(crate) fn new(role: Role, spec: Spec, sockets: Vec<Socket>, peers: Vec<SocketAddr>) -> Result<Self> {
        for (flow, one) in sockets.iter().enumerate() {
            socket::prepare(one, &spec, role == Role::Transmitter, socket::flow(flow))?;
        }
        let drops = sockets.iter().map(|one| DropCount { last: socket::drops(one), total: 0 }).collect();
        let control = Arc::new(Control::new(sockets.len()));
        Ok(Self {
            role,
            spec,
            sockets,
            peers,
            control,
            threads: Vec::new(),
            started: false,
            drops: Mutex::new(drops),
        })
    }

    /// Starts one thread per flow and returns when all are in their loops.
    pub(crate) fn start(&mut self) -> Result<()> {
        if self.started {
            return Err(Error::Order { step: "start", instead: "the threads were started before" });
        }
        self.started = true;
        let (readiness, all_ready) = mpsc::channel();
        for flow in 0..self.sockets.len() {
            if let Err(error) = self.spawn(flow, readiness.clone()) {
                self.control.fail(error);
                break;
            }
        }
        drop(readiness);
        // Nothing is ever sent: the channel ends when the last thread has dropped its end, ready or failed.
        let _ = all_ready.recv();
        match self.control.failure().cloned() {
            None => {
                self.control.open_gate();
                Ok(())
            }
            Some(error) => {
                self.control.phase.advance(ABORT);
                let _ = self.stop();
                Err(error)
            }
        }
    }

    pub(crate) fn set_phase(&self, phase: Phase) {
        self.control.phase.advance(phase as u8);
    }

    pub(crate) fn failed(&self) -> Option<&Error> {
        self.control.failure()
    }

    pub(crate) fn sample(&self) -> Sample {
        let before = sys::now();
        let mut flows: Vec<Counts> = self.control.counters.iter().map(|counters| counters.read()).collect();
        let at_ns = before + (sys::now() - before) / 2;
        if self.spec.kind == Kind::TcpStream {
            flows.iter_mut().for_each(|flow| flow.messages = flow.bytes / u64::from(self.spec.message));
        }
        if self.spec.kind.is_udp() {
            let mut drops = self.drops.lock().unwrap_or_else(PoisonError::into_inner);
            for ((flow, count), one) in flows.iter_mut().zip(drops.iter_mut()).zip(&self.sockets) {
                flow.socket_drops = count.update(socket::drops(one));
            }
        }
        Sample { at_ns, total: flows.iter().copied().sum(), flows }
    }

    /// Stops the threads, joins them, and draws up the account.
    pub(crate) fn finish(mut self) -> Result<Outcome> {
        let ends = self.stop()?;
        if let Some(error) = self.control.failure() {
            return Err(error.clone());
        }
        if self.role == Role::Transmitter {
            self.settle();
        }
        let counts = self.sample();
        let mut recorders = Vec::new();
        let mut flows = Vec::with_capacity(self.sockets.len());
        for (flow, one) in self.sockets.iter().enumerate() {
            flows.push(FlowOutcome {
                local: socket::local_address(one)?,
                peer: self.peers[flow],
                counts: counts.flows[flow],
                verified_bytes: ends.get(flow).map_or(0, |end| end.verified),
                buffers: socket::buffers(one)?,
                tcp: if self.spec.kind.is_udp() { None } else { TcpInfo::read(one) },
            });
        }
        recorders.extend(ends.into_iter().filter_map(|end| end.latencies));
        let buffers = flows.iter().map(|flow| flow.buffers).reduce(Buffers::smaller).unwrap_or_default();
        Ok(Outcome { totals: counts.total, flows, latency: latency::merge(recorders), buffers })
    }

    fn spawn(&mut self, flow: usize, readiness: Sender<()>) -> Result<()> {
        let lane = Lane {
            flow,
            fd: self.sockets[flow].as_raw_fd(),
            peer: self.peers[flow],
            message: self.spec.message as usize,
            response: self.spec.response as usize,
            control: Arc::clone(&self.control),
            readiness: Cell::new(Some(readiness)),
        };
        let (role, kind) = (self.role, self.spec.kind);
        let cpu = (!self.spec.cpus.is_empty()).then(|| self.spec.cpus[flow % self.spec.cpus.len()]);
        let number = lane.number();
        // The kernel shows 15 letters of a name.
        let name = format!("{}-{flow}", if role == Role::Transmitter { "load-tx" } else { "load-rx" });
        let thread = std::thread::Builder::new()
            .name(name)
            .stack_size(STACK)
            .spawn(move || live(&lane, role, kind, cpu))
            .map_err(|e| Error::Thread { flow: number, errno: Errno::of(&e) })?;
        self.threads.push(thread);
        Ok(())
    }

    /// Ends all threads, at the latest after [`DRAIN`] and [`JOIN`]. A second call finds none.
    fn stop(&mut self) -> Result<Vec<End>> {
        self.control.phase.advance(STOP);
        self.control.open_gate();
        match (self.role, self.spec.kind.is_udp()) {
            // The end of the stream behind what is queued; whoever waits in a call is woken.
            (Role::Transmitter, false) if self.spec.kind == Kind::TcpStream => self.shut(Shutdown::Write),
            (Role::Transmitter, _) => self.shut(Shutdown::Both),
            // Wakes a waiting receiver; what is queued can still be read.
            (Role::Receiver, true) => self.shut(Shutdown::Read),
            // The transmitter's end of the stream ends the receiver.
            (Role::Receiver, false) => {}
        }
        if !self.all_ended_within(DRAIN) {
            self.control.phase.advance(ABORT);
            self.shut(Shutdown::Both);
            if !self.all_ended_within(JOIN) {
                return Err(self.abandon());
            }
        }
        let mut ends = Vec::with_capacity(self.threads.len());
        for thread in self.threads.drain(..) {
            // A panic was recorded by the thread itself, an error too.
            ends.push(thread.join().ok().flatten().unwrap_or_default());
        }
        Ok(ends)
    }

    fn shut(&self, how: Shutdown) {
        for one in &self.sockets {
            // A connection that is gone already needs no shutting.
            let _ = one.shutdown(how);
        }
    }

    fn all_ended_within(&self, time: Duration) -> bool {
        let deadline = Instant::now() + time;
        let mut pause = Duration::from_micros(50);
        while !self.threads.iter().all(JoinHandle::is_finished) {
            if Instant::now() >= deadline {
                return false;
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(2));
        }
        true
    }

    /// Gives up on threads that do not end. Their sockets stay open, because a number closed here could be handed
    /// out again and be used by such a thread.
    fn abandon(&mut self) -> Error {
        let stuck = self.threads.iter().position(|thread| !thread.is_finished()).unwrap_or(0);
        self.threads.clear();
        std::mem::forget(std::mem::take(&mut self.sockets));
        let error = Error::Stuck {
            flow: u32::try_from(stuck).unwrap_or(u32::MAX),
            seconds: (DRAIN + JOIN).as_secs(),
        };
        self.control.fail(error.clone());
        error
    }

    /// Waits until what was sent has left this host's queues, as far as it does so soon: only then may the receiver
    /// be told that nothing more will come.
    fn settle(&self) {
        let deadline = Instant::now() + DRAIN;
        for one in &self.sockets {
            while sys::unsent(one.as_raw_fd()).unwrap_or(0) > 0 && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        if !self.threads.is_empty() {
            // Nobody wants an account: end at once.
            self.control.phase.advance(ABORT);
            self.shut(Shutdown::Both);
            let _ = self.stop();
        }
    }
}

/// A thread's life. Errors go to the control, where they are seen while the others still run.
fn live(lane: &Lane, role: Role, kind: Kind, cpu: Option<u32>) -> Option<End> {
    let _report = PanicReport(lane);
    let run = || {
        if let Some(cpu) = cpu {
            sys::pin(cpu).map_err(|e| Error::Pin { flow: lane.number(), cpu, errno: Errno::of(&e) })?;
        }
        sys::own_descriptors(lane.fd);
        match (kind, role) {
            (Kind::TcpStream, Role::Transmitter) => tcp_stream::send(lane),
            (Kind::TcpStream, Role::Receiver) => tcp_stream::receive(lane),
            (Kind::UdpStream, Role::Transmitter) => udp_stream::send(lane),
            (Kind::UdpStream, Role::Receiver) => udp_stream::receive(lane),
            (Kind::TcpRr, Role::Transmitter) => tcp_rr::send(lane),
            (Kind::TcpRr, Role::Receiver) => tcp_rr::receive(lane),
            (Kind::UdpRr, Role::Transmitter) => udp_rr::send(lane),
            (Kind::UdpRr, Role::Receiver) => udp_rr::receive(lane),
        }
    };
    match run() {
        Ok(end) => Some(end),
        Err(error) => {
            lane.control.fail(error);
            None
        }
    }
}

struct PanicReport<'a>(&'a Lane);

impl Drop for PanicReport<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.control.fail(Error::Panicked { flow: self.0.number() });
        }
        // A thread that ended before its loop must not be waited for.
        self.0.readiness.take();
    }
}

/// A socket's drops, carried on beyond the 32 bits in which the kernel counts them.
#[derive(Debug)]
struct DropCount {
    last: u32,
    total: u64,
}

impl DropCount {
    fn update(&mut self, now: u32) -> u64 {
        self.total += u64::from(now.wrapping_sub(self.last));
        self.last = now;
        self.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_are_counted_beyond_32_bits() {
        let mut count = DropCount { last: u32::MAX - 1, total: 0 };
        assert_eq!(count.update(u32::MAX), 1);
        assert_eq!(count.update(4), 6);
        assert_eq!(count.update(4), 6);
        assert_eq!(count.update(3), 6 + u64::from(u32::MAX));
    }
}
