//! The options of a connected socket as the kernel reads them back, compared with the request.

use std::fmt::Display;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::AsRawFd;

use serde::{Deserialize, Serialize};
use socket2::Socket;
use words::{Family, Traffic};

use super::keyed;
use super::open::{Buffers, open};
use super::statistics::TcpApplied;
use crate::error::{Context, Result};
use crate::sys;

/// The options of sockets right after they connected; equal ones of an end are kept once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Applied {
    /// The flows that have them.
    pub flows: u32,
    /// Buffer sizes; TCP's grow later where none were requested.
    pub buffers: Buffers,
    /// The bytes that must have arrived before a receive returns (`SO_RCVLOWAT`).
    pub low_water: u32,
    /// The differentiated services code point of its packets.
    pub dscp: u8,
    /// The priority that qdiscs see (`SO_PRIORITY`).
    pub priority: u32,
    /// TCP only.
    pub tcp: Option<TcpApplied>,
}

impl Applied {
    pub(crate) fn read(socket: &Socket, traffic: &Traffic) -> Result<Self> {
        const WHAT: &str = "a connected socket";
        let number = |name, call| {
            let number = sys::option_number(socket.as_raw_fd(), libc::SOL_SOCKET, name);
            number.map(i32::unsigned_abs).or_setup(call, WHAT)
        };
        Ok(Self {
            flows: 1,
            buffers: Buffers::read(socket)?,
            low_water: number(libc::SO_RCVLOWAT, "getsockopt SO_RCVLOWAT")?,
            dscp: (keyed::DSCP.read(socket)? >> 2) as u8,
            priority: number(libc::SO_PRIORITY, "getsockopt SO_PRIORITY")?,
            tcp: (!traffic.kind.is_udp()).then(|| TcpApplied::read(socket)).transpose()?,
        })
    }

    /// Reads the options back; an option that the kernel changed is an error.
    pub(crate) fn read_as_asked(socket: &Socket, traffic: &Traffic) -> Result<Self> {
        let applied = Self::read(socket, traffic)?;
        applied.check(traffic)?;
        keyed::check(socket, traffic)?;
        Ok(applied)
    }

    fn check(&self, traffic: &Traffic) -> Result<()> {
        if let Some(bytes) = traffic.socket_buffer.map(u64::from) {
            // The kernel doubles the requested size (socket(7)).
            same("socket_buffer", &bytes, &(self.buffers.send / 2), BUFFERS)?;
            same("socket_buffer", &bytes, &(self.buffers.receive / 2), BUFFERS)?;
        }
        if let Some(dscp) = &traffic.dscp {
            same("dscp", dscp, &self.dscp, DSCP)?;
        }
        if let (Some(tcp), Some(name)) = (&self.tcp, traffic.congestion_control.name()) {
            same("congestion_control", name, tcp.congestion_control.as_str(), CONGESTION_CONTROL)?;
        }
        Ok(())
    }
}

const BUFFERS: &str = "buffers are limited by net.core.wmem_max and net.core.rmem_max unless the privilege CAP_NET_ADMIN lifts \
                       that, and have at least 2304 and 1152 bytes";
const DSCP: &str = "look for a program that changes sockets (BPF), and net.ipv4.tcp_reflect_tos";
const CONGESTION_CONTROL: &str = "look for `congctl` in the routes (`ip route`)";

fn same<T>(option: &'static str, asked: &T, applied: &T, way_out: &'static str) -> Result<()>
where
    T: PartialEq + Display + ?Sized,
{
    if asked == applied { Ok(()) } else { Err(keyed::not_applied(option, asked, applied, way_out)) }
}

/// The requirements of this traffic over this version of IP that this host lacks, in words with the
/// consequence; empty if there are none. Tried on a separate socket: nothing leaves this host.
pub fn lacking(traffic: &Traffic, family: Family) -> Vec<String> {
    let local: IpAddr = match family {
        Family::Ipv4 => Ipv4Addr::UNSPECIFIED.into(),
        Family::Ipv6 => Ipv6Addr::UNSPECIFIED.into(),
    };
    let tried = open(traffic, local, "a socket").and_then(|one| Applied::read_as_asked(&one, traffic));
    tried.err().map(|error| error.to_string()).into_iter().collect()
}

// Equal ones are kept once.
pub(crate) fn collect(all: &mut Vec<Applied>, one: Applied) {
    let alike = |known: &&mut Applied| Applied { flows: one.flows, ..(**known).clone() } == one;
    if let Some(known) = all.iter_mut().find(alike) { known.flows += one.flows } else { all.push(one) }
}

#[cfg(test)]
mod tests;
