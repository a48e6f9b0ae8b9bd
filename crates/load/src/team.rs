//! The threads of one end: started together, watched from outside, stopped in bounded time.

use std::cell::Cell;
use std::net::{IpAddr, Shutdown, SocketAddr};
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use socket2::Socket;
use words::{Kind, Traffic};

use crate::applied::{self, Applied};
use crate::control::Control;
use crate::counts::{Counts, Sample};
use crate::drop_count::DropCount;
use crate::error::{Errno, Error, Result};
use crate::lane::{End, Lane};
use crate::latency;
use crate::life::live;
use crate::outcome::{Buffers, FlowOutcome, Outcome, Share, Zerocopy};
use crate::phase::{ABORT, Phase, QUIET, STOP};
use crate::spec::Spec;
use crate::tcp_info::TcpInfo;
use crate::{crew, low_water, options, outcome, socket, sys};

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

/// The flows of one end, connected, with their threads once started.
#[derive(Debug)]
pub(crate) struct Team {
    role: Role,
    traffic: Arc<Traffic>,
    local: IpAddr,
    cpus: Vec<u32>,
    sockets: Vec<Socket>,
    peers: Vec<SocketAddr>,
    control: Arc<Control>,
    /// The lanes of each thread.
    shares: Vec<Range<usize>>,
    threads: Vec<JoinHandle<Option<Vec<End>>>>,
    started: bool,
    drops: Mutex<Vec<DropCount>>,
    /// The low-water mark of the receiving sockets, bytes.
    mark: Option<u32>,
    /// Whether a socket cannot poll its device though it was asked to.
    slept: bool,
    /// What the connected sockets read back.
    applied: Vec<Applied>,
    /// What could not be had from the start.
    notes: Vec<String>,
}

impl Team {
    /// Takes the sockets, one per lane, and the peer of each: connected ones, or for `tcp_crr` the one listener that all share
    /// and at the other end sockets that only hold the lanes' place.
    pub(crate) fn new(role: Role, spec: Spec, sockets: Vec<Socket>, peers: Vec<SocketAddr>) -> Result<Self> {
        let traffic = Arc::new(spec.traffic);
        let mark = low_water::of(&traffic, spec.local);
        let (mut slept, mut notes, mut read_back) = (false, Vec::new(), Vec::new());
        for (flow, one) in sockets.iter().enumerate() {
            let sends = sends(role, &traffic, flow);
            socket::give_role(one, &traffic, sends, socket::flow(flow))?;
            if let Some(mark) = mark.filter(|_| !sends) {
                low_water::set(one, mark)
                    .map_err(|e| Error::setup("setsockopt SO_RCVLOWAT", socket::flow(flow), &e))?;
            }
            // The sockets of `tcp_crr` are no connections.
            if traffic.kind != Kind::TcpCrr {
                applied::collect(&mut read_back, Applied::read_as_asked(one, &traffic)?);
            }
            let refused = traffic.busy_poll.and_then(|time| options::poll_busily(one, time));
            slept |= refused.is_some();
            note(&mut notes, refused);
        }
        let drops = sockets.iter().map(|one| DropCount::new(socket::drops(one))).collect();
        let shares: Vec<Range<usize>> =
            crew::shares(&traffic, crew::crew(&traffic, crew::cpus(&spec.cpus))).collect();
        let control = Arc::new(Control::new(sockets.len(), shares.len()));
        Ok(Self {
            role,
            traffic,
            local: spec.local,
            cpus: spec.cpus,
            sockets,
            peers,
            control,
            shares,
            threads: Vec::new(),
            started: false,
            drops: Mutex::new(drops),
            mark,
            slept,
            applied: read_back,
            notes,
        })
    }

