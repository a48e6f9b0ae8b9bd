//! One end of a workload, from its sockets' opening to its account.


use std::net::SocketAddr;

use socket2::Socket;
use words::{Family, Side, Traffic};

use crate::engine::{EndOutcome, Team};
use crate::error::{Error, Result};
use crate::exact::{self, Describe, Repeat};
use crate::lane::{Phase, Sample};
use crate::socket::SocketSwitches;
use crate::spec::Spec;

/// One end: the receiving (or answering) one from [`Endpoint::bind`], the sending (or asking) one
/// from [`Endpoint::connect`].
#[derive(Debug)]
pub struct Endpoint {
    spec: Spec,
    addresses: Vec<SocketAddr>,
    /// A receiver's sockets before its peers are attached: its listeners, or one UDP socket per
    /// flow.
    bound: Option<Vec<Socket>>,
    /// `None` before [`Endpoint::attach`], or after it failed.
    team: Option<Box<Team>>,
}

impl Endpoint {
    /// Opens a receiver's sockets: a listener for each 4000 flows of TCP, one socket per flow for
    /// UDP.
    ///
    /// # Errors
    /// An invalid workload, an address that this host lacks, a port in use.
    pub fn bind(spec: &Spec) -> Result<Self> {
        spec.validate()?;
        let (sockets, addresses) = sockets::open(spec)?;
        Ok(Self { spec: spec.clone(), addresses, bound: Some(sockets), team: None })
    }

    /// Connects a transmitter's flows to the `endpoints` of the receiver. With UDP it sends an
    /// empty datagram, so that the kernel looks up the receiver's address before the workload
    /// begins.
    ///
    /// # Errors
    /// An invalid workload, endpoints of another workload, or a connection that is not established
    /// within 5 s.
    pub fn connect(spec: &Spec, endpoints: &[SocketAddr]) -> Result<Self> {
        spec.validate()?;
        let sockets::Connected { sockets, peers, locals } = sockets::connect(spec, endpoints)?;
        let team = Team::new(Side::Transmitter, spec.clone(), sockets, peers)?;
        Ok(Self { spec: spec.clone(), addresses: locals, bound: None, team: Some(Box::new(team)) })
    }

    /// The addresses for the other end. Of a receiver: those for [`Endpoint::connect`], one for
    /// each 4000 flows of TCP, one per flow for UDP. Of a transmitter: the address of each flow,
    /// for [`Endpoint::attach`]; for `tcp_crr` one for all flows, with port 0.
    #[must_use]
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Attaches a receiver to the transmitter's flows, which are identified by their addresses. It
    /// rejects connections from other addresses. With UDP it waits for the transmitter's empty
    /// datagram, but not longer than 1.5 s, and discards what its sockets received before. With
    /// `tcp_crr` it serves every connection from the transmitter's address.
    ///
    /// # Errors
    /// Addresses of another workload; TCP flows that do not arrive within 5 s; a second call; a
    /// transmitter.
    pub fn attach(&mut self, locals: &[SocketAddr]) -> Result<()> {
        if self.bound.is_some() {
            sockets::check_locals(&self.spec, locals)?;
        }
        let Some(sockets) = self.bound.take() else {
            return Err(Error::Order { step: "attach", instead: "the peers were attached before" });
        };
        let (sockets, peers) = sockets::join(&self.spec, sockets, &self.addresses, locals)?;
        self.team = Some(Box::new(Team::new(Side::Receiver, self.spec.clone(), sockets, peers)?));
        Ok(())
    }

    /// Starts the threads, pinned to the workload's CPUs in turn. When this returns, a
    /// transmitter's traffic flows.
    ///
    /// # Errors
    /// A receiver without attached peers; a thread that cannot be started or pinned (then none
    /// runs); a second start.
    pub fn start(&mut self) -> Result<()> {
        self.team.as_mut().ok_or(NOT_ATTACHED)?.start()
    }

