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
    // Its value has 64 bits instead of 32.
    is_long: bool,
    // The bits of the option that are the key's.
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
    is_long: false,
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
    is_long: true,
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
        let done = if self.is_long {
            sys::set_option_bytes(socket.as_raw_fd(), level, name, &value.to_ne_bytes())
        } else {
            let value = libc::c_int::try_from(value).unwrap_or(libc::c_int::MAX);
            sys::set_option(socket.as_raw_fd(), level, name, value)
        };
        done.or_setup(call, what)
    }

    fn read(&self, socket: &Socket) -> Result<u64> {
        let (call, level, name) = self.option_of(socket)?;
        let read = if self.is_long {
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
        let differs = |keyed: &&Keyed| {
            let value = keyed.value;
            states.iter().any(|state| value(state) != value(own))
        };
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
mod tests {
    use super::*;
    use socket2::Type;
    use words::{KEYS, Key, Kind, Workload};

    /// Traffic with a key set.
    fn traffic_with(kind: Kind, key: &Key, text: &str) -> Option<Traffic> {
        let mut workload = Workload::new(kind);
        key.set(&mut workload, &key.parse(text).ok()?);
        Some(workload.traffic)
    }

    fn socket(domain: Domain, kind: Kind) -> Socket {
        Socket::new(domain, if kind.is_udp() { Type::DGRAM } else { Type::STREAM }, None).unwrap()
    }

    #[test]
    fn early_ones_are_set_and_what_else_reads_back_is_an_error() {
        let stream = socket(Domain::IPV4, Kind::TcpStream);
        let traffic =
            Traffic { nodelay: Some(true), notsent_lowat: Some(16_384), ..Traffic::new(Kind::TcpStream) };
        open(&stream, &traffic, &"a socket").unwrap();
        assert_eq!(check(&stream, &traffic), Ok(()));
        let fd = stream.as_raw_fd();
        assert_eq!(sys::option_number(fd, libc::IPPROTO_TCP, libc::TCP_NOTSENT_LOWAT).unwrap(), 16_384);
        for (option, words) in [
            (libc::TCP_NOTSENT_LOWAT, ["`notsent_lowat` = 16384", "reads back 1", "BPF"]),
            (libc::TCP_NODELAY, ["`nodelay` = 1", "reads back 0", "BPF"]),
        ] {
            let changed = libc::c_int::from(option == libc::TCP_NOTSENT_LOWAT);
            sys::set_option(fd, libc::IPPROTO_TCP, option, changed).unwrap();
            let text = check(&stream, &traffic).unwrap_err().to_string();
            assert!(words.iter().all(|word| text.contains(word)), "{text}");
            open(&stream, &traffic, &"a socket").unwrap();
        }
        let datagrams = socket(Domain::IPV4, Kind::UdpRr);
        let bare = Traffic { checksum: false, ..Traffic::new(Kind::UdpRr) };
        open(&datagrams, &bare, &"a socket").unwrap();
        assert_eq!(check(&datagrams, &bare), Ok(()));
        assert!(check(&datagrams, &Traffic::new(Kind::UdpRr)).is_err());
    }

    #[test]
    fn a_mark_is_kept_on_both_versions_of_ip() {
        for domain in [Domain::IPV4, Domain::IPV6] {
            for kind in [Kind::UdpStream, Kind::TcpStream] {
                let one = socket(domain, kind);
                for dscp in [0, 8, 46, 63] {
                    let traffic = Traffic { dscp: Some(dscp), ..Traffic::new(kind) };
                    DSCP.set(&one, &traffic, &"a socket").unwrap();
                    assert_eq!(DSCP.check(&one, &traffic), Ok(()));
                }
            }
        }
    }

    #[test]
    fn a_pace_is_in_bytes_and_never_zero() {
        let stream = socket(Domain::IPV4, Kind::TcpStream);
        for (pace, bytes) in [("1bit", 1), ("800bit", 100), ("1Tbit", 125_000_000_000)] {
            let traffic = traffic_with(Kind::TcpStream, Key::find("pacing").unwrap(), pace).unwrap();
            PACING.set(&stream, &traffic, &"a socket").unwrap();
            assert_eq!(PACING.read(&stream), Ok(bytes));
        }
        unpace(&stream);
        assert_eq!(PACING.read(&stream), Ok(u64::MAX));
    }

    /// Every key that `words` lets conditions switch in turns is a socket option of a row here, for
    /// both versions of IP; except the pace of datagrams.
    #[test]
    fn each_key_that_can_be_switched_in_flight_is_switched_and_read_back() {
        let values =
            ["on", "off", "1024", "7", "9", "5us", "2us", "1Mbit", "2Mbit", "gso", "send", "gro", "recv"];
        let mut switched = 0;
        let all = KEYS.iter().flat_map(|key| key.in_turns.iter().map(move |kind| (key, *kind)));
        let is_option = |key: &Key, kind: Kind| match key.name {
            "pacing" => !kind.is_udp(),
            "sender" | "reader" => kind.is_udp(),
            _ => true,
        };
        for (key, kind) in all.filter(|(key, kind)| is_option(key, *kind)) {
            let states: Vec<Traffic> =
                values.iter().filter_map(|text| traffic_with(kind, key, text)).collect();
            assert!(states.len() > 1, "{key:?}");
            for domain in [Domain::IPV4, Domain::IPV6] {
                let one = socket(domain, kind);
                let switches = SocketSwitches::new(&states[0], states.clone());
                assert_eq!(switches.options.len(), 1, "{key:?} {kind}");
                let sends = switches.options[0].sends != Some(false);
                for state in (0..states.len()).chain([0]) {
                    match switches.switch(&one, sends, state, 0) {
                        Ok(()) => switched += 1,
                        // Longer polling needs CAP_NET_ADMIN.
                        Err(error) => assert!(
                            key.name == "busy_poll" && error.to_string().contains("SO_BUSY_POLL"),
                            "{key:?} {error}"
                        ),
                    }
                    let is_set = switches.check(&one, sends, state);
                    assert!(is_set.is_ok() || key.name == "busy_poll", "{key:?} {is_set:?}");
                }
                let other = switches.check(&one, sends, 1).unwrap_err().to_string();
                assert!(other.contains(&format!("`{}` = ", key.name)), "{other}");
            }
        }
        assert!(switched > 50, "{switched}");
    }

    #[test]
    fn a_socket_that_only_receives_is_not_paced() {
        let paced = |pace| traffic_with(Kind::TcpStream, Key::find("pacing").unwrap(), pace).unwrap();
        let states = vec![paced("1Mbit"), paced("2Mbit")];
        let switches = SocketSwitches::new(&states[0], states.clone());
        let stream = socket(Domain::IPV4, Kind::TcpStream);
        switches.switch(&stream, false, 1, 0).unwrap();
        assert_eq!(switches.check(&stream, false, 1), Ok(()));
        assert_eq!(PACING.read(&stream), Ok(u64::MAX));
    }

    #[test]
    fn what_all_states_have_is_left_alone() {
        let same = Traffic { dscp: Some(8), ..Traffic::new(Kind::TcpStream) };
        let switches = SocketSwitches::new(&same, vec![same.clone(), same.clone()]);
        let stream = socket(Domain::IPV4, Kind::TcpStream);
        switches.switch(&stream, true, 1, 0).unwrap();
        assert_eq!(DSCP.read(&stream), Ok(0));
    }
}
