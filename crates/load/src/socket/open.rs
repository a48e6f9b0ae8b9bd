//! Opens sockets with every option that they need from the start.

use std::fmt::Display;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsRawFd;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use socket2::{Domain, Protocol, Socket, Type};
use words::{Kind, Pacing, Traffic};

use super::keyed::{self, DSCP, PACING};
use super::{TICK, answer_time, stall};
use crate::error::{Context, Error, MORE_PORTS, Result, errno_of, error_text};
use crate::note::LoadNote;
use crate::sys;

/// An unbound socket with every option that a connection needs from its first packet on. Accepted
/// sockets inherit them from the listener.
pub(crate) fn open(traffic: &Traffic, local: IpAddr, what: impl Display) -> Result<Socket> {
    let domain = if local.is_ipv4() { Domain::IPV4 } else { Domain::IPV6 };
    let (kind, protocol) =
        if traffic.kind.is_udp() { (Type::DGRAM, Protocol::UDP) } else { (Type::STREAM, Protocol::TCP) };
    let socket = Socket::new(domain, kind, Some(protocol)).or_setup("socket", &what)?;
    if local.is_ipv6() {
        // A port of IPv4 with the same number stays free for others.
        socket.set_only_v6(true).or_setup("setsockopt IPV6_V6ONLY", &what)?;
    }
    if let Some(bytes) = traffic.socket_buffer {
        let bytes = libc::c_int::try_from(bytes).unwrap_or(libc::c_int::MAX);
        // The window scaling of the handshake follows the buffers.
        set_buffer(&socket, SEND, bytes).or_setup("setsockopt SO_SNDBUF", &what)?;
        set_buffer(&socket, RECEIVE, bytes).or_setup("setsockopt SO_RCVBUF", &what)?;
    }
    // Sockets of a stream of datagrams without requested buffers need room.
    if matches!(traffic.kind, Kind::UdpStream | Kind::Pps)
        && traffic.socket_buffer.is_none()
        && socket.recv_buffer_size().or_setup("getsockopt SO_RCVBUF", &what)? < 2 * RECEIVE_QUEUE as usize
    {
        set_buffer(&socket, RECEIVE, RECEIVE_QUEUE).or_setup("setsockopt SO_RCVBUF", &what)?;
    }
    if traffic.kind.is_udp() {
        // Otherwise a datagram that the queue drops counts as sent (ip(7), net/ipv4/udp.c).
        let (level, name, call) = match local {
            IpAddr::V4(_) => (libc::IPPROTO_IP, libc::IP_RECVERR, "setsockopt IP_RECVERR"),
            IpAddr::V6(_) => (libc::IPPROTO_IPV6, libc::IPV6_RECVERR, "setsockopt IPV6_RECVERR"),
        };
        sys::set_option(socket.as_raw_fd(), level, name, 1).or_setup(call, &what)?;
    }
    // The handshake carries the mark.
    DSCP.set(&socket, traffic, &what)?;
    keyed::open(&socket, traffic, &what)?;
    // Before the pacing, which a congestion control inherits from the one that it replaces.
    if let Some(name) = traffic.congestion_control.name().filter(|_| !traffic.kind.is_udp()) {
        socket.set_tcp_congestion(name.as_bytes()).map_err(|error| {
            let known = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
            let (why, known) = (error_text(errno_of(&error)), known.unwrap_or_default());
            let known = known.trim();
            Error::Setup(format!("congestion control `{name}` not available: {why}; available: {known}"))
        })?;
    }
    if matches!(traffic.kind, Kind::TcpStream | Kind::TcpRr) {
        // The kernel would go on for 13 to 30 minutes without an acknowledgement (tcp(7)).
        let stall = stall(traffic.lanes() as usize);
        socket.set_tcp_user_timeout(Some(stall)).or_setup("setsockopt TCP_USER_TIMEOUT", &what)?;
    }
    Ok(socket)
}

pub(crate) fn keep_to(socket: &Socket, interface: Option<&str>, what: impl Display) -> Result<()> {
    let bound = interface.map_or(Ok(()), |name| socket.bind_device(Some(name.as_bytes())));
    bound.or_setup("setsockopt SO_BINDTODEVICE", what)
}

