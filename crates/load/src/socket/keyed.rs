//! Keys that are one socket option each: set, read back, and switched while traffic flows.

use std::fmt::Display;
use std::os::fd::AsRawFd;

use socket2::{Domain, Socket};
use words::{Reader, Traffic};

use crate::error::{Context, Error, Result};
use crate::sys;

// A key that is one socket option, which the kernel keeps unchanged.
#[derive(Debug)]
pub(crate) struct Keyed {
    key: &'static str,
    // The call that sets it, the option's level and its name, for a version of IP.
    option: fn(Domain) -> (&'static str, libc::c_int, libc::c_int),
    // The bits of the option that are the key's: of 32, or of 64.
    bits: u64,
    // It is set before the connection exists, and read back from it.
    is_early: bool,
    // The sockets that have it: those that send, or those that receive. `None`: all.
    sends: Option<bool>,
    value: fn(&Traffic) -> Option<u64>,
}

const PLAIN: Keyed = Keyed {
    key: "",
    option: |_| ("", 0, 0),
    bits: u32::MAX as u64,
    is_early: false,
    sends: None,
    value: |_| None,
};

// TCP paces by itself, with or without `fq`, counts payload without headers, starts with the
// eleventh segment, and sends at least two segments at a time (net/ipv4/tcp_output.c,
// `tcp_update_skb_after_send` and `tcp_tso_autosize`).
pub(super) const PACING: Keyed = Keyed {
    key: "pacing",
    option: |_| ("setsockopt SO_MAX_PACING_RATE", libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE),
    bits: u64::MAX,
    sends: Some(true),
    // Bytes per second.
    value: |traffic| traffic.pacing.filter(|_| !traffic.kind.is_udp()).map(|pace| (pace.bits() / 8).max(1)),
    ..PLAIN
};

// The upper six bits of the traffic class (RFC 2474); the lower two are congestion notification.
pub(super) const DSCP: Keyed = Keyed {
    key: "dscp",
    option: |domain| {
        if domain == Domain::IPV4 {
            ("setsockopt IP_TOS", libc::IPPROTO_IP, libc::IP_TOS)
        } else {
            ("setsockopt IPV6_TCLASS", libc::IPPROTO_IPV6, libc::IPV6_TCLASS)
        }
    },
    bits: 63 << 2,
    value: |traffic| traffic.dscp.map(|dscp| u64::from(dscp) << 2),
    ..PLAIN
};

// A new key is a row here, and a key in `words`. All that conditions switch in turns are here, but
// the pace of datagrams and the senders and readers of streams, which are no socket options.
const ALL: &[Keyed] = &[
    Keyed {
        key: "notsent_lowat",
        option: |_| ("setsockopt TCP_NOTSENT_LOWAT", libc::IPPROTO_TCP, libc::TCP_NOTSENT_LOWAT),
        is_early: true,
        value: |traffic| traffic.notsent_lowat.map(u64::from),
        ..PLAIN
    },
    Keyed {
        key: "nodelay",
        option: |_| ("setsockopt TCP_NODELAY", libc::IPPROTO_TCP, libc::TCP_NODELAY),
        is_early: true,
        value: |traffic| (!traffic.kind.is_udp()).then(|| traffic.is_nodelay().into()),
        ..PLAIN
    },
    Keyed {
        key: "checksum",
        option: |_| ("setsockopt SO_NO_CHECK", libc::SOL_SOCKET, libc::SO_NO_CHECK),
        is_early: true,
        value: |traffic| traffic.kind.is_udp().then(|| (!traffic.checksum).into()),
        ..PLAIN
    },
    Keyed {
        key: "busy_poll",
        option: |_| ("setsockopt SO_BUSY_POLL", libc::SOL_SOCKET, libc::SO_BUSY_POLL),
        value: |traffic| traffic.busy_poll.and_then(|time| u64::try_from(time.as_micros()).ok()),
        ..PLAIN
    },
    DSCP,
    PACING,
    // The size at which a buffer is split into datagrams; 0: not at all.
    Keyed {
        key: "sender",
        option: |_| ("setsockopt UDP_SEGMENT", libc::SOL_UDP, libc::UDP_SEGMENT),
        sends: Some(true),
        value: |traffic| {
            let size = if traffic.sender.segments() { traffic.message } else { 0 };
            traffic.kind.is_udp().then_some(size.into())
        },
        ..PLAIN
    },
    Keyed {
        key: "reader",
        option: |_| ("setsockopt UDP_GRO", libc::SOL_UDP, sys::UDP_GRO),
        sends: Some(false),
        value: |traffic| traffic.kind.is_udp().then_some((traffic.reader == Reader::Gro).into()),
        ..PLAIN
    },
];

impl Keyed {
    // For traffic without a value it stays as it is.
    pub(super) fn set(&self, socket: &Socket, traffic: &Traffic, what: &impl Display) -> Result<()> {
        (self.value)(traffic).map_or(Ok(()), |value| self.set_to(socket, value, what))
    }

