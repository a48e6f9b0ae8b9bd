//! A few packets between two ends before any traffic, and which of them arrive.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsRawFd as _;
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use socket2::{Domain, Protocol, Socket, Type};

use crate::error::{Context as _, Result};
use crate::socket::{bind, keep_to, local_address};
use crate::sys;

/// How long a connection may take: what crosses a network between two machines takes far less.
const CONNECT: Duration = Duration::from_millis(400);

/// How long an established connection may take to be seen at the other end too.
const ACCEPT: Duration = Duration::from_millis(100);

/// Between two looks at the sockets.
const PAUSE: Duration = Duration::from_millis(2);

/// How often a datagram is sent: one may be lost on a path that is well.
const COPIES: usize = 3;

/// The largest datagram of UDP, without its headers.
const LARGEST: usize = 65_507;

/// One end's sockets: one of UDP, and one of TCP that listens or connects.
#[derive(Debug)]
pub struct Probe {
    udp: Socket,
    listener: Option<Socket>,
    stream: Option<Socket>,
    arrived: Arrived,
}

/// What arrived at one end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arrived {
    /// By UDP: a small packet, and one as large as the sender's MTU that must not be fragmented.
    pub udp: [bool; 2],
    /// The same by TCP.
    pub tcp: [bool; 2],
    /// Whether the kernel forbade this end to send.
    pub forbidden: bool,
}

impl Arrived {
    /// Whether everything arrived.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        [self.udp, self.tcp].as_flattened().iter().all(|arrived| *arrived)
    }
}

impl Probe {
    /// Opens them at an address of an interface; at these ports of UDP and of TCP, or at any. The
    /// end that `listens` waits for the other one's connection.
    ///
    /// # Errors
    /// A port that is in use, or no such address or interface.
    pub fn open(local: IpAddr, interface: &str, ports: [Option<u16>; 2], listens: bool) -> Result<Self> {
        let open = |kind: Type, protocol: Protocol, port: Option<u16>| {
            let what = "a socket that tries the path";
            let domain = if local.is_ipv4() { Domain::IPV4 } else { Domain::IPV6 };
            let socket = Socket::new(domain, kind, Some(protocol)).or_setup("socket", what)?;
            keep_to(&socket, Some(interface), what)?;
            bind(&socket, SocketAddr::new(local, port.unwrap_or(0)), what)?;
            Ok::<_, crate::Error>(socket)
        };
        let udp = open(Type::DGRAM, Protocol::UDP, ports[0])?;
        let tcp = open(Type::STREAM, Protocol::TCP, ports[1])?;
        // Whole, whatever the kernel remembers of the path: that may be of another time.
        let (level, name) = match local {
            IpAddr::V4(_) => (libc::IPPROTO_IP, libc::IP_MTU_DISCOVER),
            IpAddr::V6(_) => (libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER),
        };
        sys::set_option(udp.as_raw_fd(), level, name, libc::IP_PMTUDISC_PROBE)
            .or_setup("setsockopt IP_MTU_DISCOVER", "a socket that tries the path")?;
        if listens {
            tcp.listen(1).or_setup("listen", "a socket that tries the path")?;
        }
        let (listener, stream) = if listens { (Some(tcp), None) } else { (None, Some(tcp)) };
        Ok(Self { udp, listener, stream, arrived: Arrived::default() })
    }

    /// Those of UDP and of TCP.
    ///
    /// # Errors
    /// The kernel's.
    pub fn addresses(&self) -> Result<Vec<SocketAddr>> {
        let tcp = self.listener.iter().chain(&self.stream);
        std::iter::once(&self.udp).chain(tcp).map(local_address).collect()
    }

