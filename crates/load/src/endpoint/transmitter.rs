//! The sockets of the sending (or asking) end: opened and connected.

use std::net::SocketAddr;

use socket2::Socket;
use words::Kind;

use super::greeting;
use crate::error::{Errno, Error, Result};
use crate::socket;
use crate::spec::Spec;
use crate::sys;

#[derive(Default)]
pub(super) struct Connected {
    pub(super) sockets: Vec<Socket>,
    pub(super) peers: Vec<SocketAddr>,
    /// This end's address of each flow; for `tcp_crr` one for all flows, with port 0.
    pub(super) locals: Vec<SocketAddr>,
}

/// Connects every flow to the receiver's `endpoints`: 4000 TCP flows to each, each UDP flow to its
/// own. (Sockets of datagrams with a destination stay unconnected. The flows of `tcp_crr` connect
/// once they have started.)
pub(super) fn connect(spec: &Spec, endpoints: &[SocketAddr]) -> Result<Connected> {
    check_endpoints(spec, endpoints)?;
    sys::make_room_for_descriptors(spec.traffic.lanes().into());
    let mut connected = Connected::default();
    for flow in 0..spec.traffic.lanes() as usize {
        let peer = endpoints[spec.traffic.endpoint_of(flow)];
        let socket = socket::open(&spec.traffic, spec.local, socket::flow(flow))?;
        socket::keep_to(&socket, spec.interface.as_deref(), socket::flow(flow))?;
        let local = SocketAddr::new(spec.local, 0);
        if spec.traffic.kind == Kind::TcpCrr {
            // A placeholder of its flow, without a port. The flow's connections come from this
            // address.
            socket::bind_later(&socket, local, socket::flow(flow))?;
        } else {
            if endpoints.len() > 1 && !spec.traffic.kind.is_udp() {
                socket::bind_later(&socket, local, socket::flow(flow))?;
            } else {
                socket::bind(&socket, local, socket::flow(flow))?;
            }
            if spec.traffic.connects(spec.traffic.is_forward(flow)) {
                connect_flow(&socket, flow, peer)?;
            }
            connected.locals.push(socket::local_address(&socket)?);
        }
        connected.sockets.push(socket);
        connected.peers.push(peer);
    }
    if spec.traffic.kind == Kind::TcpCrr {
        connected.locals.push(SocketAddr::new(spec.local, 0));
    }
    if spec.traffic.kind.is_udp() && spec.traffic.kind.is_received() {
        // All flows have the same two hosts.
        greeting::send(&connected.sockets[0], connected.peers[0]);
    }
    Ok(connected)
}

fn check_endpoints(spec: &Spec, endpoints: &[SocketAddr]) -> Result<()> {
    let mismatch = |got: String, wanted: String| Err(Error::mismatch("receiver", got, wanted));
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

fn connect_flow(socket: &Socket, flow: usize, peer: SocketAddr) -> Result<()> {
    socket.connect_timeout(&peer.into(), socket::CONNECT).map_err(|e| match Errno::from_error(&e) {
        Errno(libc::EADDRNOTAVAIL) => Error::no_port(flow, peer),
        errno => Error::call(flow, "connect", peer, errno),
    })
}
