//! The sockets of the receiving (or answering) end: opened, and connected with their peers.

use std::collections::HashMap;
use std::net::{SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use socket2::Socket;
use words::{Kind, LISTENER, Reader, Traffic};

use super::greeting;
use crate::error::{Context, Error, Result};
use crate::socket::{self, options};
use crate::spec::Spec;
use crate::sys;

/// Waiting connections beyond one per flow, so that a few other processes cannot block the flows.
const SPARE_BACKLOG: i32 = 64;

/// Opens the sockets, and returns their addresses: a listener for each 4000 flows of TCP, one
/// socket per flow for UDP.
pub(super) fn open(spec: &Spec) -> Result<(Vec<Socket>, Vec<SocketAddr>)> {
    sys::make_room_for_descriptors(spec.traffic.lanes().into());
    let count = spec.traffic.endpoints();
    let mut sockets = Vec::with_capacity(count as usize);
    let mut addresses = Vec::with_capacity(count as usize);
    for flow in 0..count {
        // `validate` has checked that the last port exists.
        let port = spec.traffic.port.map_or(0, |first| first.saturating_add(flow as u16));
        let local = SocketAddr::new(spec.local, port);
        let (socket, address) = if spec.traffic.kind.is_udp() {
            let what = socket::flow(flow as usize);
            let socket = socket::open(&spec.traffic, spec.local, &what)?;
            socket::keep_to(&socket, spec.interface.as_deref(), &what)?;
            let address = socket::bind(&socket, local, &what)?;
            (socket, address)
        } else {
            listen(spec, local)?
        };
        sockets.push(socket);
        addresses.push(address);
    }
    Ok((sockets, addresses))
}

/// The flows' sockets and their peers, from the sockets of [`open`] and the transmitter's addresses
/// `locals`. Datagrams that a UDP socket received before are discarded.
pub(super) fn join(
    spec: &Spec,
    sockets: Vec<Socket>,
    addresses: &[SocketAddr],
    locals: &[SocketAddr],
) -> Result<(Vec<Socket>, Vec<SocketAddr>)> {
    let peers = locals.to_vec();
    if spec.traffic.kind == Kind::TcpCrr {
        let peers = vec![locals[0]; spec.traffic.lanes() as usize];
        return Ok((share(&sockets[0], &spec.traffic)?, peers));
    }
    if spec.traffic.kind.is_udp() {
        greeting::wait(&sockets[0]);
        for (flow, (one, peer)) in sockets.iter().zip(locals).enumerate() {
            if spec.traffic.connects(!spec.traffic.is_forward(flow)) {
                one.connect(&(*peer).into()).or_setup("connect", socket::flow(flow))?;
            }
            empty(one);
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
        flows.iter().try_for_each(|one| options::prioritize(one, spec.local, dscp))?;
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

/// A copy of the listener for each thread, all with one queue. It must stay, and threads that spin
/// must not wait at it.
fn share(listener: &Socket, traffic: &Traffic) -> Result<Vec<Socket>> {
    const WHAT: &str = "the listener";
    let spins = traffic.reader == Reader::Spin;
    listener.set_nonblocking(spins).or_setup("fcntl O_NONBLOCK", WHAT)?;
    let clones = (0..traffic.lanes()).map(|_| listener.try_clone());
    clones.collect::<std::io::Result<_>>().or_setup("fcntl F_DUPFD", WHAT)
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

/// Discards what a socket received before it was connected. Only its peer, which has not started,
/// can add to it.
fn empty(socket: &Socket) {
    let mut room = [0u8; 16];
    while sys::receive(socket.as_raw_fd(), &mut room, libc::MSG_DONTWAIT) >= 0 {}
}

/// Checks the addresses of the other end.
pub(super) fn check_locals(spec: &Spec, locals: &[SocketAddr]) -> Result<()> {
    let mismatch = |got: String, wanted: String| Err(Error::mismatch("transmitter", got, wanted));
    let lanes = spec.traffic.lanes();
    if spec.traffic.kind == Kind::TcpCrr && locals.len() != 1 {
        return mismatch(
            format!("{} addresses", locals.len()),
            "all connections come from one address".to_owned(),
        );
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
    // The same address may connect again to another port.
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
