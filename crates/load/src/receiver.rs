//! The receiving end.

use std::collections::HashMap;
use std::net::{SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use socket2::Socket;
use words::{Kind, LISTENER, Reader, Traffic};

use crate::counts::Sample;
use crate::error::{Error, Result};
use crate::options;
use crate::outcome::Outcome;
use crate::phase::Phase;
use crate::socket;
use crate::spec::Spec;
use crate::sys;
use crate::team::{Role, Team};

/// Connections that may wait beyond one per flow, so that a few other processes cannot keep the flows out.
const SPARE_BACKLOG: i32 = 64;

/// The end that receives, or answers.
#[derive(Debug)]
pub struct Receiver {
    spec: Spec,
    endpoints: Vec<SocketAddr>,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    /// Open to be connected to: listeners, or one UDP socket per flow.
    Bound(Vec<Socket>),
    Attached(Box<Team>),
    /// `attach` failed, and the sockets are gone.
    Spent,
}

impl Receiver {
    /// Opens the sockets: a listener for each 4000 flows of TCP, one socket per flow for UDP.
    ///
    /// # Errors
    /// A workload that cannot be had, an address that this host lacks, a port in use.
    pub fn bind(spec: &Spec) -> Result<Self> {
        spec.validate()?;
        sys::make_room_for_descriptors(spec.traffic.lanes().into());
        let count = spec.traffic.endpoints();
        let mut sockets = Vec::with_capacity(count as usize);
        let mut endpoints = Vec::with_capacity(count as usize);
        for flow in 0..count {
            // `validate` has seen to it that the last port exists.
            let port = spec.traffic.port.map_or(0, |first| first.saturating_add(flow as u16));
            let local = SocketAddr::new(spec.local, port);
            let (socket, endpoint) = if spec.traffic.kind.is_udp() {
                let what = socket::flow(flow as usize);
                let socket = socket::open(&spec.traffic, spec.local, &what)?;
                let endpoint = socket::bind(&socket, local, &what)?;
                (socket, endpoint)
            } else {
                listen(spec, local)?
            };
            sockets.push(socket);
            endpoints.push(endpoint);
        }
        Ok(Self { spec: spec.clone(), endpoints, stage: Stage::Bound(sockets) })
    }

    /// Where the transmitter must connect to: one address for each 4000 flows of TCP, one per flow for UDP.
    #[must_use]
    pub fn endpoints(&self) -> &[SocketAddr] {
        &self.endpoints
    }

    /// Takes the transmitter's flows, known by their addresses, and refuses everybody else. What strangers may have
    /// sent to a UDP socket before is thrown away. With `tcp_crr` everybody at the transmitter's address is served.
    ///
    /// # Errors
    /// Addresses that do not fit the workload; TCP flows that do not arrive within 5 s; a second call.
    pub fn attach(&mut self, locals: &[SocketAddr]) -> Result<()> {
        check_locals(&self.spec, locals)?;
        let sockets = match &mut self.stage {
            Stage::Bound(sockets) => std::mem::take(sockets),
            Stage::Attached(_) | Stage::Spent => {
                return Err(Error::Order { step: "attach", instead: "the peers were attached before" });
            }
        };
        self.stage = Stage::Spent;
        let mut peers = locals.to_vec();
        let sockets = if self.spec.traffic.kind == Kind::TcpCrr {
            peers = vec![locals[0]; self.spec.traffic.lanes() as usize];
            share(&sockets[0], &self.spec.traffic)?
        } else if self.spec.traffic.kind.is_udp() {
            for (flow, (one, peer)) in sockets.iter().zip(locals).enumerate() {
                if self.spec.traffic.connects(!self.spec.traffic.is_forward(flow)) {
                    one.connect(&(*peer).into())
                        .map_err(|e| Error::setup("connect", socket::flow(flow), &e))?;
                }
                empty(one);
            }
            sockets
        } else {
            // The listeners close here: nobody else gets in.
            let parts = locals.chunks(LISTENER as usize).zip(sockets.iter().zip(&self.endpoints));
            let mut flows = Vec::with_capacity(locals.len());
            for (locals, (listener, endpoint)) in parts {
                flows.extend(accept(listener, *endpoint, locals)?);
            }
            if let Some(dscp) = self.spec.traffic.dscp {
                flows.iter().try_for_each(|one| options::prioritize(one, self.spec.local, dscp))?;
            }
            flows
        };
        let team = Team::new(Role::Receiver, self.spec.clone(), sockets, peers)?;
        self.stage = Stage::Attached(Box::new(team));
        Ok(())
    }

    /// Starts the threads, pinned to the workload's CPUs in turn.
    ///
    /// # Errors
    /// No peers attached; a thread that cannot be started or pinned; then none runs. A second start.
    pub fn start(&mut self) -> Result<()> {
        match &mut self.stage {
            Stage::Attached(team) => team.start(),
            Stage::Bound(_) | Stage::Spent => Err(NOT_ATTACHED),
        }
    }

    /// Moves on to `phase`. A step back is ignored, and so is a step before the peers are attached.
    pub fn set_phase(&self, phase: Phase) {
        if let Some(team) = self.team() {
            team.set_phase(phase);
        }
    }

    /// Reads all counters. The threads do not notice.
    #[must_use]
    pub fn sample(&self) -> Sample {
        self.team().map_or_else(Sample::default, Team::sample)
    }

    /// The kernel's ids of the running threads, in the order of their flows: for `/proc/self/task`.
    #[must_use]
    pub fn threads(&self) -> Vec<u32> {
        self.team().map_or_else(Vec::new, Team::threads)
    }

    /// The first error that ended a thread early.
    #[must_use]
    pub fn failed(&self) -> Option<&Error> {
        self.team().and_then(Team::failed)
    }

    /// Ends the threads that send at this end, and waits, in bounded time, until what was sent has left this host. Threads that
    /// receive go on.
    pub fn quiet(&self) {
        if let Some(team) = self.team() {
            team.quiet();
        }
    }

    /// Takes what is still queued, stops and joins the threads, all in bounded time.
    ///
    /// # Errors
    /// No peers attached, what [`Receiver::failed`] knows, or a thread that does not end.
    pub fn finish(self) -> Result<Outcome> {
        match self.stage {
            Stage::Attached(team) => team.finish(),
            Stage::Bound(_) | Stage::Spent => Err(NOT_ATTACHED),
        }
    }

    fn team(&self) -> Option<&Team> {
        match &self.stage {
            Stage::Attached(team) => Some(team),
            Stage::Bound(_) | Stage::Spent => None,
        }
    }
}

const NOT_ATTACHED: Error =
    Error::Order { step: "a receiver's start or finish", instead: "attach its peers first" };

fn listen(spec: &Spec, local: SocketAddr) -> Result<(Socket, SocketAddr)> {
    const WHAT: &str = "the listener";
    let socket = socket::open(&spec.traffic, spec.local, WHAT)?;
    // Connections of an earlier run that still linger must not keep a fixed port.
    socket.set_reuse_address(true).map_err(|e| Error::setup("setsockopt SO_REUSEADDR", WHAT, &e))?;
    let endpoint = socket::bind(&socket, local, WHAT)?;
    let backlog = i32::try_from(spec.traffic.lanes().min(LISTENER)).unwrap_or(i32::MAX);
    socket
        .listen(backlog.saturating_add(SPARE_BACKLOG))
        .map_err(|e| socket::in_use_or("listen", local, WHAT, &e))?;
    socket.set_nonblocking(true).map_err(|e| Error::setup("fcntl O_NONBLOCK", WHAT, &e))?;
    Ok((socket, endpoint))
}

/// The listener once for each thread, all of one queue. It stays, and threads that spin do not wait at it.
fn share(listener: &Socket, traffic: &Traffic) -> Result<Vec<Socket>> {
    const WHAT: &str = "the listener";
    let spins = traffic.reader == Reader::Spin;
    listener.set_nonblocking(spins).map_err(|e| Error::setup("fcntl O_NONBLOCK", WHAT, &e))?;
    let clones = (0..traffic.lanes()).map(|_| listener.try_clone());
    clones.collect::<std::io::Result<_>>().map_err(|e| Error::setup("fcntl F_DUPFD", WHAT, &e))
}

/// Accepts until every one of `locals` has come, in whatever order, each into its flow's place.
fn accept(listener: &Socket, endpoint: SocketAddr, locals: &[SocketAddr]) -> Result<Vec<Socket>> {
    let deadline = Instant::now() + socket::CONNECT;
    // An IPv6 address also carries a flow label, which is no part of it.
    let places: HashMap<_, _> =
        locals.iter().enumerate().map(|(at, one)| ((one.ip(), one.port()), at)).collect();
    let mut flows: Vec<Option<Socket>> = locals.iter().map(|_| None).collect();
    let (mut got, mut rejected) = (0, 0);
    while got < locals.len() {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            let (wanted, seconds) = (locals.len(), socket::CONNECT.as_secs());
            return Err(Error::Missing { got, wanted, rejected, endpoint, seconds });
        }
        match listener.accept() {
            Ok((socket, peer)) => {
                let peer = peer.as_socket();
                let flow = peer.and_then(|peer| places.get(&(peer.ip(), peer.port())));
                match flow.map(|flow| &mut flows[*flow]) {
                    Some(place @ None) => {
                        *place = Some(socket);
                        got += 1;
                    }
                    _ => {
                        // Closing with a reset tells a stranger at once.
                        let _ = socket.set_linger(Some(Duration::ZERO));
                        rejected += 1;
                    }
                }
            }
            Err(e) if e.raw_os_error() == Some(libc::EAGAIN) => {
                // A wait cut short by a signal is simply begun again.
                sys::wait_readable(listener.as_raw_fd(), left + Duration::from_millis(1));
            }
            // A connection that was reset while it waited is nobody's.
            Err(e) if matches!(e.raw_os_error(), Some(libc::EINTR | libc::ECONNABORTED)) => {}
            Err(e) => return Err(Error::setup("accept", "the listener", &e)),
        }
    }
    Ok(flows.into_iter().flatten().collect())
}

