//! The threads of one end: started together, watched from outside, stopped in bounded time.

use std::net::{Shutdown, SocketAddr};
use std::num::NonZero;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nix::unistd::gettid;
use socket2::Socket;
use words::{Direction, MAX_THREADS, Side, Traffic};

use crate::error::{Errno, Error, Result};
use crate::lane::{ABORT, Control, Counts, Lane, LaneResult, Modes, Phase, QUIET, STOP, Sample};
use crate::socket::SocketSwitches;
use crate::spec::Spec;
use crate::{sys, workload};
use super::account::EndOutcome;
use super::account;
use super::flows::Flows;

/// Time after the stop for receivers to receive queued data, and for senders' queues to empty.
const DRAIN: Duration = Duration::from_millis(1500);
/// Time for threads to leave their loops at a switch. A sender may wait in its call for a
/// retransmission: Linux's timer doubles, to 0.2, 0.6, 1.4, 3 s in all. Its socket gives up a call
/// after 5 s ([`stall`](crate::socket::stall)).
const LEAVE: Duration = Duration::from_secs(4);
/// Time for threads to end after an abort.
const JOIN: Duration = Duration::from_secs(3);
/// The stack of a loop, which has no deep calls.
const STACK: usize = 256 << 10;

const STAYS: &str =
    "a thread did not leave its sender or reader within 4 s of a switch: its system call does not return";
const FEWER: &str = "raise the limit of tasks or use fewer flows";

/// The flows of one end, with their threads once started.
#[derive(Debug)]
pub(crate) struct Team {
    flows: Flows,
    cpus: Vec<u32>,
    control: Arc<Control>,
    shares: Vec<Range<usize>>,
    threads: Vec<JoinHandle<Option<Vec<LaneResult>>>>,
    started: bool,
}

impl Team {
    pub(crate) fn new(side: Side, spec: Spec, sockets: Vec<Socket>, peers: Vec<SocketAddr>) -> Result<Self> {
        let flows = Flows::new(side, &spec, sockets, peers)?;
        let threads = threads(&spec.traffic, cpus(&spec.cpus));
        let shares: Vec<Range<usize>> = shares(&spec.traffic, threads).collect();
        let control = Arc::new(Control::new(flows.len(), shares.len(), &flows.traffic));
        Ok(Self { flows, cpus: spec.cpus, control, shares, threads: Vec::new(), started: false })
    }

    /// Starts the threads; returns when all are in their loops.
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
        // Nothing is sent: the channel ends when the last thread has dropped its end, ready or
        // failed.
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

    /// The socket of the first flow, and its peer.
    pub(crate) fn only_flow(&self) -> (&Socket, SocketAddr) {
        (&self.flows.sockets[0], self.flows.peers[0])
    }

    pub(crate) fn prepare(&self, switches: &SocketSwitches) -> Result<()> {
        let threads = |traffic| threads(traffic, cpus(&self.cpus));
        if switches.states().any(|state| threads(state) != threads(&self.flows.traffic)) {
            return Err(Error::Setup(
                "one sender or reader needs a thread for each flow, and with another one flows share threads: set `threads` to the number of `flows`"
                    .to_owned(),
            ));
        }
        self.flows.prepare(switches)
    }

    pub(crate) fn switch(&self, switches: &SocketSwitches, state: usize) -> Result<()> {
        let wanted = switches.state(state);
        if let Some(pace) = wanted.pacing {
            self.control.pace.store(pace.bits(), Ordering::Relaxed);
        }
        let (before, after) = (self.control.loop_switch.modes(), Modes::of_traffic(wanted));
        let changes = |differ, sends| differ && self.threads_that(sends).next().is_some();
        let reads_otherwise = changes(before.reader != after.reader, false);
        if !reads_otherwise && !changes(before.sender != after.sender, true) {
            return self.flows.switch(switches, state);
        }
        // The sockets are switched while no such thread uses them: its next loop may need an
        // option of theirs. Senders leave at the phase that ends them in order.
        let (loop_switch, phase) = (&self.control.loop_switch, &self.control.phase);
        loop_switch.hold();
        let held = phase.hold(QUIET);
        let mut left = self.all_leave(&[true]);
        if left && reads_otherwise {
            phase.hold(ABORT);
            left = self.all_leave(&[true, false]);
        }
        let done =
            if left { self.flows.switch(switches, state) } else { Err(Error::Setup(STAYS.to_owned())) };
        phase.resume(held);
        loop_switch.release(if left { after } else { before });
        done
    }

