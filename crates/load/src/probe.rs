//! A few packets between two ends before any traffic, and which of them arrive.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsRawFd as _;
use std::time::{Duration, Instant};
use std::{io, thread};

use serde::{Deserialize, Serialize};
use socket2::{Domain, Protocol, Socket, Type};
use words::{Family, Traffic};

use crate::error::{Context as _, Result};
use crate::socket::{bind, keep_to};
use crate::sys;

const PAUSE: Duration = Duration::from_millis(2);

const LARGEST: usize = 65_507;

/// The place of UDP in each list of two here.
pub const UDP: usize = 0;

/// The place of TCP.
pub const TCP: usize = 1;

/// One end's sockets: one of UDP, and one of TCP that listens or connects.
#[derive(Debug)]
pub struct PairProbe {
    udp: Socket,
    listener: Option<Socket>,
    stream: Option<Socket>,
    has_sent: bool,
    arrived: Arrived,
}

/// The packets that arrived at one end, and why it could not send.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arrived {
    /// Whether a small packet and a full one arrived, for each protocol.
    pub packets: [[bool; 2]; 2],
    /// The kernel's error for each protocol, if a rule forbids to send or no route leads there.
    pub unsent: [Option<i32>; 2],
}

impl PairProbe {
    /// Opens them at an address of an interface, at these ports of each protocol, or at any; and
    /// returns their addresses. The end that `listens` waits for the other one's connection.
    ///
    /// # Errors
    /// A port that is in use, or no such address or interface.
    pub fn open(
        local: IpAddr,
        interface: &str,
        ports: [Option<u16>; 2],
        listens: bool,
    ) -> Result<(Self, Vec<SocketAddr>)> {
        const WHAT: &str = "a socket that tries the path";
        let domain = if local.is_ipv4() { Domain::IPV4 } else { Domain::IPV6 };
        let open = |kind: Type, protocol: Protocol, port: Option<u16>| {
            let socket = Socket::new(domain, kind, Some(protocol)).or_setup("socket", WHAT)?;
            keep_to(&socket, Some(interface), WHAT)?;
            if protocol == Protocol::TCP {
                socket.set_reuse_address(true).or_setup("setsockopt SO_REUSEADDR", WHAT)?;
                socket.set_tcp_nodelay(true).or_setup("setsockopt TCP_NODELAY", WHAT)?;
                // It leaves nothing behind when it ends.
                socket.set_linger(Some(Duration::ZERO)).or_setup("setsockopt SO_LINGER", WHAT)?;
            }
            socket.set_nonblocking(true).or_setup("fcntl O_NONBLOCK", WHAT)?;
            let address = bind(&socket, SocketAddr::new(local, port.unwrap_or(0)), WHAT)?;
            Ok::<_, crate::Error>((socket, address))
        };
        let (udp, of_udp) = open(Type::DGRAM, Protocol::UDP, ports[UDP])?;
        let (tcp, of_tcp) = open(Type::STREAM, Protocol::TCP, ports[TCP])?;
        if listens {
            tcp.listen(1).or_setup("listen", WHAT)?;
        }
        let (listener, stream) = if listens { (Some(tcp), None) } else { (None, Some(tcp)) };
        let probe = Self { udp, listener, stream, has_sent: false, arrived: Arrived::default() };
        Ok((probe, vec![of_udp, of_tcp]))
    }

