//! The sending end.

use std::net::SocketAddr;

use socket2::Socket;
use words::Kind;

use crate::engine::{Outcome, Role, Team};
use crate::error::{Errno, Error, Result};
use crate::lane::{Phase, Sample};
use crate::socket;
use crate::spec::Spec;
use crate::sys;

/// The end that sends, or asks.
#[derive(Debug)]
pub struct Transmitter {
    team: Team,
    locals: Vec<SocketAddr>,
}

impl Transmitter {
    /// Connects every flow to the receiver's `endpoints`: TCP flows 4000 to each, UDP flows each to its own. (Datagrams that
    /// are to carry their destination are sent from sockets that stay unconnected. The flows of `tcp_crr` connect when they have
    /// started.)
    ///
    /// # Errors
    /// A workload that cannot be had, endpoints that do not fit it, or a connection that does not come about in 5 s.
    pub fn connect(spec: &Spec, endpoints: &[SocketAddr]) -> Result<Self> {
        spec.validate()?;
        check_endpoints(spec, endpoints)?;
        sys::make_room_for_descriptors(spec.traffic.lanes().into());
        let mut sockets = Vec::with_capacity(spec.traffic.lanes() as usize);
        let mut locals = Vec::with_capacity(spec.traffic.lanes() as usize);
        let mut peers = Vec::with_capacity(spec.traffic.lanes() as usize);
        for flow in 0..spec.traffic.lanes() as usize {
            let peer = endpoints[spec.traffic.endpoint_of(flow)];
            let socket = socket::open(&spec.traffic, spec.local, socket::flow(flow))?;
            let local = SocketAddr::new(spec.local, 0);
            if spec.traffic.kind == Kind::TcpCrr {
                // It only stands for its flow, and takes no port. The flow's connections all come from this address.
                socket::bind_later(&socket, local, socket::flow(flow))?;
            } else {
                if endpoints.len() > 1 && !spec.traffic.kind.is_udp() {
                    socket::bind_later(&socket, local, socket::flow(flow))?;
                } else {
                    socket::bind(&socket, local, socket::flow(flow))?;
                }
                if spec.traffic.connects(spec.traffic.is_forward(flow)) {
                    connect(&socket, flow, peer)?;
                }
                locals.push(socket::local_address(&socket)?);
            }
            sockets.push(socket);
            peers.push(peer);
        }
        if spec.traffic.kind == Kind::TcpCrr {
            locals.push(SocketAddr::new(spec.local, 0));
        }
        let team = Team::new(Role::Transmitter, spec.clone(), sockets, peers)?;
        Ok(Self { team, locals })
    }

    /// This end's address of each flow, for [`crate::Receiver::attach`]; for `tcp_crr` the one that all flows have, with
    /// port 0.
    #[must_use]
    pub fn locals(&self) -> &[SocketAddr] {
        &self.locals
    }

    /// Starts the threads, pinned to the workload's CPUs in turn. Traffic flows when this returns.
    ///
    /// # Errors
    /// A thread that cannot be started or pinned; then none runs. A second start.
    pub fn start(&mut self) -> Result<()> {
        self.team.start()
    }

    /// Moves on to `phase`. A step back is ignored.
    pub fn set_phase(&self, phase: Phase) {
        self.team.set_phase(phase);
    }

    /// Reads all counters. The threads do not notice.
    #[must_use]
    pub fn sample(&self) -> Sample {
        self.team.sample()
    }

    /// The kernel's ids of the running threads, in the order of their flows: for `/proc/self/task`.
    #[must_use]
    pub fn threads(&self) -> Vec<u32> {
        self.team.threads()
    }

    /// The first error that ended a thread early.
    #[must_use]
    pub fn failed(&self) -> Option<&Error> {
        self.team.failed()
    }

    /// Ends the threads that send at this end, and waits, in bounded time, until what was sent has left this host. Threads that
    /// receive go on.
    pub fn quiet(&self) {
        self.team.quiet();
    }

    /// Stops and joins the threads and waits for this host's queues to empty, both in bounded time.
    ///
    /// # Errors
    /// What [`Transmitter::failed`] knows, or a thread that does not end.
    pub fn finish(self) -> Result<Outcome> {
        self.team.finish()
    }
}

fn check_endpoints(spec: &Spec, endpoints: &[SocketAddr]) -> Result<()> {
    let mismatch = |got: String, wanted: String| Err(Error::Mismatch { peer: "receiver", got, wanted });
    let wanted = spec.traffic.endpoints() as usize;
    if endpoints.len() != wanted {
        let flows = spec.traffic.lanes();
        return mismatch(
            format!("{} endpoints", endpoints.len()),
            format!("{flows} flows of {} need {wanted}", spec.traffic.kind),
        );
    }
    for endpoint in endpoints {
        if endpoint.is_ipv4() != spec.local.is_ipv4() {
            return mismatch(endpoint.to_string(), format!("this end's address is {}", spec.local));
        }
        if endpoint.port() == 0 || endpoint.ip().is_unspecified() || endpoint.ip().is_multicast() {
            return mismatch(endpoint.to_string(), "an address and a port of one host are needed".to_owned());
        }
    }
    Ok(())
}

fn connect(socket: &Socket, flow: usize, peer: SocketAddr) -> Result<()> {
    let flow = u32::try_from(flow).unwrap_or(u32::MAX);
    socket.connect_timeout(&peer.into(), socket::CONNECT).map_err(|e| match Errno::of(&e) {
        Errno(libc::EADDRNOTAVAIL) => Error::NoPort { flow, peer },
        errno => Error::Flow { flow, call: "connect", peer, errno },
    })
}