    /// Lends a transmitter's only flow, whose threads are not started, to a borrower who asks and
    /// takes the answers of a receiver that has started, as often as he likes. `asleep`: reads
    /// sleep until a packet wakes them; if not, they never sleep. `describe` is called by the
    /// thread that asks.
    ///
    /// # Errors
    /// Traffic of which not each message is answered before the next
    /// ([`crate::Traffic::apart_misfits`]); a receiver.
    pub fn lend<M>(
        &self,
        asleep: bool,
        describe: Describe,
        borrower: &mut dyn FnMut(&mut dyn Repeat) -> M,
    ) -> Result<M> {
        let flow = self.team.as_ref().ok_or(NOT_ATTACHED)?.only_flow();
        exact::lend_asking(&self.spec.traffic, flow, asleep, describe, borrower)
    }

    /// Makes the sockets ready to be given in turn what each of these states has.
    ///
    /// # Errors
    /// States that differ from this workload in more than that; a receiver without attached peers.
    pub fn take_turns(&self, states: Vec<Traffic>) -> Result<SocketSwitches> {
        for state in &states {
            state.validate(Family::from_ipv6(self.spec.local.is_ipv6()))?;
            if !state.shares_flow_with(&self.spec.traffic) {
                return Err(Error::Setup(
                    "the state of a turn differs from its flow in what sockets keep".to_owned(),
                ));
            }
        }
        let switches = SocketSwitches::new(&self.spec.traffic, states);
        self.team.as_ref().ok_or(NOT_ATTACHED)?.prepare(&switches)?;
        Ok(switches)
    }

    /// SocketSwitches the sockets to a state while they carry traffic, and reads it back.
    ///
    /// # Errors
    /// A socket that refuses it, or reads back another value.
    pub fn switch(&self, switches: &SocketSwitches, state: usize) -> Result<()> {
        self.team.as_ref().ok_or(NOT_ATTACHED)?.switch(switches, state)
    }

    /// Reads back whether the sockets still have what a state has.
    ///
    /// # Errors
    /// A socket that reads back another value.
    pub fn check(&self, switches: &SocketSwitches, state: usize) -> Result<()> {
        self.team.as_ref().ok_or(NOT_ATTACHED)?.check(switches, state)
    }

    /// Moves on to `phase`. Ignores a step back, and a step before the peers are attached.
    pub fn set_phase(&self, phase: Phase) {
        if let Some(team) = &self.team {
            team.set_phase(phase);
        }
    }

    /// Reads all counters, without disturbing the threads.
    #[must_use]
    pub fn sample(&self) -> Sample {
        self.team.as_ref().map_or_else(Sample::default, |team| team.sample())
    }

    /// The kernel's ids of the running threads, in the order of their flows: for `/proc/self/task`.
    #[must_use]
    pub fn threads(&self) -> Vec<u32> {
        self.team.as_ref().map_or_else(Vec::new, |team| team.threads())
    }

    /// The first error that ended a thread early.
    #[must_use]
    pub fn failed(&self) -> Option<&Error> {
        self.team.as_ref().and_then(|team| team.failed())
    }

    /// Ends the sending threads of this end, and waits, in bounded time, until sent data have left
    /// this host. Receiving threads continue.
    pub fn quiet(&self) {
        if let Some(team) = &self.team {
            team.quiet();
        }
    }

    /// Receives queued data, stops and joins the threads, and waits for this host's queues to
    /// empty, all in bounded time.
    ///
    /// # Errors
    /// A receiver without attached peers, the error of [`Endpoint::failed`], or a thread that does
    /// not end.
    pub fn finish(self) -> Result<EndOutcome> {
        self.team.ok_or(NOT_ATTACHED)?.finish()
    }
}

const NOT_ATTACHED: Error =
    Error::Order { step: "a receiver's start or finish", instead: "attach its peers first" };

#[cfg(test)]
pub(crate) mod sockets;
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
            (Traffic { message: 7, ..other.clone() }, "differs from its flow in what sockets keep"),
            (Traffic { dscp: None, ..other.clone() }, "differs from its flow in what sockets keep"),
            (Traffic { dscp: Some(64), ..other.clone() }, "`dscp`"),
            (Traffic { flows: u32::MAX, ..other }, "`flows`"),
        ] {
            let refused = end.take_turns(vec![own.clone(), hostile]).unwrap_err().to_string();
            assert!(refused.contains(why), "{refused}");
        }
    }
}
