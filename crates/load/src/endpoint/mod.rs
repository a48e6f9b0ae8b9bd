//! One end of a workload, from opening its sockets to its account: flows and their threads.

mod account;
mod flows;
mod sockets;
mod threads;

use std::net::{Shutdown, SocketAddr};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::thread::JoinHandle;

use socket2::Socket;
use words::{Family, Kind, Side, Traffic};

use self::flows::EndpointFlows;
use self::threads::{DRAIN, LoopThread, cpus, shares, wait_until};
use crate::error::{Error, Result};
use crate::exact::{self, Borrower, Describe};
use crate::lane::{ABORT, Control, Counts, Phase, QUIET, Sample};
use crate::socket::{self, SocketSwitches};
use crate::spec::Spec;
use crate::sys;

pub use self::account::{EndOutcome, FlowOutcome, Share};
pub(crate) use self::threads::threads;

const STAYS: &str =
    "a thread did not leave its sender or reader within 4 s of a switch: its system call does not return";

/// The receiving (answering) end by [`Endpoint::bind`], or the other by [`Endpoint::connect`].
#[derive(Debug)]
pub struct Endpoint {
    addresses: Vec<SocketAddr>,
    bound: Option<Vec<Socket>>,
    // Without sockets before [`Endpoint::attach`], or after it failed.
    flows: EndpointFlows,
    control: Arc<Control>,
    shares: Vec<Range<usize>>,
    threads: Vec<LoopThread>,
}

impl Endpoint {
    /// Opens a receiver's sockets: a listener for each 4000 flows of TCP, one per flow for UDP.
    ///
    /// # Errors
    /// An invalid workload, an address that this host lacks, a port in use.
    pub fn bind(spec: &Spec) -> Result<Self> {
        spec.validate()?;
        let (sockets, addresses) = sockets::open(spec)?;
        let mut end = Self::new(Side::Receiver, spec, Vec::new(), Vec::new(), addresses)?;
        end.bound = Some(sockets);
        Ok(end)
    }

    /// Connects a transmitter's flows to the `endpoints` of the receiver. With UDP it sends an
    /// empty datagram.
    ///
    /// # Errors
    /// An invalid workload, endpoints of another workload, or a connection that is not established
    /// within 5 s.
    pub fn connect(spec: &Spec, endpoints: &[SocketAddr]) -> Result<Self> {
        spec.validate()?;
        let (sockets, peers, locals) = sockets::connect(spec, endpoints)?;
        Self::new(Side::Transmitter, spec, sockets, peers, locals)
    }

    fn new(
        side: Side,
        spec: &Spec,
        sockets: Vec<Socket>,
        peers: Vec<SocketAddr>,
        addresses: Vec<SocketAddr>,
    ) -> Result<Self> {
        let flows = EndpointFlows::new(side, spec, sockets, peers)?;
        let threads = threads(&spec.traffic, cpus(&spec.cpus));
        let shares: Vec<Range<usize>> = shares(&spec.traffic, threads).collect();
        let control = Arc::new(Control::new(flows.sockets.len(), shares.len(), &flows.traffic));
        Ok(Self { addresses, bound: None, flows, control, shares, threads: Vec::new() })
    }

    /// The addresses for [`Endpoint::connect`] or [`Endpoint::attach`] of the other end. Those of a
    /// transmitter are of its flows; for `tcp_crr` one for all flows, with port 0.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Attaches a receiver to the flows of the transmitter, identified by their addresses. It
    /// rejects connections from others. With UDP it waits for the empty datagram, at most 1.5 s.
    /// With `tcp_crr` it serves every connection from the address of the transmitter.
    ///
    /// # Errors
    /// Addresses of another workload; TCP flows that do not arrive within 5 s; a second call; a
    /// transmitter.
    pub fn attach(&mut self, locals: &[SocketAddr]) -> Result<()> {
        if self.bound.is_some() {
            sockets::check_locals(&self.flows.spec, locals)?;
        }
        let Some(sockets) = self.bound.take() else {
            return Err(Error::Setup("attach: the peers were attached before".to_owned()));
        };
        let (sockets, peers) = sockets::join(&self.flows.spec, sockets, &self.addresses, locals)?;
        let addresses = std::mem::take(&mut self.addresses);
        *self = Self::new(Side::Receiver, &self.flows.spec.clone(), sockets, peers, addresses)?;
        Ok(())
    }