    /// Starts the threads and returns when all are in their loops.
    pub(crate) fn start(&mut self) -> Result<()> {
        if self.started {
            return Err(Error::Order { step: "start", instead: "the threads were started before" });
        }
        self.started = true;
        let (readiness, all_ready) = mpsc::channel();
        for thread in 0..self.shares.len() {
            if let Err(error) = self.spawn(thread, readiness.clone()) {
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

    /// The kernel's ids of the running threads, in the order of their flows.
    pub(crate) fn threads(&self) -> Vec<u32> {
        let ids = self.control.threads.iter().map(|id| id.load(Ordering::Relaxed));
        ids.filter(|id| *id != 0).collect()
    }

    pub(crate) fn sample(&self) -> Sample {
        let before = sys::now();
        let mut flows: Vec<Counts> = self.control.counters.iter().map(|counters| counters.read()).collect();
        let at_ns = before + (sys::now() - before) / 2;
        if let Some(mark) = self.mark {
            let taking =
                flows.iter_mut().zip(&self.sockets).enumerate().filter(|(flow, _)| !self.sends(*flow));
            taking.for_each(|(_, (counts, one))| counts.bytes += low_water::below(one, mark));
        }
        if self.traffic.kind == Kind::TcpStream {
            let message = u64::from(self.traffic.message);
            flows.iter_mut().for_each(|flow| flow.messages = flow.bytes / message);
        }
        if self.traffic.kind.is_udp() {
            let mut drops = self.drops.lock().unwrap_or_else(PoisonError::into_inner);
            for ((flow, count), one) in flows.iter_mut().zip(drops.iter_mut()).zip(&self.sockets) {
                flow.socket_drops = count.update(socket::drops(one));
            }
        }
        let of = |sending| flows.iter().enumerate().filter(move |(flow, _)| self.sends(*flow) == sending);
        let sum = |sending| of(sending).map(|(_, counts)| *counts).sum();
        Sample { at_ns, sent: sum(true), received: sum(false), flows }
    }

    /// Ends the threads that send, or ask, and waits until what was sent has left this host. Threads that receive go on.
    pub(crate) fn quiet(&self) {
        self.control.phase.advance(QUIET);
        self.control.open_gate();
        let sending = || (0..self.sockets.len()).filter(|flow| self.sends(*flow));
        for flow in sending() {
            if self.traffic.kind == Kind::TcpStream && self.traffic.pacing.is_some() {
                options::unpace(&self.sockets[flow]);
            }
            // The end of the stream goes behind what is queued, and a thread that waits in a call is woken. A connection that is
            // gone already needs no shutting. A datagram socket whose sender waits for room gets it as its queue empties.
            let how = match self.traffic.kind {
                Kind::TcpStream => Shutdown::Write,
                Kind::UdpStream | Kind::Pps => continue,
                _ => Shutdown::Both,
            };
            let _ = self.sockets[flow].shutdown(how);
        }
        wait_until(DRAIN, || {
            let mut threads =
                self.threads.iter().zip(&self.shares).filter(|(_, share)| self.sends(share.start));
            threads.all(|(thread, _)| thread.is_finished())
        });
        wait_until(DRAIN, || {
            sending().all(|flow| sys::unsent_to_a_peer(&self.sockets[flow]).unwrap_or(0) == 0)
        });
    }

    /// Stops the threads, joins them, and draws up the account.
    pub(crate) fn finish(mut self) -> Result<Outcome> {
        self.quiet();
        let ends = self.stop()?;
        if let Some(error) = self.control.failure() {
            return Err(error.clone());
        }
        let counts = self.sample();
        let (mut recorders, mut notes) = (Vec::new(), std::mem::take(&mut self.notes));
        let (mut slept, mut zerocopy) = (self.slept, None::<Zerocopy>);
        let mut flows = Vec::with_capacity(self.sockets.len());
        // A tcp_crr thread asks those sockets that received something.
        let crr = self.traffic.kind == Kind::TcpCrr;
        let polled = self.traffic.busy_poll.is_some() && !crr;
        for (flow, one) in self.sockets.iter().enumerate() {
            let nothing = polled.then(|| options::polled_nothing(one)).flatten();
            slept |= nothing.is_some();
            note(&mut notes, nothing);
            flows.push(FlowOutcome {
                sends: self.sends(flow),
                flows: 1,
                local: socket::local_address(one)?,
                peer: self.peers[flow],
                counts: counts.flows[flow],
                verified_bytes: ends.get(flow).map_or(0, |end| end.verified),
                sequence: ends.get(flow).and_then(|end| end.sequence),
                buffers: socket::buffers(one)?,
                tcp: if self.traffic.kind.is_udp() || crr { None } else { TcpInfo::read(one) },
            });
        }
        notes.extend(outcome::shortfalls(&ends));
        let mut read_back = std::mem::take(&mut self.applied);
        for end in ends {
            end.applied.into_iter().for_each(|one| applied::collect(&mut read_back, one));
            recorders.extend(end.latencies);
            if let Some(one) = end.zerocopy {
                let sum = zerocopy.get_or_insert_default();
                sum.completed += one.completed;
                sum.copied += one.copied;
            }
            slept |= end.slept;
            end.notes.into_iter().for_each(|one| note(&mut notes, Some(one)));
        }
        let share =
            |share: &Range<usize>| Share { sends: self.sends(share.start), flows: share.len() as u32 };
        let threads = self.shares.iter().map(share).collect();
        let buffers = flows.iter().map(|flow| flow.buffers).reduce(Buffers::smaller).unwrap_or_default();
        Ok(Outcome {
            sent: counts.sent,
            received: counts.received,
            flows,
            threads,
            latency: latency::merge(recorders),
            applied: read_back,
            buffers,
            zerocopy,
            slept,
            notes,
        })
    }

    fn spawn(&mut self, thread: usize, readiness: Sender<()>) -> Result<()> {
        let share = self.shares[thread].clone();
        let first = share.start;
        let mut readiness = Some(readiness);
        let lane = |flow: usize| Lane {
            flow,
            fd: self.sockets[flow].as_raw_fd(),
            peer: self.peers[flow],
            local: self.local,
            message: self.traffic.message as usize,
            response: self.traffic.response as usize,
            traffic: Arc::clone(&self.traffic),
            control: Arc::clone(&self.control),
            readiness: Cell::new(readiness.take()),
        };
        let lanes: Vec<Lane> = share.map(lane).collect();
        let sends = self.sends(first);
        let cpu = (!self.cpus.is_empty()).then(|| self.cpus[thread % self.cpus.len()]);
        // The kernel shows 15 letters of a name.
        let name = format!("{}-{thread}", if sends { "load-tx" } else { "load-rx" });
        let handle = std::thread::Builder::new()
            .name(name)
            .stack_size(STACK)
            .spawn(move || live(&lanes, thread, sends, cpu))
            .map_err(|e| Error::Thread { flow: first as u32, errno: Errno::of(&e) })?;
        self.threads.push(handle);
        Ok(())
    }

    /// Ends all threads, at the latest after [`DRAIN`] and [`JOIN`]. A second call finds none.
    fn stop(&mut self) -> Result<Vec<End>> {
        self.control.phase.advance(STOP);
        self.control.open_gate();
        if self.traffic.kind.is_udp() {
            // Wakes a waiting receiver; what is queued can still be read. (What ends a receiver over TCP is the end of the
            // stream.)
            self.shut(Shutdown::Read);
        }
        if !self.all_ended_within(DRAIN) {
            self.control.phase.advance(ABORT);
            self.shut(Shutdown::Both);
            if !self.all_ended_within(JOIN) {
                return Err(self.abandon());
            }
        }
        let mut ends = Vec::with_capacity(self.sockets.len());
        for thread in self.threads.drain(..) {
            // A panic was recorded by the thread itself, an error too; then nobody asks for the account.
            ends.extend(thread.join().ok().flatten().unwrap_or_default());
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
        wait_until(time, || self.threads.iter().all(JoinHandle::is_finished))
    }

    /// Gives up on threads that do not end. Their sockets stay open, because a number closed here could be handed
    /// out again and be used by such a thread.
    fn abandon(&mut self) -> Error {
        let stuck = self.threads.iter().position(|thread| !thread.is_finished()).unwrap_or(0);
        self.threads.clear();
        std::mem::forget(std::mem::take(&mut self.sockets));
        let error = Error::Stuck {
            flow: u32::try_from(self.shares[stuck].start).unwrap_or(u32::MAX),
            seconds: (DRAIN + JOIN).as_secs(),
        };
        self.control.fail(error.clone());
        error
    }

    /// Whether this end sends, or asks, on a lane.
    fn sends(&self, lane: usize) -> bool {
        sends(self.role, &self.traffic, lane)
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

fn sends(role: Role, traffic: &Traffic, lane: usize) -> bool {
    (role == Role::Transmitter) == traffic.is_forward(lane)
}

/// Takes a note down once: what one flow meets, all others do.
fn note(notes: &mut Vec<String>, note: Option<String>) {
    notes.extend(note.filter(|note| !notes.contains(note)));
}

/// Waits until something is so, for `time` at most; whether it came to be.
fn wait_until(time: Duration, is_so: impl Fn() -> bool) -> bool {
    let deadline = Instant::now() + time;
    let mut pause = Duration::from_micros(50);
    while !is_so() {
        if Instant::now() >= deadline {
            return false;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(2));
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};
    use words::Reader;

    /// What `SO_RCVLOWAT` a connected socket reads back as the end `role` of some traffic at `local`.
    fn mark(role: Role, traffic: Traffic, local: &str) -> libc::c_int {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let _far = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (near, peer) = listener.accept().unwrap();
        near.set_nodelay(traffic.is_nodelay()).unwrap();
        let spec = Spec { traffic, local: local.parse().unwrap(), cpus: vec![] };
        let team = Team::new(role, spec, vec![near.into()], vec![peer]).unwrap();
        sys::option_number(team.sockets[0].as_raw_fd(), libc::SOL_SOCKET, libc::SO_RCVLOWAT).unwrap()
    }

    #[test]
    fn receivers_that_sleep_have_a_low_water_mark_over_loopback_or_for_large_writes() {
        const NONE: libc::c_int = 1;
        for local in ["127.0.0.1", "::1", "198.51.100.1", "2001:db8::1"] {
            let loopback = local.parse::<IpAddr>().unwrap().is_loopback();
            for reader in Reader::ALL.into_iter().filter(|reader| reader.takes(Kind::TcpStream)) {
                for (message, large) in [(4096, false), (8192, true)] {
                    let stream = || Traffic { reader, message, ..Traffic::new(Kind::TcpStream) };
                    let marked = (loopback || large) && reader != Reader::Spin;
                    let expected = if marked { 128 << 10 } else { NONE };
                    assert_eq!(mark(Role::Receiver, stream(), local), expected, "{reader} {local} {message}");
                    assert_eq!(mark(Role::Transmitter, stream(), local), NONE, "{reader} {local}");
                }
            }
            for kind in [Kind::TcpRr, Kind::TcpCrr] {
                assert_eq!(mark(Role::Receiver, Traffic::new(kind), local), NONE, "{kind} {local}");
            }
        }
    }
}
