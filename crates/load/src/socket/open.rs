//! Opens sockets with every option that they need from the start.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsRawFd;

use socket2::{Domain, Protocol, Socket, Type};
use words::{Kind, Traffic};

use super::times::stall;
use super::{buffers, keyed, receive_queue};
use crate::error::{Context, Error, MORE_PORTS, Result};
use crate::sys;

/// An unbound socket for the workload, with every option that a connection needs from its first
/// packet on: window scaling follows the buffers, the handshake carries the mark, and a congestion
/// control that replaces another inherits its pacing (BBR's stays on the socket). Accepted sockets
/// inherit them from the listener. `what` names it in errors.
pub(crate) fn open(traffic: &Traffic, local: IpAddr, what: impl fmt::Display) -> Result<Socket> {
    let domain = if local.is_ipv4() { Domain::IPV4 } else { Domain::IPV6 };
    let (kind, protocol) =
        if traffic.kind.is_udp() { (Type::DGRAM, Protocol::UDP) } else { (Type::STREAM, Protocol::TCP) };
    let socket = Socket::new(domain, kind, Some(protocol)).or_setup("socket", &what)?;
    if local.is_ipv6() {
        socket.set_only_v6(true).or_setup("setsockopt IPV6_V6ONLY", &what)?;
    }
    if let Some(bytes) = traffic.socket_buffer {
        buffers::size_both(&socket, bytes, &what)?;
    }
    if receive_queue::is_needed(traffic) {
        receive_queue::raise(&socket).or_setup("setsockopt SO_RCVBUF", &what)?;
    }
    if traffic.kind.is_udp() {
        report_local_drops(&socket, local, &what)?;
    }
    if let Some(dscp) = traffic.dscp {
        keyed::mark(&socket, dscp, &what)?;
    }
    keyed::open(&socket, traffic, &what)?;
    if !traffic.kind.is_udp() {
        shape_connection(&socket, traffic, &what)?;
    }
    Ok(socket)
}

/// TCP's part of [`open`].
fn shape_connection(socket: &Socket, traffic: &Traffic, what: &impl fmt::Display) -> Result<()> {
    if let Some(name) = traffic.congestion_control.name() {
        socket.set_tcp_congestion(name.as_bytes()).or_setup("setsockopt TCP_CONGESTION", what)?;
    }
    if traffic.kind != Kind::TcpCrr {
        let stall = stall(traffic.lanes() as usize);
        socket.set_tcp_user_timeout(Some(stall)).or_setup("setsockopt TCP_USER_TIMEOUT", what)?;
    }
    Ok(())
}

/// Binds to an interface, if one is named. Before Linux 5.7 an agent may not, and the address alone
/// binds.
pub(crate) fn keep_to(socket: &Socket, interface: Option<&str>, what: impl fmt::Display) -> Result<()> {
    let Some(name) = interface else { return Ok(()) };
    match socket.bind_device(Some(name.as_bytes())) {
        Err(error) if error.raw_os_error() == Some(libc::EPERM) => Ok(()),
        bound => bound.or_setup("setsockopt SO_BINDTODEVICE", what),
    }
}

/// Binds to `local`, where port 0 lets the kernel choose; `fixed` is the requested port.
pub(crate) fn bind(socket: &Socket, local: SocketAddr, what: impl fmt::Display) -> Result<SocketAddr> {
    socket.bind(&local.into()).map_err(|e| in_use_or("bind", local, what, &e))?;
    local_address(socket)
}

/// Binds to an address; the kernel chooses the port at each connection among those that are free
/// towards that peer. A port chosen now would have to be free towards all peers.
pub(crate) fn bind_later(socket: &Socket, local: SocketAddr, what: impl fmt::Display) -> Result<()> {
    sys::set_option(socket.as_raw_fd(), libc::IPPROTO_IP, libc::IP_BIND_ADDRESS_NO_PORT, 1)
        .or_setup("setsockopt IP_BIND_ADDRESS_NO_PORT", &what)?;
    socket.bind(&local.into()).map_err(|e| in_use_or("bind", local, what, &e))
}

/// An error of `call`, or a clearer one if the requested port is in use.
pub(crate) fn in_use_or(
    call: &'static str,
    local: SocketAddr,
    what: impl fmt::Display,
    error: &std::io::Error,
) -> Error {
    if error.raw_os_error() == Some(libc::EADDRINUSE) && local.port() != 0 {
        return Error::Setup(format!(
            "port {} of {} is in use: leave `port` out of the workload and the kernel chooses a free one",
            local.port(),
            local.ip()
        ));
    }
    if error.raw_os_error() == Some(libc::EADDRINUSE) {
        // IPv6 has the same range.
        let range = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
        let range = range.split_whitespace().collect::<Vec<_>>().join(" to ");
        return Error::Setup(format!(
            "{what}: all ports of the kernel's range are in use ({range}): {MORE_PORTS}"
        ));
    }
    Error::setup(call, format!("{what} at {local}"), error)
}

/// The address that the socket is bound to.
pub(crate) fn local_address(socket: &Socket) -> Result<SocketAddr> {
    let address = socket.local_addr().or_setup("getsockname", "a bound socket")?;
    Ok(address.as_socket().expect("sockets here are IPv4 or IPv6"))
}

/// The name of flow number `flow` in errors.
pub(crate) fn flow(flow: usize) -> String {
    format!("flow {flow}")
}

/// Without `IP_RECVERR` the kernel reports success for a datagram that the interface's queue
/// dropped, and the sent count would be too high (ip(7), net/ipv4/udp.c).
fn report_local_drops(socket: &Socket, local: IpAddr, what: &impl fmt::Display) -> Result<()> {
    let (level, name, call) = match local {
        IpAddr::V4(_) => (libc::IPPROTO_IP, libc::IP_RECVERR, "setsockopt IP_RECVERR"),
        IpAddr::V6(_) => (libc::IPPROTO_IPV6, libc::IPV6_RECVERR, "setsockopt IPV6_RECVERR"),
    };
    sys::set_option(socket.as_raw_fd(), level, name, 1).or_setup(call, what)
}