    /// Sends a small packet and a `full` one (bytes) by each protocol, UDP again at each call.
    /// Returns the packets that arrived: as soon as all have, at the latest after this time.
    pub fn exchange(&mut self, to: [SocketAddr; 2], full: [u32; 2], within: Duration) -> Arrived {
        let deadline = Instant::now() + within;
        let family = if to[UDP].is_ipv4() { Family::Ipv4 } else { Family::Ipv6 };
        let payloads = [Traffic::largest_segment(full[UDP], family), full[TCP]];
        let [datagram, segment] = payloads.map(|bytes| vec![0; (bytes as usize).clamp(2, LARGEST)]);
        let mut room = vec![0; LARGEST];
        self.note(UDP, self.udp.connect(&to[UDP].into()));
        // A path may lose a datagram, so they are sent at each call.
        for packet in [&datagram[..1], &datagram[..]] {
            self.note(UDP, self.udp.send(packet).map(drop));
        }
        if let (None, false, Some(stream)) = (&self.listener, self.has_sent, &self.stream) {
            let tried = stream.connect(&to[TCP].into());
            self.note(TCP, tried);
        }
        loop {
            receive(&self.udp, &mut self.arrived.packets[UDP], &mut room);
            self.exchange_stream(&segment, &mut room);
            let is_whole = self.arrived.packets.as_flattened().iter().all(|arrived| *arrived);
            if is_whole || Instant::now() >= deadline {
                return self.arrived.clone();
            }
            thread::sleep(PAUSE);
        }
    }

    fn exchange_stream(&mut self, segment: &[u8], room: &mut [u8]) {
        if let (Some(listener), None) = (&self.listener, &self.stream) {
            self.stream = listener.accept().ok().map(|(stream, _)| stream);
        }
        let Some(stream) = &self.stream else { return };
        let give = |bytes: &[u8]| stream.send_with_flags(bytes, libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL);
        if !self.has_sent && give(&segment[..1]).is_ok() {
            self.has_sent = true;
            // A part of it fills a packet, too.
            let _ = give(segment);
        }
        receive(stream, &mut self.arrived.packets[TCP], room);
    }

    fn note(&mut self, protocol: usize, tried: io::Result<()>) {
        if let Some(errno @ (libc::EPERM | libc::EACCES | libc::ENETUNREACH)) =
            tried.err().and_then(|error| error.raw_os_error())
        {
            self.arrived.unsent[protocol] = Some(errno);
        }
    }
}

fn receive(socket: &Socket, [small, full]: &mut [bool; 2], room: &mut [u8]) {
    // An error, such as that of a port that is closed, stands before packets, and is told once.
    for _ in 0..4 {
        let length = sys::receive(socket.as_raw_fd(), room, libc::MSG_DONTWAIT);
        *small |= length > 0;
        // The small packet has one byte.
        *full |= length > 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_that_are_sent_arrive_at_both_ends() {
        for address in ["127.0.0.1", "::1"] {
            let local: IpAddr = address.parse().unwrap();
            let [(mut one, to_one), (mut other, to_other)] =
                [false, true].map(|listens| PairProbe::open(local, "lo", [None; 2], listens).unwrap());
            let to = |addresses: &[SocketAddr]| [addresses[UDP], addresses[TCP]];
            let deadline = Instant::now() + Duration::from_secs(5);
            let whole = Arrived { packets: [[true; 2]; 2], unsent: [None; 2] };
            loop {
                let arrived = [
                    one.exchange(to(&to_other), [1500; 2], PAUSE),
                    other.exchange(to(&to_one), [1500; 2], PAUSE),
                ];
                if arrived.iter().all(|one| *one == whole) {
                    break;
                }
                assert!(Instant::now() < deadline, "{address}: {arrived:?}");
            }
            let taken = [None, Some(to_other[TCP].port())];
            assert!(PairProbe::open(local, "lo", taken, true).unwrap_err().to_string().contains("in use"));
        }
    }

    #[test]
    fn packets_that_nobody_receives_have_not_arrived() {
        let local: IpAddr = "127.0.0.1".parse().unwrap();
        let (mut one, _) = PairProbe::open(local, "lo", [None; 2], false).unwrap();
        let (closed, to) = PairProbe::open(local, "lo", [None; 2], true).unwrap();
        drop(closed);
        assert_eq!(one.exchange([to[UDP], to[TCP]], [1500; 2], PAUSE), Arrived::default());
        assert!(PairProbe::open("192.0.2.77".parse().unwrap(), "lo", [None; 2], true).is_err());
    }
}