pub(crate) fn bind(socket: &Socket, local: SocketAddr, what: impl Display) -> Result<SocketAddr> {
    socket.bind(&local.into()).map_err(|e| in_use_or("bind", local, what, &e))?;
    local_address(socket)
}

// The kernel then chooses a port free towards that peer; one chosen now must be free to all.
pub(crate) fn bind_later(socket: &Socket, local: SocketAddr, what: impl Display) -> Result<()> {
    sys::set_option(socket.as_raw_fd(), libc::IPPROTO_IP, libc::IP_BIND_ADDRESS_NO_PORT, 1)
        .or_setup("setsockopt IP_BIND_ADDRESS_NO_PORT", &what)?;
    socket.bind(&local.into()).map_err(|e| in_use_or("bind", local, what, &e))
}

pub(crate) fn in_use_or(call: &str, local: SocketAddr, what: impl Display, error: &io::Error) -> Error {
    match (error.raw_os_error(), local.port()) {
        (Some(libc::EADDRINUSE), 0) => {
            Error::Setup(format!("{what}: all ports of the kernel's range are in use: {MORE_PORTS}"))
        }
        (Some(libc::EADDRINUSE), port) => Error::Setup(format!(
            "port {port} of {} is in use: leave `port` out of the workload and the kernel chooses a free one",
            local.ip()
        )),
        _ => Error::setup(call, format!("{what} at {local}"), error),
    }
}

pub(crate) fn local_address(socket: &Socket) -> Result<SocketAddr> {
    let address = socket.local_addr().or_setup("getsockname", "a bound socket")?;
    Ok(address.as_socket().expect("sockets here are IPv4 or IPv6"))
}

pub(crate) fn flow(flow: usize) -> String {
    format!("flow {flow}")
}

// Connections inherit the direction of a `tcp_crr` listener; other sockets learn it later.
pub(crate) fn give_role(socket: &Socket, traffic: &Traffic, sends: bool, what: impl Display) -> Result<()> {
    let stall = stall(traffic.lanes() as usize);
    // The longest wait of a call to send, and to receive.
    let (sending, receiving) = match traffic.kind {
        Kind::TcpStream => (Some(patience(traffic, traffic.pacing)), None),
        Kind::TcpRr => (Some(stall), sends.then_some(stall)),
        Kind::TcpCrr => (Some(TICK), Some(TICK)),
        Kind::UdpRr => (None, sends.then_some(answer_time(traffic.lanes() as usize))),
        Kind::UdpStream | Kind::Pps => (None, None),
    };
    socket.set_write_timeout(sending).or_setup("setsockopt SO_SNDTIMEO", &what)?;
    socket.set_read_timeout(receiving).or_setup("setsockopt SO_RCVTIMEO", &what)?;
    if sends { PACING.set(socket, traffic, &what) } else { Ok(()) }
}

pub(crate) fn await_pace(socket: &Socket, traffic: &Traffic, slowest: Pacing) -> Result<()> {
    let patience = Some(patience(traffic, Some(slowest)));
    socket.set_write_timeout(patience).or_setup("setsockopt SO_SNDTIMEO", "a flow")
}

// Until a full send buffer has emptied at a pace, a write may wait.
fn patience(traffic: &Traffic, pacing: Option<Pacing>) -> Duration {
    // The default limit of TCP's own growth of a send buffer (`net.ipv4.tcp_wmem`).
    const BUFFER: u64 = 4 << 20;
    let emptying = Duration::from_secs(pacing.map_or(0, |pace| 8 * BUFFER / pace.bits()));
    stall(traffic.lanes() as usize) + emptying
}

// Datagrams that find no room while their receiver waits for its CPU are dropped. The kernel
// charges the buffer of every fragment: its default (`net.core.rmem_default`, 208 KiB) has room for
// 30 datagrams of 4096 bytes at MTU 1500 (counted on Linux 6.18). More than 1 MiB is worse again (a
// guess: queued data leave the CPU's own cache). `bench/README.md` has the experiments.

// The kernel doubles it to 1 MiB, and limits it to `net.core.rmem_max` without privileges.
const RECEIVE_QUEUE: libc::c_int = 512 << 10;

/// A socket's buffers in bytes, as the kernel reports them: twice the request, with overhead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Buffers {
    /// `SO_SNDBUF`.
    pub send: u64,
    /// `SO_RCVBUF`.
    pub receive: u64,
}