    /// Starts the threads, pinned in turn. Afterwards a transmitter's traffic flows.
    ///
    /// # Errors
    /// A receiver without attached peers; a thread that cannot be started or pinned (then none
    /// runs); a second start.
    pub fn start(&mut self) -> Result<()> {
        self.check_attached()?;
        if !self.threads.is_empty() {
            return Err(Error::Setup("start: the threads were started before".to_owned()));
        }
        let (readiness, all_ready) = mpsc::channel();
        for thread in 0..self.shares.len() {
            if let Err(error) = self.spawn(thread, readiness.clone()) {
                self.control.fail(error);
                break;
            }
        }
        drop(readiness);
        // The channel ends when the last thread has dropped its end, ready or failed.
        let _ = all_ready.recv();
        let Some(error) = self.control.failure.get().cloned() else {
            self.control.open_gate();
            return Ok(());
        };
        // The threads that started wait at the gate, which `stop` opens.
        self.control.phase.advance(ABORT);
        let _ = self.stop();
        Err(error)
    }

    /// Lends a transmitter's only flow, whose threads are not started, to a borrower who asks a
    /// receiver that has started, as often as he likes. `asleep`: reads sleep until a packet wakes
    /// them; if not, they never sleep.
    ///
    /// # Errors
    /// Traffic of which not each message is answered before the next
    /// ([`crate::Traffic::apart_misfits`]); a receiver.
    pub fn lend<M>(&self, asleep: bool, describe: Describe, borrower: Borrower<'_, M>) -> Result<M> {
        self.check_attached()?;
        let flow = (&self.flows.sockets[0], self.flows.peers[0]);
        exact::lend_asking(&self.flows.traffic, flow, asleep, describe, borrower)
    }

    /// Prepares switching the sockets between these states of the traffic, one turn after another.
    ///
    /// # Errors
    /// A state that is not valid, or differs from this workload in a setting that sockets keep.
    pub fn take_turns(&self, states: Vec<Traffic>) -> Result<SocketSwitches> {
        let spec = &self.flows.spec;
        for state in &states {
            state.validate(Family::from_ipv6(spec.local.is_ipv6()))?;
            if !state.shares_flow_with(&spec.traffic) {
                let why = "the state of a turn differs from its flow in a setting that sockets keep";
                return Err(Error::Setup(why.to_owned()));
            }
        }
        let switches = SocketSwitches::new(&spec.traffic, states);
        let threads = |traffic| threads(traffic, cpus(&spec.cpus));
        if switches.states.iter().any(|state| threads(state) != threads(&spec.traffic)) {
            let why = "one sender or reader needs a thread for each flow, and with another one flows share threads: set `threads` \
                       to the number of `flows`";
            return Err(Error::Setup(why.to_owned()));
        }
        if let (Kind::TcpStream, Some(slowest)) =
            (spec.traffic.kind, switches.states.iter().filter_map(|state| state.pacing).min())
        {
            let mut sending = self.flows.sending();
            sending.try_for_each(|one| socket::await_pace(one, &spec.traffic, slowest))?;
        }
        Ok(switches)
    }

    /// Switches the sockets to a state while they carry traffic, and reads it back.
    ///
    /// # Errors
    /// A socket that refuses it, or reads back another value.
    pub fn switch(&self, switches: &SocketSwitches, state: usize) -> Result<()> {
        let wanted = &switches.states[state];
        if let Some(pace) = wanted.pacing {
            // Senders of datagrams read it before each call, so none needs to leave its loop.
            self.control.pace.store(pace.bits(), Ordering::Relaxed);
        }
        let (sender, reader) = self.control.loop_state().modes;
        let changes = |differ, sends| differ && self.threads_that(sends).next().is_some();
        let reads_otherwise = changes(reader != wanted.reader, false);
        if !reads_otherwise && !changes(sender != wanted.sender, true) {
            return self.flows.switch(switches, state);
        }
        // The sockets are switched while no such thread uses them: its next loop may need an
        // option of theirs. Senders leave at the phase that ends them in order.
        let phase = &self.control.phase;
        self.control.loop_state().held = true;
        let held = phase.hold(QUIET);
        let mut left = self.all_leave(&[true]);
        if left && reads_otherwise {
            phase.hold(ABORT);
            left = self.all_leave(&[true, false]);
        }
        let done =
            if left { self.flows.switch(switches, state) } else { Err(Error::Setup(STAYS.to_owned())) };
        phase.resume(held);
        self.control.release_loops(if left { (wanted.sender, wanted.reader) } else { (sender, reader) });
        done
    }