    /// Sends to the other end's sockets. The end that listens sends second.
    pub fn send(&mut self, udp: SocketAddr, tcp: SocketAddr, mtu: u32) {
        let headers = if udp.is_ipv4() { 28 } else { 48 };
        let full = vec![0; (mtu as usize).saturating_sub(headers).clamp(2, LARGEST)];
        let mut sent = vec![self.udp.connect(&udp.into()), self.udp.set_nonblocking(true)];
        for _ in 0..COPIES {
            sent.extend([&full[..1], &full[..]].map(|packet| self.udp.send(packet).map(drop)));
        }
        if let Some(listener) = &self.listener {
            let until = sys::now() + u64::try_from(ACCEPT.as_nanos()).unwrap_or(u64::MAX);
            if sys::wait_for(listener.as_raw_fd(), libc::POLLIN, until) {
                self.stream = listener.accept().ok().map(|(stream, _)| stream);
            }
        } else if let Some(stream) = &self.stream {
            let connected = stream.connect_timeout(&tcp.into(), CONNECT);
            let failed = connected.is_err();
            sent.push(connected);
            if failed {
                self.stream = None;
            }
        }
        if let Some(stream) = &self.stream {
            sent.push(give(stream, mtu));
        }
        self.arrived.forbidden = sent.iter().any(is_forbidden);
    }

    /// What has arrived, as soon as it is everything; at the latest after this time.
    #[must_use]
    pub fn arrived(&mut self, within: Duration) -> Arrived {
        let deadline = Instant::now() + within;
        let mut room = vec![0; LARGEST];
        loop {
            let Self { udp, stream, arrived, .. } = self;
            note(udp, &mut arrived.udp, &mut room);
            if let Some(stream) = stream {
                note(stream, &mut arrived.tcp, &mut room);
            }
            if arrived.is_whole() || Instant::now() >= deadline {
                return arrived.clone();
            }
            thread::sleep(PAUSE);
        }
    }
}

/// Sends a small packet and a full one by a connection, which leaves nothing behind when it ends.
fn give(stream: &Socket, mtu: u32) -> io::Result<()> {
    stream.set_tcp_nodelay(true)?;
    stream.set_linger(Some(Duration::ZERO))?;
    stream.set_nonblocking(true)?;
    stream.send(&[0])?;
    stream.send(&vec![0; mtu as usize]).map(drop)
}

/// Receives what there is: more than a byte is of a full packet.
fn note(socket: &Socket, [small, full]: &mut [bool; 2], room: &mut [u8]) {
    // An error, such as that of a port that is closed, stands before packets, and is told once.
    for _ in 0..2 * COPIES + 2 {
        let length = sys::receive(socket.as_raw_fd(), room, libc::MSG_DONTWAIT);
        *small |= length > 0;
        *full |= length > 1;
    }
}

fn is_forbidden(sent: &io::Result<()>) -> bool {
    sent.as_ref().is_err_and(|error| matches!(error.raw_os_error(), Some(libc::EPERM | libc::EACCES)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_arrives_at_both_ends() {
        for address in ["127.0.0.1", "::1"] {
            let local: IpAddr = address.parse().unwrap();
            let [mut one, mut other] =
                [false, true].map(|listens| Probe::open(local, "lo", [None; 2], listens).unwrap());
            let [to_one, to_other] = [&one, &other].map(|end| end.addresses().unwrap());
            one.send(to_other[0], to_other[1], 1500);
            other.send(to_one[0], to_one[1], 1500);
            for end in [&mut one, &mut other] {
                let arrived = end.arrived(Duration::from_secs(5));
                assert!(arrived.is_whole() && !arrived.forbidden, "{address}: {arrived:?}");
            }
            let taken = [None, Some(to_other[1].port())];
            assert!(Probe::open(local, "lo", taken, true).unwrap_err().to_string().contains("in use"));
        }
    }

    #[test]
    fn what_nobody_receives_has_not_arrived() {
        let local: IpAddr = "127.0.0.1".parse().unwrap();
        let mut one = Probe::open(local, "lo", [None; 2], false).unwrap();
        let closed = Probe::open(local, "lo", [None; 2], true).unwrap().addresses().unwrap();
        one.send(closed[0], closed[1], 1500);
        assert_eq!(one.arrived(Duration::ZERO), Arrived::default());
        assert!(Probe::open("192.0.2.77".parse().unwrap(), "lo", [None; 2], true).is_err());
    }
}