impl Buffers {
    pub(crate) fn read(socket: &Socket) -> Result<Self> {
        let read = |size: io::Result<usize>| size.or_setup("getsockopt", "a buffer's size");
        Ok(Self {
            send: read(socket.send_buffer_size())? as u64,
            receive: read(socket.recv_buffer_size())? as u64,
        })
    }

    pub(crate) fn smaller(self, other: Self) -> Self {
        Self { send: self.send.min(other.send), receive: self.receive.min(other.receive) }
    }
}

// Beyond the limit of the machine, and within it.
type SocketOptions = (libc::c_int, libc::c_int);
const SEND: SocketOptions = (libc::SO_SNDBUFFORCE, libc::SO_SNDBUF);
const RECEIVE: SocketOptions = (libc::SO_RCVBUFFORCE, libc::SO_RCVBUF);

fn set_buffer(socket: &Socket, (force, plain): SocketOptions, bytes: libc::c_int) -> io::Result<()> {
    let set = |option| sys::set_option(socket.as_raw_fd(), libc::SOL_SOCKET, option, bytes);
    set(force).or_else(|_| set(plain))
}

// Packets of one poll (`SO_BUSY_POLL_BUDGET`), as of an ordinary one (`NAPI_POLL_WEIGHT` of
// linux/netdevice.h): the default of 8 leaves bursts to interrupts.
const BUDGET: libc::c_int = 64;

// Sets the priority of an accepted socket's mark: it inherits only the mark (`sk_clone_lock` in
// net/core/sock.c). Over IPv6 a mark has no priority.
pub(crate) fn prioritize(socket: &Socket, local: IpAddr, dscp: u8) -> Result<()> {
    if local.is_ipv6() {
        return Ok(());
    }
    // The kernel ignores a mark that is set already.
    DSCP.set_to(socket, 0, &"an accepted connection")?;
    DSCP.set_to(socket, u64::from(dscp) << 2, &"an accepted connection")
}

/// Makes waits for data poll the device before the thread sleeps; or says why not.
pub(crate) fn poll_busily(socket: &Socket, time: Duration) -> Option<LoadNote> {
    let fd = socket.as_raw_fd();
    let micros = libc::c_int::try_from(time.as_micros()).unwrap_or(libc::c_int::MAX);
    let options = [
        ("SO_BUSY_POLL", libc::SO_BUSY_POLL, micros),
        ("SO_PREFER_BUSY_POLL", libc::SO_PREFER_BUSY_POLL, 1),
        ("SO_BUSY_POLL_BUDGET", libc::SO_BUSY_POLL_BUDGET, BUDGET),
    ];
    for (name, option, value) in options {
        if let Err(error) = sys::set_option(fd, libc::SOL_SOCKET, option, value) {
            // All or nothing: a part of it would be another mode.
            let _ = sys::set_option(fd, libc::SOL_SOCKET, libc::SO_BUSY_POLL, 0);
            let why = match error.raw_os_error() {
                Some(libc::EPERM) => "it needs the privilege CAP_NET_ADMIN".to_owned(),
                _ => error.to_string(),
            };
            return Some(LoadNote::NoBusyPolling { option: name.to_owned(), why });
        }
    }
    None
}

pub(crate) fn polled_nothing(socket: &Socket) -> Option<LoadNote> {
    let is_zero = |name| matches!(sys::option_number(socket.as_raw_fd(), libc::SOL_SOCKET, name), Ok(0));
    let found_no_queue = !is_zero(libc::SO_BUSY_POLL) && is_zero(libc::SO_INCOMING_NAPI_ID);
    found_no_queue.then_some(LoadNote::NothingToPoll)
}

#[cfg(test)]
mod tests {
    use super::*;
    use socket2::{Domain, Type};

    #[test]
    fn a_socket_that_received_nothing_has_no_queue() {
        let socket = Socket::new(Domain::IPV4, Type::DGRAM, None).unwrap();
        assert_eq!(polled_nothing(&socket), None, "it was not asked to poll");
        match poll_busily(&socket, Duration::from_micros(50)) {
            None => assert_eq!(polled_nothing(&socket), Some(LoadNote::NothingToPoll)),
            Some(note) => {
                assert!(note.to_string().contains("CAP_NET_ADMIN"), "{note}");
                assert_eq!(polled_nothing(&socket), None);
            }
        }
    }
}