    /// Reads back whether the sockets still have what a state has.
    ///
    /// # Errors
    /// A socket that reads back another value.
    pub fn check(&self, switches: &SocketSwitches, state: usize) -> Result<()> {
        let mut all = self.flows.sockets.iter().enumerate();
        all.try_for_each(|(flow, one)| switches.check(one, self.flows.sends(flow), state))
    }

    /// Moves on to `phase`. Ignores a step back, and a step before the peers are attached.
    pub fn set_phase(&self, phase: Phase) {
        self.control.phase.advance(phase as u8);
    }

    /// Reads all counters, without disturbing the threads.
    pub fn sample(&self) -> Sample {
        let before = sys::now();
        let flows: Vec<Counts> = self.control.counters.iter().map(|counters| counters.read()).collect();
        // The counters are read one after the other: their middle errs least.
        let at_ns = before + (sys::now() - before) / 2;
        self.flows.sample(flows, at_ns)
    }

    /// The kernel's ids of the running threads, in the order of their flows: for `/proc/self/task`.
    pub fn threads(&self) -> Vec<u32> {
        let ids = self.control.threads.iter().map(|id| id.load(Ordering::Relaxed));
        ids.filter(|id| *id != 0).collect()
    }

    /// The first error that ended a thread early.
    pub fn failed(&self) -> Option<&Error> {
        self.control.failure.get()
    }

    /// Ends this end's sending threads, and waits, in bounded time, until sent data have left.
    pub fn quiet(&self) {
        self.control.phase.advance(QUIET);
        self.control.open_gate();
        self.flows.end_sending();
        wait_until(DRAIN, || self.threads_that(true).all(JoinHandle::is_finished));
        // A socket that cannot tell is not waited for.
        let is_empty = |one| socket::unsent_to_a_peer(one).unwrap_or(0) == 0;
        wait_until(DRAIN, || self.flows.sending().all(is_empty));
    }

    /// Receives queued data, joins the threads, and lets queues empty, all in bounded time.
    ///
    /// # Errors
    /// No attached peers, the error of [`Endpoint::failed`], or a thread that does not end.
    pub fn finish(mut self) -> Result<EndOutcome> {
        self.check_attached()?;
        self.quiet();
        let ends = self.stop()?;
        if let Some(error) = self.control.failure.get() {
            return Err(error.clone());
        }
        // After the last thread: no counter moves any more.
        let counts = self.sample();
        account::draw_up(&mut self.flows, &self.shares, ends, counts)
    }

    fn check_attached(&self) -> Result<()> {
        if self.flows.sockets.is_empty() {
            return Err(Error::Setup("a receiver's start or finish: attach its peers first".to_owned()));
        }
        Ok(())
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        if !self.threads.is_empty() {
            // Nobody wants an account, so queued data are not waited for.
            self.control.phase.advance(ABORT);
            self.flows.shut(Shutdown::Both);
            let _ = self.stop();
        }
    }
}

#[cfg(test)]
mod tests {
    use words::Kind;

    use super::*;

    #[test]
    fn sockets_are_switched_to_states_that_share_their_flow_and_to_no_others() {
        let own = Traffic { dscp: Some(8), ..Traffic::new(Kind::UdpStream) };
        let local = "127.0.0.1".parse().unwrap();
        let spec = Spec { traffic: own.clone(), local, cpus: vec![], interface: None };
        let end = Endpoint::connect(&spec, &["127.0.0.1:9".parse().unwrap()]).unwrap();
        let other = Traffic { dscp: Some(46), checksum: false, ..own.clone() };
        let switches = end.take_turns(vec![own.clone(), other.clone()]).unwrap();
        for (state, another) in [(1, 0), (0, 1)] {
            end.switch(&switches, state).unwrap();
            assert_eq!(end.check(&switches, state), Ok(()));
            assert!(end.check(&switches, another).is_err());
        }
        for (hostile, why) in [
            (Traffic { message: 7, ..other.clone() }, "differs from its flow in a setting that sockets keep"),
            (Traffic { dscp: None, ..other.clone() }, "differs from its flow in a setting that sockets keep"),
            (Traffic { dscp: Some(64), ..other.clone() }, "`dscp`"),
            (Traffic { flows: u32::MAX, ..other }, "`flows`"),
        ] {
            let refused = end.take_turns(vec![own.clone(), hostile]).unwrap_err().to_string();
            assert!(refused.contains(why), "{refused}");
        }
    }
}