    pub(super) fn set_to(&self, socket: &Socket, value: u64, what: &impl Display) -> Result<()> {
        let (call, level, name) = self.option_of(socket)?;
        let done = if self.bits > u64::from(u32::MAX) {
            sys::set_option_bytes(socket.as_raw_fd(), level, name, &value.to_ne_bytes())
        } else {
            let value = libc::c_int::try_from(value).unwrap_or(libc::c_int::MAX);
            sys::set_option(socket.as_raw_fd(), level, name, value)
        };
        done.or_setup(call, what)
    }

    pub(super) fn read(&self, socket: &Socket) -> Result<u64> {
        let (call, level, name) = self.option_of(socket)?;
        let read = if self.bits > u64::from(u32::MAX) {
            let mut room = [0; size_of::<u64>()];
            sys::option(socket.as_raw_fd(), level, name, &mut room).map(|_| u64::from_ne_bytes(room))
        } else {
            sys::option_number(socket.as_raw_fd(), level, name).map(|number| number.unsigned_abs().into())
        };
        Ok(read.or_setup(call, "a connected socket, to read it back")? & self.bits)
    }

    fn option_of(&self, socket: &Socket) -> Result<(&'static str, libc::c_int, libc::c_int)> {
        Ok((self.option)(socket.domain().or_setup("getsockopt SO_DOMAIN", "a socket")?))
    }

    /// Fails if the socket reads back another value.
    fn check(&self, socket: &Socket, traffic: &Traffic) -> Result<()> {
        let Some(asked) = (self.value)(traffic) else { return Ok(()) };
        let applied = self.read(socket)?;
        if applied == asked {
            return Ok(());
        }
        Err(not_applied(self.key, asked, applied, "look for a program that changes sockets (BPF)"))
    }
}

pub(super) fn not_applied(option: &str, asked: impl Display, applied: impl Display, way_out: &str) -> Error {
    Error::Setup(format!(
        "`{option}` = {asked} was requested, but the connected socket reads back {applied}: {way_out}"
    ))
}

pub(super) fn open(socket: &Socket, traffic: &Traffic, what: &impl Display) -> Result<()> {
    ALL.iter().filter(|keyed| keyed.is_early).try_for_each(|keyed| keyed.set(socket, traffic, what))
}

pub(super) fn check(socket: &Socket, traffic: &Traffic) -> Result<()> {
    ALL.iter().filter(|keyed| keyed.is_early).try_for_each(|keyed| keyed.check(socket, traffic))
}

// Queued data leave as soon as possible.
pub(crate) fn unpace(socket: &Socket) {
    // On failure queued data take longer, within bounds set elsewhere.
    let _ = PACING.set_to(socket, u64::MAX, &"a socket");
}

/// Switches a flow's sockets between states of traffic: the options in which they differ.
#[derive(Debug)]
pub struct SocketSwitches {
    options: Vec<&'static Keyed>,
    pub(crate) states: Vec<Traffic>,
}

impl SocketSwitches {
    pub(crate) fn new(own: &Traffic, states: Vec<Traffic>) -> Self {
        let differs = |keyed: &&Keyed| states.iter().any(|state| (keyed.value)(state) != (keyed.value)(own));
        Self { options: ALL.iter().filter(differs).collect(), states }
    }

    fn options(&self, sends: bool) -> impl Iterator<Item = &Keyed> {
        self.options.iter().copied().filter(move |keyed| keyed.sends.is_none_or(|own| own == sends))
    }

    pub(crate) fn switch(&self, socket: &Socket, sends: bool, state: usize, flow: usize) -> Result<()> {
        for keyed in self.options(sends) {
            if keyed.check(socket, &self.states[state]).is_err() {
                keyed.set(socket, &self.states[state], &super::flow(flow))?;
                keyed.check(socket, &self.states[state])?;
            }
        }
        Ok(())
    }

    pub(crate) fn check(&self, socket: &Socket, sends: bool, state: usize) -> Result<()> {
        self.options(sends).try_for_each(|keyed| keyed.check(socket, &self.states[state]))
    }
}

#[cfg(test)]
mod tests;
