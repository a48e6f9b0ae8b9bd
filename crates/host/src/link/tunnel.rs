//! VXLAN tunnels: Ethernet in UDP from one underlay address to another.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};

use nix::errno::Errno;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::kernel::attributes::number;
use crate::link::entry::family;
use crate::link::links::Links;

/// A VXLAN tunnel (RFC 7348) between two hosts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vxlan {
    /// The network's number (VNI), less than 2^24.
    pub id: u32,
    pub local: IpAddr,
    /// Receives all packets; of the same family.
    pub remote: IpAddr,
    /// Of both ends, UDP.
    pub port: u16,
    pub underlay: String,
}

impl Vxlan {
    /// VXLAN's port by IANA (RFC 7348, section 8).
    pub const PORT: u16 = 4789;

    /// The network's number, and the port, of the tunnel with this number: VXLAN's own port, or
    /// ports below those that the kernel gives to sockets (`ip_local_port_range`).
    pub fn numbered(number: u16) -> (u32, u16) {
        (42 + u32::from(number), if number == 0 { Self::PORT } else { 14_789 + number })
    }

    /// The bytes that the tunnel adds to an Ethernet frame's payload: the inner Ethernet header
    /// (14), those of VXLAN (8) and UDP (8), and that of IPv4 (20) or IPv6 (40).
    pub fn overhead(ipv6: bool) -> u32 {
        if ipv6 { 70 } else { 50 }
    }
}

/// The number of numbers for interfaces that are made on a machine.
pub const NUMBERS: u16 = 16;

/// The name prefixes of such interfaces, which their number follows.
pub const NUMBERED: [&str; 2] = ["vxlan", "bridge"];

// `IFLA_VXLAN_*` of linux/if_link.h.
const ID: u16 = 1;
const GROUP: u16 = 2;
const LINK: u16 = 3;
const LOCAL: u16 = 4;
const PORT: u16 = 15;
const GROUP6: u16 = 16;
const LOCAL6: u16 = 17;
const UDP_CHECKSUM: u16 = 18;

impl Links {
    pub(crate) fn taken_numbers(&mut self) -> Result<Vec<u16>, Error> {
        let all = self.list()?;
        // Several sessions, and other programs, may share the network namespace of a machine.
        let is_taken = |number: &u16| {
            let (id, port) = Vxlan::numbered(*number);
            let is_it = |tunnel: (u32, u16)| tunnel.0 == id || tunnel.1 == port;
            all.iter().filter_map(|link| link.vxlan).any(is_it)
                || NUMBERED.iter().any(|kind| self.find(&format!("{kind}{number}")).is_ok())
                || is_in_use(port)
        };
        Ok((0..NUMBERS).filter(is_taken).collect())
    }

    /// Makes one end of a tunnel. It is down and has no address yet; its MTU is the underlay's less
    /// [`Vxlan::overhead`].
    ///
    /// # Errors
    /// The kernel's error, also for a network that exists here already; an unknown underlay.
    pub fn create_vxlan(&mut self, name: &str, vxlan: &Vxlan) -> Result<(), Error> {
        let underlay = self.find(&vxlan.underlay)?.index;
        let mut data =
            vec![(ID, number(vxlan.id)), (LINK, number(underlay)), (PORT, vxlan.port.to_be_bytes().to_vec())];
        for (address, [ipv4, ipv6]) in [(vxlan.local, [LOCAL, LOCAL6]), (vxlan.remote, [GROUP, GROUP6])] {
            data.push((if address.is_ipv4() { ipv4 } else { ipv6 }, family(address).1));
        }
        // Over IPv4 the outer UDP checksum is 0, as in RFC 7348 (section 4.1) and Open vSwitch;
        // over IPv6 that is for special cases only (RFC 6936).
        if vxlan.local.is_ipv4() {
            data.push((UDP_CHECKSUM, vec![0]));
        }
        let made = self.create(name, "vxlan", &data, &[], format_args!(""));
        made.map_err(|error| match error.errno().map(Errno::from_raw) {
            Some(Errno::EEXIST) => Error::from(format!(
                "cannot make the VXLAN tunnel {name:?}: this network namespace has an interface of that name, or a tunnel of \
                 network {} on UDP port {}, already: delete it (`ip -d link show type vxlan` lists them), or use another \
                 network namespace",
                vxlan.id, vxlan.port
            )),
            _ => error,
        })
    }

    /// Sets a tunnel up: the kernel opens its UDP socket.
    ///
    /// # Errors
    /// The kernel's error, also if the port is in use in this network namespace.
    pub fn set_vxlan_up(&mut self, name: &str, vxlan: &Vxlan) -> Result<(), Error> {
        let Vxlan { port, underlay, .. } = vxlan;
        self.set_up(name).map_err(|error| match error.errno().map(Errno::from_raw) {
            Some(Errno::EADDRINUSE) => Error::from(format!(
                "cannot set the VXLAN tunnel {name:?} up: UDP port {port} is in use in the network namespace of its underlay \
                 {underlay:?}: stop the process that holds it (`ss -uapn sport = :{port}` names it)"
            )),
            _ => error,
        })
    }
}

fn is_in_use(port: u16) -> bool {
    let at = |address: IpAddr| {
        UdpSocket::bind((address, port)).is_err_and(|error| error.kind() == ErrorKind::AddrInUse)
    };
    // A socket of one family need not hold the port in the other one.
    at(Ipv6Addr::UNSPECIFIED.into()) || at(Ipv4Addr::UNSPECIFIED.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_overhead_is_that_of_the_headers() {
        assert_eq!((Vxlan::overhead(false), Vxlan::overhead(true)), (14 + 8 + 8 + 20, 14 + 8 + 8 + 40));
    }
}
