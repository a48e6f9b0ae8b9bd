//! The sockets of either end: opened, and connected with their peers.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use socket2::Socket;
use words::{Kind, LISTENER, Reader};

use crate::error::{Context, Error, Result, errno_of};
use crate::socket;
use crate::spec::Spec;
use crate::sys;

// Waiting connections beyond one per flow, so that a few other processes cannot block the flows.
const SPARE_BACKLOG: i32 = 64;

/// A listener for each 4000 flows of TCP, a socket per flow for UDP, and their addresses.
pub(super) fn open(spec: &Spec) -> Result<(Vec<Socket>, Vec<SocketAddr>)> {
    // Each flow is an open file.
    sys::make_room_for_descriptors(spec.traffic.lanes().into());
    let opened = (0..spec.traffic.endpoints()).map(|flow| {
        // `validate` has checked that the last port exists.
        let port = spec.traffic.port.map_or(0, |first| first.saturating_add(flow as u16));
        let local = SocketAddr::new(spec.local, port);
        if !spec.traffic.kind.is_udp() {
            return listen(spec, local);
        }
        let what = socket::flow(flow as usize);
        let socket = socket::open(&spec.traffic, spec.local, &what)?;
        socket::keep_to(&socket, spec.interface.as_deref(), &what)?;
        let address = socket::bind(&socket, local, &what)?;
        Ok((socket, address))
    });
    Ok(opened.collect::<Result<Vec<_>>>()?.into_iter().unzip())
}

/// The flows' sockets and their peers, from the sockets of [`open`] and the addresses `locals`.
pub(super) fn join(
    spec: &Spec,
    sockets: Vec<Socket>,
    addresses: &[SocketAddr],
    locals: &[SocketAddr],
) -> Result<(Vec<Socket>, Vec<SocketAddr>)> {
    let peers = locals.to_vec();
    if spec.traffic.kind == Kind::TcpCrr {
        // Its threads accept from one listener.
        let (listener, peers) = (&sockets[0], vec![locals[0]; spec.traffic.lanes() as usize]);
        let spins = spec.traffic.reader == Reader::Spin;
        listener.set_nonblocking(spins).or_setup("fcntl O_NONBLOCK", "the listener")?;
        let clones = peers.iter().map(|_| listener.try_clone()).collect::<std::io::Result<Vec<_>>>();
        return Ok((clones.or_setup("fcntl F_DUPFD", "the listener")?, peers));
    }
    if spec.traffic.kind.is_udp() {
        // All flows have the same two hosts, so one greeting is enough.
        await_greeting(&sockets[0]);
        for (flow, (one, peer)) in sockets.iter().zip(locals).enumerate() {
            if spec.traffic.connects(!spec.traffic.is_forward(flow)) {
                one.connect(&(*peer).into()).or_setup("connect", socket::flow(flow))?;
            }
            // Only its peer, which has not started, can add to the datagrams of others.
            while sys::receive(one.as_raw_fd(), &mut [0; 16], libc::MSG_DONTWAIT) >= 0 {}
        }
        return Ok((sockets, peers));
    }
    // The listeners close here: they accept no other connection.
    let parts = locals.chunks(LISTENER as usize).zip(sockets.iter().zip(addresses));
    let mut flows = Vec::with_capacity(locals.len());
    for (locals, (listener, address)) in parts {
        flows.extend(accept(listener, *address, locals)?);
    }
    if let Some(dscp) = spec.traffic.dscp {
        // An accepted socket inherits the mark without its priority.
        flows.iter().try_for_each(|one| socket::prioritize(one, spec.local, dscp))?;
    }
    Ok((flows, peers))
}

fn listen(spec: &Spec, local: SocketAddr) -> Result<(Socket, SocketAddr)> {
    const WHAT: &str = "the listener";
    let socket = socket::open(&spec.traffic, spec.local, WHAT)?;
    socket::keep_to(&socket, spec.interface.as_deref(), WHAT)?;
    // Lingering connections of an earlier run must not block a fixed port.
    socket.set_reuse_address(true).or_setup("setsockopt SO_REUSEADDR", WHAT)?;
    let endpoint = socket::bind(&socket, local, WHAT)?;
    let backlog = i32::try_from(spec.traffic.lanes().min(LISTENER)).unwrap_or(i32::MAX);
    socket
        .listen(backlog.saturating_add(SPARE_BACKLOG))
        .map_err(|e| socket::in_use_or("listen", local, WHAT, &e))?;
    socket.set_nonblocking(true).or_setup("fcntl O_NONBLOCK", WHAT)?;
    Ok((socket, endpoint))
}

