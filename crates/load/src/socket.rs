//! Sockets as workloads need them.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsRawFd;
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, Type};
use words::{Kind, MAX_THREADS, Pacing, Traffic};

use crate::error::{Error, Result};
use crate::options;
use crate::outcome::Buffers;
use crate::receive_queue;
use crate::sys;

/// How long a peer may take or answer nothing before the flow is given up: 5 s, and 10 ms more for each flow that may have a
/// thread of its own and waits its turn for a CPU, and for each of all flows the time of a [`TURN`].
pub(crate) fn stall(flows: usize) -> Duration {
    let threads = u32::try_from(flows).unwrap_or(u32::MAX).min(MAX_THREADS);
    Duration::from_secs(5) + Duration::from_millis(10) * threads + turns(flows)
}
/// How long a `udp_rr` transmitter waits for an answer, if only one flow asks.
const ANSWER: Duration = Duration::from_millis(100);
/// How long a flow waits for each of the others, at worst. A guess, generous on purpose: ten transactions of 20 µs, about what one takes
/// on a virtual machine of two CPUs.
const TURN: Duration = Duration::from_micros(200);

fn turns(flows: usize) -> Duration {
    TURN * u32::try_from(flows.saturating_sub(1)).unwrap_or(u32::MAX)
}

/// How long a `udp_rr` transmitter waits for an answer.
pub(crate) fn answer_time(flows: usize) -> Duration {
    ANSWER + turns(flows)
}

/// How often a `tcp_crr` thread that waits looks up: its connections are its own, and nobody else can wake it.
pub(crate) const TICK: Duration = Duration::from_millis(50);
/// How long a connection may take to come about.
pub(crate) const CONNECT: Duration = Duration::from_secs(5);

/// A socket for the workload, not bound yet, with every option that a connection must have from its first packet on: window
/// scaling follows the buffers, the handshake carries the mark, and a congestion control that replaces another one later
/// inherits its pacing (BBR's stays on the socket). A listener hands them to those that it accepts. `what` names it in errors.
pub(crate) fn open(traffic: &Traffic, local: IpAddr, what: impl fmt::Display) -> Result<Socket> {
    let domain = if local.is_ipv4() { Domain::IPV4 } else { Domain::IPV6 };
    let (kind, protocol) =
        if traffic.kind.is_udp() { (Type::DGRAM, Protocol::UDP) } else { (Type::STREAM, Protocol::TCP) };
    let socket = Socket::new(domain, kind, Some(protocol)).map_err(|e| Error::setup("socket", &what, &e))?;
    if local.is_ipv6() {
        socket.set_only_v6(true).map_err(|e| Error::setup("setsockopt IPV6_V6ONLY", &what, &e))?;
    }
    if let Some(bytes) = traffic.socket_buffer {
        size_buffers(&socket, bytes, &what)?;
    }
    if receive_queue::is_needed(traffic) {
        receive_queue::raise(&socket).map_err(|e| Error::setup("setsockopt SO_RCVBUF", &what, &e))?;
    }
    if traffic.kind.is_udp() {
        report_local_drops(&socket, local, &what)?;
    }
    if !traffic.checksum {
        sys::set_option(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_NO_CHECK, 1)
            .map_err(|e| Error::setup("setsockopt SO_NO_CHECK", &what, &e))?;
    }
    if let Some(dscp) = traffic.dscp {
        options::mark(&socket, local, dscp, &what)?;
    }
    options::set_integers(&socket, traffic, &what)?;
    if !traffic.kind.is_udp() {
        shape_connection(&socket, traffic, &what)?;
    }
    Ok(socket)
}

/// TCP's part of [`open`].
fn shape_connection(socket: &Socket, traffic: &Traffic, what: &impl fmt::Display) -> Result<()> {
    let set = |call: &'static str, done: std::io::Result<()>| done.map_err(|e| Error::setup(call, what, &e));
    if let Some(name) = traffic.congestion_control.name() {
        set("setsockopt TCP_CONGESTION", options::set_congestion_control(socket, name))?;
    }
    if traffic.kind != Kind::TcpCrr {
        let stall = stall(traffic.lanes() as usize);
        set("setsockopt TCP_USER_TIMEOUT", socket.set_tcp_user_timeout(Some(stall)))?;
    }
    Ok(())
}

/// Binds to `local`, port 0 being the kernel's choice; `fixed` is the port that the workload asked for.
pub(crate) fn bind(socket: &Socket, local: SocketAddr, what: impl fmt::Display) -> Result<SocketAddr> {
    socket.bind(&local.into()).map_err(|e| in_use_or("bind", local, what, &e))?;
    local_address(socket)
}

/// Binds to an address whose port the kernel chooses with each connection, from those that are free towards that peer:
/// one chosen here would have to be free towards everybody.
pub(crate) fn bind_later(socket: &Socket, local: SocketAddr, what: impl fmt::Display) -> Result<()> {
    sys::set_option(socket.as_raw_fd(), libc::IPPROTO_IP, libc::IP_BIND_ADDRESS_NO_PORT, 1)
        .map_err(|e| Error::setup("setsockopt IP_BIND_ADDRESS_NO_PORT", &what, &e))?;
    socket.bind(&local.into()).map_err(|e| in_use_or("bind", local, what, &e))
}