    /// The threads that send, or ask; or those that receive, or answer.
    fn threads_that(&self, send: bool) -> impl Iterator<Item = &JoinHandle<Option<Vec<LaneResult>>>> {
        let threads = self.threads.iter().zip(&self.shares);
        threads.filter(move |(_, share)| self.flows.sends(share.start) == send).map(|(thread, _)| thread)
    }

    /// Waits until all such threads have left their loops; whether they have.
    fn all_leave(&self, whether_they_send: &[bool]) -> bool {
        let living = || {
            let all = whether_they_send.iter().flat_map(|send| self.threads_that(*send));
            all.filter(|thread| !thread.is_finished()).count()
        };
        wait_until(LEAVE, || self.control.loop_switch.waiting() >= living())
    }

    pub(crate) fn check(&self, switches: &SocketSwitches, state: usize) -> Result<()> {
        self.flows.check(switches, state)
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
        let flows: Vec<Counts> = self.control.counters.iter().map(|counters| counters.read()).collect();
        let at_ns = before + (sys::now() - before) / 2;
        self.flows.sample(flows, at_ns)
    }

    /// Ends the threads that send, or ask, and waits until sent data have left this host. Receiving
    /// threads continue.
    pub(crate) fn quiet(&self) {
        self.control.phase.advance(QUIET);
        self.control.open_gate();
        self.flows.end_sending();
        wait_until(DRAIN, || self.threads_that(true).all(JoinHandle::is_finished));
        wait_until(DRAIN, || self.flows.have_left());
    }

    /// Stops the threads, joins them, and makes the account.
    pub(crate) fn finish(mut self) -> Result<EndOutcome> {
        self.quiet();
        let ends = self.stop()?;
        if let Some(error) = self.control.failure() {
            return Err(error.clone());
        }
        account::draw_up(&self.flows, &self.shares, ends, self.sample())
    }

    fn spawn(&mut self, thread: usize, readiness: Sender<()>) -> Result<()> {
        let share = self.shares[thread].clone();
        let first = share.start;
        let mut readiness = Some(readiness);
        let lanes: Vec<Lane> =
            share.map(|flow| self.flows.lane(flow, &self.control, readiness.take())).collect();
        let sends = self.flows.sends(first);
        let cpu = (!self.cpus.is_empty()).then(|| self.cpus[thread % self.cpus.len()]);
        // The kernel shows 15 characters of a name.
        let name = format!("{}-{thread}", if sends { "load-tx" } else { "load-rx" });
        let handle = std::thread::Builder::new()
            .name(name)
            .stack_size(STACK)
            .spawn(move || run(&lanes, thread, sends, cpu))
            .map_err(|e| {
                Error::flow(first, format!("cannot start a thread: {}; {FEWER}", Errno::from_error(&e)))
            })?;
        self.threads.push(handle);
        Ok(())
    }

    /// Ends all threads within [`DRAIN`] and [`JOIN`]. A second call has none to end.
    fn stop(&mut self) -> Result<Vec<LaneResult>> {
        self.control.phase.advance(STOP);
        self.control.open_gate();
        if self.flows.traffic.kind.is_udp() {
            // Wakes a waiting receiver; queued data can still be read. (A TCP receiver ends with
            // the stream.)
            self.flows.shut(Shutdown::Read);
        }
        if !self.all_ended_within(DRAIN) {
            self.control.phase.advance(ABORT);
            self.flows.shut(Shutdown::Both);
            if !self.all_ended_within(JOIN) {
                return Err(self.abandon());
            }
        }
        let mut ends = Vec::with_capacity(self.flows.len());
        for thread in self.threads.drain(..) {
            // The thread itself recorded a panic or an error; then the account is not used.
            ends.extend(thread.join().ok().flatten().unwrap_or_default());
        }
        Ok(ends)
    }

    fn all_ended_within(&self, time: Duration) -> bool {
        wait_until(time, || self.threads.iter().all(JoinHandle::is_finished))
    }

