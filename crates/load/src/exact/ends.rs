//! The sockets of both ends, in one hand.

use std::net::SocketAddr;
use std::time::Duration;

use socket2::Socket;

use crate::applied::Applied;
use crate::error::{Errno, Error, Result};
use crate::kind::Kind;
use crate::spec::Spec;
use crate::traffic::Traffic;
use crate::{options, socket};

/// How long a message may be on its way: it is there when its sending returns, or hangs on one timer of the kernel's.
const LOST: Duration = Duration::from_secs(5);

/// The ports where the workload names none: chosen by the kernel they would differ from run to run, and with them where sockets
/// are found. Both are below those that the kernel chooses for others.
const PORTS: [u16; 2] = [5471, 5472];

/// The buffers of TCP's sockets in bytes where the workload names none. The kernel sizes them by how long round trips take, which is
/// a question of when its timer ticks, and what it sends back depends on them.
const BUFFER: u32 = 1 << 20;

/// The workload with sockets that stay as they are.
fn steady(traffic: &Traffic) -> Traffic {
    let sized = !traffic.kind.is_udp() && traffic.socket_buffer.is_none();
    let socket_buffer = if sized { Some(BUFFER) } else { traffic.socket_buffer };
    Traffic { socket_buffer, ..traffic.clone() }
}

/// The socket of the end that receives. It stays in the network namespace of the thread that opened it, whichever thread uses it.
#[derive(Debug)]
pub struct Taker {
    socket: Socket,
    address: SocketAddr,
}

impl Taker {
    /// Opens it in the network namespace of the calling thread.
    ///
    /// # Errors
    /// A workload or an address that cannot be had.
    pub fn open(spec: &Spec) -> Result<Self> {
        spec.validate()?;
        super::check(&spec.traffic)?;
        let what = "the receiving end";
        let socket = socket::open(&steady(&spec.traffic), spec.local, what)?;
        let local = SocketAddr::new(spec.local, spec.traffic.port.unwrap_or(PORTS[0]));
        let address = socket::bind(&socket, local, what)?;
        if !spec.traffic.kind.is_udp() {
            socket.listen(1).map_err(|e| Error::setup("listen", what, &e))?;
        }
        Ok(Self { socket, address })
    }
}

/// Both sockets, connected with each other; the second only where somebody takes.
#[derive(Debug)]
pub(super) struct Ends {
    pub(super) source: Socket,
    pub(super) sink: Option<Socket>,
    pub(super) peer: SocketAddr,
    /// What they read back, the sending one first.
    pub(super) applied: Vec<Applied>,
}

impl Ends {
    pub(super) fn connect(spec: &Spec, taker: Option<Taker>, nobody: Option<SocketAddr>) -> Result<Self> {
        spec.validate()?;
        let what = "the sending end";
        let steady = steady(&spec.traffic);
        let source = socket::open(&steady, spec.local, what)?;
        let local = socket::bind(&source, SocketAddr::new(spec.local, PORTS[1]), what)?;
        prepare(&source, &spec.traffic, what)?;
        let Some(peer) = taker.as_ref().map(|taker| taker.address).or(nobody) else {
            return Err(Error::Mismatch {
                peer: "receiver",
                got: "no address".to_owned(),
                wanted: "somebody has to take the messages".to_owned(),
            });
        };
        source.connect_timeout(&peer.into(), socket::CONNECT).map_err(|e| flow("connect", peer, &e))?;
        let sink = taker.map(|taker| taker.join(&steady, local)).transpose()?;
        let mut applied = Vec::new();
        for one in [Some(&source), sink.as_ref()].into_iter().flatten() {
            applied.push(Applied::read_as_asked(one, &steady)?);
        }
        Ok(Self { source, sink, peer, applied })
    }
}

impl Taker {
    /// Connected with the sender at `from`.
    fn join(self, traffic: &Traffic, from: SocketAddr) -> Result<Socket> {
        let what = "the receiving end";
        let socket = if traffic.kind.is_udp() {
            self.socket.connect(&from.into()).map_err(|e| flow("connect", from, &e))?;
            self.socket
        } else {
            let accepted = self.socket.accept().map_err(|e| flow("accept", from, &e))?.0;
            if let Some(dscp) = traffic.dscp {
                options::prioritize(&accepted, self.address.ip(), dscp)?;
            }
            accepted
        };
        prepare(&socket, traffic, what)?;
        Ok(socket)
    }
}

fn prepare(socket: &Socket, traffic: &Traffic, what: &str) -> Result<()> {
    // As the sending end of a workload, whichever it is.
    if traffic.kind != Kind::Pps {
        socket::give_role(socket, traffic, true, what)?;
    }
    if !traffic.kind.is_udp() {
        // Torn down at once: a connection that lingers would keep the next run's from having the same ports.
        socket
            .set_linger(Some(Duration::ZERO))
            .map_err(|e| Error::setup("setsockopt SO_LINGER", what, &e))?;
    }
    socket.set_read_timeout(Some(LOST)).map_err(|e| Error::setup("setsockopt SO_RCVTIMEO", what, &e))
}

pub(super) fn flow(call: &'static str, peer: SocketAddr, error: &std::io::Error) -> Error {
    Error::Flow { flow: 0, call, peer, errno: Errno::of(error) }
}