/// An error of `call`, or the more telling one if the port asked for is taken.
pub(crate) fn in_use_or(
    call: &'static str,
    local: SocketAddr,
    what: impl fmt::Display,
    error: &std::io::Error,
) -> Error {
    if error.raw_os_error() == Some(libc::EADDRINUSE) && local.port() != 0 {
        return Error::PortInUse { address: local.ip(), port: local.port() };
    }
    if error.raw_os_error() == Some(libc::EADDRINUSE) {
        // The one range is that of IPv6 as well.
        let range = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
        let range = range.split_whitespace().collect::<Vec<_>>().join(" to ");
        return Error::NoPortLeft { what: what.to_string(), range };
    }
    Error::setup(call, format!("{what} at {local}"), error)
}

/// Sets what depends on the way that data flow through a socket, before its thread starts. (A listener of `tcp_crr` has one
/// way and hands it on; the others learn it with the connection.)
pub(crate) fn give_role(
    socket: &Socket,
    traffic: &Traffic,
    sends: bool,
    what: impl fmt::Display,
) -> Result<()> {
    let set = |call: &'static str, done: std::io::Result<()>| done.map_err(|e| Error::setup(call, &what, &e));
    let stall = stall(traffic.lanes() as usize);
    // How long a call may take nothing, and give nothing.
    let (sending, receiving) = match traffic.kind {
        Kind::TcpStream => (Some(stall + emptying(traffic.pacing)), None),
        Kind::TcpRr => (Some(stall), sends.then_some(stall)),
        Kind::TcpCrr => (Some(TICK), Some(TICK)),
        Kind::UdpRr => (None, sends.then_some(answer_time(traffic.lanes() as usize))),
        Kind::UdpStream | Kind::Pps => (None, None),
    };
    if sending.is_some() {
        set("setsockopt SO_SNDTIMEO", socket.set_write_timeout(sending))?;
    }
    if receiving.is_some() {
        set("setsockopt SO_RCVTIMEO", socket.set_read_timeout(receiving))?;
    }
    if let Some(pace) = traffic.pacing.filter(|_| sends && !traffic.kind.is_udp()) {
        options::pace(socket, pace.bits(), &what)?;
    }
    Ok(())
}

/// How long a full send buffer takes to empty at a pace: until then a write may find no room.
fn emptying(pacing: Option<Pacing>) -> Duration {
    // The most that TCP grows a send buffer to by itself (`net.ipv4.tcp_wmem`), by default.
    const BUFFER: u64 = 4 << 20;
    Duration::from_secs(pacing.map_or(0, |pace| 8 * BUFFER / pace.bits()))
}

/// The address that the socket is bound to.
pub(crate) fn local_address(socket: &Socket) -> Result<SocketAddr> {
    let address = socket.local_addr().map_err(|e| Error::setup("getsockname", "a bound socket", &e))?;
    Ok(address.as_socket().expect("sockets here are IPv4 or IPv6"))
}

/// The buffer sizes in force.
pub(crate) fn buffers(socket: &Socket) -> Result<Buffers> {
    let read =
        |size: std::io::Result<usize>| size.map_err(|e| Error::setup("getsockopt", "a buffer's size", &e));
    Ok(Buffers {
        send: read(socket.send_buffer_size())? as u64,
        receive: read(socket.recv_buffer_size())? as u64,
    })
}

/// The socket's own count of datagrams dropped, modulo 2^32.
pub(crate) fn drops(socket: &Socket) -> u32 {
    // The last of the nine numbers of `SO_MEMINFO` (linux/sock_diag.h, SK_MEMINFO_DROPS).
    const DROPS: usize = 8;
    let mut words = [0u8; 4 * (DROPS + 1)];
    match sys::option(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_MEMINFO, &mut words) {
        Ok(len) if len == words.len() => {
            let [.., a, b, c, d] = words;
            u32::from_ne_bytes([a, b, c, d])
        }
        // Linux before 4.12 counts, but does not tell: then the drops are among the unaccounted.
        _ => 0,
    }
}

/// What flow number `flow` is called in errors.
pub(crate) fn flow(flow: usize) -> String {
    format!("flow {flow}")
}

/// Sets both buffers.
fn size_buffers(socket: &Socket, bytes: u32, what: &impl fmt::Display) -> Result<()> {
    let bytes = libc::c_int::try_from(bytes).unwrap_or(libc::c_int::MAX);
    for (buffer, call) in
        [(sys::SEND_BUFFER, "setsockopt SO_SNDBUF"), (sys::RECEIVE_BUFFER, "setsockopt SO_RCVBUF")]
    {
        sys::size_buffer(socket.as_raw_fd(), buffer, bytes).map_err(|e| Error::setup(call, what, &e))?;
    }
    Ok(())
}

/// Without `IP_RECVERR` the kernel reports success for a datagram that the interface's queue dropped, and what was
/// sent would be overstated (ip(7), net/ipv4/udp.c).
fn report_local_drops(socket: &Socket, local: IpAddr, what: &impl fmt::Display) -> Result<()> {
    let (level, name, call) = match local {
        IpAddr::V4(_) => (libc::IPPROTO_IP, libc::IP_RECVERR, "setsockopt IP_RECVERR"),
        IpAddr::V6(_) => (libc::IPPROTO_IPV6, libc::IPV6_RECVERR, "setsockopt IPV6_RECVERR"),
    };
    sys::set_option(socket.as_raw_fd(), level, name, 1).map_err(|e| Error::setup(call, what, &e))
}