    /// Gives up on threads that do not end.
    fn abandon(&mut self) -> Error {
        let stuck = self.threads.iter().position(|thread| !thread.is_finished()).unwrap_or(0);
        let place = sys::place_of(self.control.threads[stuck].load(Ordering::Relaxed));
        self.threads.clear();
        self.flows.abandon();
        let seconds = (DRAIN + JOIN).as_secs();
        let what = format!("its thread did not exit within {seconds} s and was abandoned ({place})");
        let error = Error::flow(self.shares[stuck].start, what);
        self.control.fail(error.clone());
        error
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        if !self.threads.is_empty() {
            // Nobody wants an account: end at once.
            self.control.phase.advance(ABORT);
            self.flows.shut(Shutdown::Both);
            let _ = self.stop();
        }
    }
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

/// Runs thread number `thread`, which serves these lanes. Errors go to the control, visible while
/// the others still run.
pub(super) fn run(lanes: &[Lane], thread: usize, sends: bool, cpu: Option<u32>) -> Option<Vec<LaneResult>> {
    let first = lanes.first()?;
    let _report = PanicReport(first);
    let work = || {
        if let Some(cpu) = cpu {
            sys::pin(cpu).map_err(|e| {
                let errno = Errno::from_error(&e);
                Error::flow(
                    first.flow,
                    format!("cannot run on CPU {cpu}: {errno}; name CPUs that this host may use"),
                )
            })?;
        }
        first.control.threads[thread].store(gettid().as_raw().unsigned_abs(), Ordering::Relaxed);
        sys::own_descriptors(lanes.iter().map(|lane| lane.fd));
        workload::run(lanes, sends)
    };
    match work() {
        Ok(ends) => Some(ends),
        Err(error) => {
            first.control.fail(error);
            None
        }
    }
}

struct PanicReport<'a>(&'a Lane);

impl Drop for PanicReport<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let bug = "its thread panicked; this is a bug in netassay";
            self.0.control.fail(Error::flow(self.0.flow, bug));
        }
        // Nobody must wait for a thread that ended before its loop.
        self.0.readiness.take();
    }
}

/// Up to this many streams have a thread each by default: on one thread, 4 to 64 streams carried a
/// third less over veth with two CPUs (reno, writes of 16 KiB).
const ALONE: u32 = 64;

/// The number of threads of an end with `cpus` CPUs, each way. By default, flows that ask and
/// answer share a thread for each CPU, and so do many streams.
pub(crate) fn threads(traffic: &Traffic, cpus: usize) -> u32 {
    let cpus = u32::try_from(cpus).unwrap_or(u32::MAX).max(1);
    match traffic.threads {
        Some(threads) => threads.min(traffic.flows),
        None if traffic.unshareable().is_some() => traffic.flows,
        None if traffic.kind.is_rr() || traffic.flows > ALONE => cpus.min(traffic.flows).min(MAX_THREADS),
        None => traffic.flows,
    }
}

/// The lanes of each thread, in order: neighbours of the same way.
pub(crate) fn shares(traffic: &Traffic, threads: u32) -> impl Iterator<Item = Range<usize>> {
    let (flows, threads) = (traffic.flows as usize, threads as usize);
    let ways = if traffic.direction == Direction::Both { 2 } else { 1 };
    (0..ways).flat_map(move |way| {
        (0..threads)
            .map(move |at| split(flows, threads, at))
            .map(move |share| way * flows + share.start..way * flows + share.end)
    })
}

/// Part number `at` of `all` things in `parts` parts, which differ by at most one.
pub(crate) fn split(all: usize, parts: usize, at: usize) -> Range<usize> {
    at * all / parts..(at + 1) * all / parts
}

/// The CPUs that unpinned threads may use.
pub(crate) fn cpus(pinned: &[u32]) -> usize {
    if pinned.is_empty() {
        std::thread::available_parallelism().map_or(1, NonZero::get)
    } else {
        pinned.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use words::Kind;

    proptest! {
        #[test]
        fn every_lane_has_one_thread_and_every_thread_its_lanes(
            flows in 1u32..5000, threads in 1u32..=MAX_THREADS, both in any::<bool>(), cpus in 0usize..100,
        ) {
            let direction = if both { Direction::Both } else { Direction::Forward };
            let traffic = Traffic { flows, direction, threads: Some(threads), ..Traffic::new(Kind::TcpStream) };
            prop_assert_eq!(super::threads(&traffic, cpus), threads.min(flows));
            let shares: Vec<Range<usize>> = shares(&traffic, threads.min(flows)).collect();
            let mut next = 0;
            for share in &shares {
                prop_assert_eq!(share.start, next);
                prop_assert!(!share.is_empty());
                prop_assert_eq!(traffic.is_forward(share.start), traffic.is_forward(share.end - 1));
                next = share.end;
            }
            prop_assert_eq!(next, traffic.lanes() as usize);
            let sizes = || shares.iter().map(Range::len);
            prop_assert!(sizes().max().unwrap() - sizes().min().unwrap() <= 1);
        }
    }
}