/// Accepts until each of `locals` has come, in any order, each for its flow.
fn accept(listener: &Socket, endpoint: SocketAddr, locals: &[SocketAddr]) -> Result<Vec<Socket>> {
    let deadline = Instant::now() + socket::CONNECT;
    // An IPv6 address also carries a flow label, which does not count.
    let places: HashMap<_, _> =
        locals.iter().enumerate().map(|(at, one)| ((one.ip(), one.port()), at)).collect();
    let mut flows: Vec<Option<Socket>> = locals.iter().map(|_| None).collect();
    let (mut got, mut rejected) = (0, 0);
    while got < locals.len() {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            let (wanted, seconds) = (locals.len(), socket::CONNECT.as_secs());
            return Err(Error::Setup(format!(
                "{got} of {wanted} flows connected to {endpoint} within {seconds} s (connections from other processes \
                 rejected: {rejected}): check that the transmitter runs and that no firewall blocks the port"
            )));
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
                        // A close with a reset informs the other process at once.
                        let _ = socket.set_linger(Some(Duration::ZERO));
                        rejected += 1;
                    }
                }
            }
            Err(e) if e.raw_os_error() == Some(libc::EAGAIN) => {
                // A wait that a signal interrupts begins again.
                let until = sys::now() + left.as_nanos() as u64 + 1_000_000;
                sys::wait_for(listener.as_raw_fd(), libc::POLLIN, until);
            }
            // A connection that was reset while it waited is not a flow.
            Err(e) if matches!(e.raw_os_error(), Some(libc::EINTR | libc::ECONNABORTED)) => {}
            Err(e) => return Err(Error::setup("accept", "the listener", &e)),
        }
    }
    Ok(flows.into_iter().flatten().collect())
}

pub(super) fn check_locals(spec: &Spec, locals: &[SocketAddr]) -> Result<()> {
    let mismatch = |got: String, wanted: String| Err(Error::mismatch("transmitter", got, wanted));
    let (wanted, why) = match spec.traffic.kind {
        Kind::TcpCrr => (1, "all connections come from one address".to_owned()),
        _ => (spec.traffic.lanes(), format!("there are {} flows", spec.traffic.lanes())),
    };
    if locals.len() != wanted as usize {
        return mismatch(format!("{} addresses", locals.len()), why);
    }
    match locals.iter().find(|local| local.is_ipv4() != spec.local.is_ipv4()) {
        Some(other) => mismatch(other.to_string(), format!("this end's address is {}", spec.local)),
        None => Ok(()),
    }
}

/// Sockets and peers of the flows, and this end's addresses; for `tcp_crr` one, with port 0.
type Connected = (Vec<Socket>, Vec<SocketAddr>, Vec<SocketAddr>);

pub(super) fn connect(spec: &Spec, endpoints: &[SocketAddr]) -> Result<Connected> {
    check_endpoints(spec, endpoints)?;
    sys::make_room_for_descriptors(spec.traffic.lanes().into());
    let (mut sockets, mut peers, mut locals) = Connected::default();
    for flow in 0..spec.traffic.lanes() as usize {
        let (peer, what) = (endpoints[spec.traffic.endpoint_of(flow)], socket::flow(flow));
        let socket = socket::open(&spec.traffic, spec.local, &what)?;
        socket::keep_to(&socket, spec.interface.as_deref(), &what)?;
        let local = SocketAddr::new(spec.local, 0);
        // A socket of `tcp_crr` is a placeholder of its flow, without a port. The flow's
        // connections come from this address.
        let is_placeholder = spec.traffic.kind == Kind::TcpCrr;
        if is_placeholder || (endpoints.len() > 1 && !spec.traffic.kind.is_udp()) {
            socket::bind_later(&socket, local, &what)?;
        } else {
            socket::bind(&socket, local, &what)?;
        }
        // Flows of `tcp_crr` connect once they have started.
        if !is_placeholder {
            // Sockets of datagrams with a destination stay unconnected.
            if spec.traffic.connects(spec.traffic.is_forward(flow)) {
                let connected = socket.connect_timeout(&peer.into(), socket::CONNECT);
                connected.map_err(|error| match errno_of(&error) {
                    libc::EADDRNOTAVAIL => Error::no_port(flow, peer),
                    errno => Error::call(flow, "connect", peer, errno),
                })?;
            }
            locals.push(socket::local_address(&socket)?);
        }
        sockets.push(socket);
        peers.push(peer);
    }
    if spec.traffic.kind == Kind::TcpCrr {
        locals.push(SocketAddr::new(spec.local, 0));
    }
    if spec.traffic.kind.is_udp() && spec.traffic.kind.is_received() {
        // The workload meets and reports the same failure; all flows have the same two hosts.
        let _ = sockets[0].send_to(&[], &peers[0].into());
    }
    Ok((sockets, peers, locals))
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
    // They come from another machine: nothing is sent to the address of many hosts.
    let is_odd = |one: &&SocketAddr| {
        let is_of_many = one.ip().is_unspecified() || one.ip().is_multicast();
        one.is_ipv4() != spec.local.is_ipv4() || one.port() == 0 || is_of_many
    };
    if let Some(odd) = endpoints.iter().find(is_odd) {
        let wanted = "an address and a port of one host are needed, with the version of IP of this end";
        return mismatch(odd.to_string(), format!("{wanted}, {}", spec.local));
    }
    Ok(())
}

// For it the kernel looks up the peer's link-layer address. Otherwise it would do so for the
// workload's first datagrams, keep the newest meanwhile (`unres_qlen_bytes`, 90 of 1500 bytes), and
// drop the others where no counter of a namespace shows it.

// The kernel asks for an address once a second.
const WAIT: Duration = Duration::from_millis(1500);

// If the path lost it, the workload begins without it.
fn await_greeting(socket: &Socket) {
    let mut room = [0u8; 16];
    let until = sys::now() + WAIT.as_nanos() as u64;
    while sys::now() < until {
        match sys::receive(socket.as_raw_fd(), &mut room, libc::MSG_DONTWAIT) {
            0 => return,
            1.. => {}
            _ => {
                sys::wait_for(socket.as_raw_fd(), libc::POLLIN, until);
            }
        }
    }
}

#[cfg(test)]
mod tests;
