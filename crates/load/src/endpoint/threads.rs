//! The threads of one end: their number, the flows of each, their start and their end.

use std::net::Shutdown;
use std::num::NonZero;
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nix::unistd::gettid;
use words::{Direction, MAX_THREADS, Traffic};

use super::Endpoint;
use crate::error::{Error, Result, errno_of, error_text};
use crate::lane::{ABORT, Lane, LaneResult, STOP};
use crate::{sys, workload};

pub(super) fn wait_until(time: Duration, is_so: impl Fn() -> bool) -> bool {
    let deadline = Instant::now() + time;
    let mut pause = Duration::from_micros(50);
    while !is_so() {
        if Instant::now() >= deadline {
            return false;
        }
        // Short waits end soon; long ones take no CPU from the threads that are waited for.
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(2));
    }
    true
}

// Time after the stop for receivers to receive queued data, and for senders' queues to empty.
pub(super) const DRAIN: Duration = Duration::from_millis(1500);
// Linux retransmits after 0.2, 0.6, 1.4, 3 s in all; the socket gives up a call after 5 s.
const LEAVE: Duration = Duration::from_secs(4);
const JOIN: Duration = Duration::from_secs(3);
// A loop has no deep calls.
const STACK: usize = 256 << 10;

pub(super) type LoopThread = JoinHandle<Option<Vec<LaneResult>>>;

impl Endpoint {
    pub(super) fn spawn(&mut self, thread: usize, readiness: Sender<()>) -> Result<()> {
        let share = self.shares[thread].clone();
        let first = share.start;
        let mut readiness = Some(readiness);
        let lanes: Vec<Lane> =
            share.map(|flow| self.flows.lane(flow, &self.control, readiness.take())).collect();
        let sends = self.flows.sends(first);
        let cpus = &self.flows.spec.cpus;
        let cpu = (!cpus.is_empty()).then(|| cpus[thread % cpus.len()]);
        // The kernel shows 15 characters of a name.
        let name = format!("{}-{thread}", if sends { "load-tx" } else { "load-rx" });
        let handle = std::thread::Builder::new()
            .name(name)
            .stack_size(STACK)
            .spawn(move || run(&lanes, thread, sends, cpu))
            .map_err(|error| {
                let why = error_text(errno_of(&error));
                let remedy = "raise the limit of tasks or use fewer flows";
                Error::flow(first, format!("cannot start a thread: {why}; {remedy}"))
            })?;
        self.threads.push(handle);
        Ok(())
    }

    pub(super) fn threads_that(&self, send: bool) -> impl Iterator<Item = &LoopThread> {
        let threads = self.threads.iter().zip(&self.shares);
        threads.filter(move |(_, share)| self.flows.sends(share.start) == send).map(|(thread, _)| thread)
    }

    pub(super) fn all_leave(&self, whether_they_send: &[bool]) -> bool {
        // A thread that ended by itself waits for nothing.
        let living = || {
            let all = whether_they_send.iter().flat_map(|send| self.threads_that(*send));
            all.filter(|thread| !thread.is_finished()).count()
        };
        wait_until(LEAVE, || self.control.loop_state().waiting >= living())
    }

    pub(super) fn stop(&mut self) -> Result<Vec<LaneResult>> {
        self.control.phase.advance(STOP);
        self.control.open_gate();
        if self.flows.traffic.kind.is_udp() {
            // Wakes a waiting receiver; queued data can still be read. (A TCP receiver ends with
            // the stream.)
            self.flows.shut(Shutdown::Read);
        }
        if !self.all_ended_within(DRAIN) {
            // Queued data are given up, so that the end comes in bounded time.
            self.control.phase.advance(ABORT);
            self.flows.shut(Shutdown::Both);
            if !self.all_ended_within(JOIN) {
                return Err(self.abandon());
            }
        }
        let mut ends = Vec::with_capacity(self.flows.sockets.len());
        for thread in self.threads.drain(..) {
            // Only builds for tests unwind: there a panic of a loop fails the test.
            let own = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            // A thread without results recorded its error, and then the account is not used.
            ends.extend(own.unwrap_or_default());
        }
        Ok(ends)
    }

    fn all_ended_within(&self, time: Duration) -> bool {
        wait_until(time, || self.threads.iter().all(JoinHandle::is_finished))
    }

    fn abandon(&mut self) -> Error {
        let stuck = self.threads.iter().position(|thread| !thread.is_finished()).unwrap_or(0);
        let place = place_of_thread(self.control.threads[stuck].load(Ordering::Relaxed));
        // Joining it could take forever.
        self.threads.clear();
        self.flows.abandon();
        let seconds = (DRAIN + JOIN).as_secs();
        let what = format!("its thread did not exit within {seconds} s and was abandoned ({place})");
        let error = Error::flow(self.shares[stuck].start, what);
        self.control.fail(error.clone());
        error
    }
}

/// The state of a thread of this process and the kernel function that it sleeps in, as proc(5) has
/// them.
fn place_of_thread(id: u32) -> String {
    let file =
        |name: &str| std::fs::read_to_string(format!("/proc/self/task/{id}/{name}")).unwrap_or_default();
    // The name before it, in parentheses, may hold any character.
    let state = file("stat").rsplit(") ").next().and_then(|rest| rest.chars().next()).unwrap_or('?');
    format!("state {state}, in {}", file("wchan"))
}

// Errors go to the control, visible while the other threads still run.
fn run(lanes: &[Lane], thread: usize, sends: bool, cpu: Option<u32>) -> Option<Vec<LaneResult>> {
    let first = lanes.first()?;
    let work = || {
        if let Some(cpu) = cpu {
            sys::pin(cpu).map_err(|error| {
                let why = error_text(errno_of(&error));
                let what = format!("cannot run on CPU {cpu}: {why}; name CPUs that this host may use");
                Error::flow(first.flow, what)
            })?;
        }
        first.control.threads[thread].store(gettid().as_raw().unsigned_abs(), Ordering::Relaxed);
        sys::own_descriptors(lanes.iter().map(|lane| lane.fd));
        workload::run(lanes, sends)
    };
    work().map_err(|error| first.control.fail(error)).ok()
}

// On one thread, 4 to 64 streams carried a third less over veth with two CPUs (reno, 16 KiB).
const ALONE: u32 = 64;

/// The number of threads of an end with `cpus` CPUs, each way.
pub(crate) fn threads(traffic: &Traffic, cpus: usize) -> u32 {
    let cpus = u32::try_from(cpus).unwrap_or(u32::MAX).max(1);
    match traffic.threads {
        // A thread without a flow would have nothing to wait for.
        Some(threads) => threads.min(traffic.flows),
        None if traffic.unshareable().is_some() => traffic.flows,
        None if traffic.kind.is_rr() || traffic.flows > ALONE => cpus.min(traffic.flows).min(MAX_THREADS),
        None => traffic.flows,
    }
}

/// The lanes of each thread, in order: neighbours of the same way.
pub(super) fn shares(traffic: &Traffic, threads: u32) -> impl Iterator<Item = Range<usize>> {
    let (flows, threads) = (traffic.flows as usize, threads as usize);
    // A thread's lanes all send or all receive: its loop is compiled for one of both.
    let ways = if traffic.direction == Direction::Both { 2 } else { 1 };
    (0..ways).flat_map(move |way| {
        let edge = move |thread: usize| way * flows + thread * flows / threads;
        (0..threads).map(move |thread| edge(thread)..edge(thread + 1))
    })
}

pub(super) fn cpus(pinned: &[u32]) -> usize {
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