/// Throws away what a socket received before it was connected. Only its peer, which has not started, can add to it.
fn empty(socket: &Socket) {
    let mut room = [0u8; 16];
    while sys::receive(socket.as_raw_fd(), &mut room, libc::MSG_DONTWAIT) >= 0 {}
}

fn check_locals(spec: &Spec, locals: &[SocketAddr]) -> Result<()> {
    let mismatch = |got: String, wanted: String| Err(Error::Mismatch { peer: "transmitter", got, wanted });
    let lanes = spec.traffic.lanes();
    if spec.traffic.kind == Kind::TcpCrr && locals.len() != 1 {
        return mismatch(format!("{} addresses", locals.len()), "all connections come from one".to_owned());
    }
    if spec.traffic.kind != Kind::TcpCrr && locals.len() != lanes as usize {
        return mismatch(format!("{} addresses", locals.len()), format!("there are {lanes} flows"));
    }
    if let Some(other) = locals.iter().find(|local| local.is_ipv4() != spec.local.is_ipv4()) {
        return mismatch(other.to_string(), format!("this end's address is {}", spec.local));
    }
    let bare = |address: &SocketAddr| match address {
        SocketAddr::V4(v4) => SocketAddr::V4(SocketAddrV4::new(*v4.ip(), v4.port())),
        SocketAddr::V6(v6) => SocketAddr::V6(SocketAddrV6::new(*v6.ip(), v6.port(), 0, 0)),
    };
    // To another port one may connect from the same address again.
    let mut seen: Vec<(usize, SocketAddr)> =
        locals.iter().enumerate().map(|(at, local)| (spec.traffic.endpoint_of(at), bare(local))).collect();
    if spec.traffic.kind.is_udp() {
        seen.iter_mut().for_each(|(endpoint, _)| *endpoint = 0);
    }
    seen.sort_unstable();
    if let Some([(_, twice), _]) = seen.windows(2).find(|pair| pair[0] == pair[1]) {
        return mismatch(format!("{twice} twice"), "every flow has an address of its own".to_owned());
    }
    Ok(())
}
