//! Socket options that a workload may request, and the fallbacks.

use crate::note::Note;
use std::fmt;
use std::net::IpAddr;
use std::os::fd::AsRawFd;
use std::time::Duration;

use socket2::Socket;
use words::Traffic;

use crate::error::{Context, Error, Result};
use crate::sys;

/// The most packets of one poll of the device's queue (`SO_BUSY_POLL_BUDGET`): those of an ordinary
/// one (`NAPI_POLL_WEIGHT` of linux/netdevice.h). The kernel's default of 8 for busy polling leaves
/// bursts to interrupts.
const BUDGET: libc::c_int = 64;

/// A key that is one socket option of type `int`, which the kernel keeps unchanged.
struct Integer {
    key: &'static str,
    call: &'static str,
    level: libc::c_int,
    option: libc::c_int,
    value: fn(&Traffic) -> Option<u32>,
}

/// All of them: a new one is a row here, and its key in `words`.
const INTEGERS: &[Integer] = &[
    Integer {
        key: "notsent_lowat",
        call: "setsockopt TCP_NOTSENT_LOWAT",
        level: libc::IPPROTO_TCP,
        option: libc::TCP_NOTSENT_LOWAT,
        value: |traffic| traffic.notsent_lowat,
    },
    Integer {
        key: "nodelay",
        call: "setsockopt TCP_NODELAY",
        level: libc::IPPROTO_TCP,
        option: libc::TCP_NODELAY,
        value: |traffic| (!traffic.kind.is_udp()).then(|| u32::from(traffic.is_nodelay())),
    },
];

pub(crate) fn set_integers(socket: &Socket, traffic: &Traffic, what: &impl fmt::Display) -> Result<()> {
    for Integer { call, level, option, value, .. } in INTEGERS {
        let Some(asked) = value(traffic) else { continue };
        let asked = libc::c_int::try_from(asked).unwrap_or(libc::c_int::MAX);
        sys::set_option(socket.as_raw_fd(), *level, *option, asked).or_setup(call, what)?;
    }
    Ok(())
}

pub(crate) fn check_integers(socket: &Socket, traffic: &Traffic) -> Result<()> {
    for Integer { key, call, level, option, value } in INTEGERS {
        let Some(asked) = value(traffic) else { continue };
        let applied = sys::option_number(socket.as_raw_fd(), *level, *option);
        let applied = applied.or_setup(call, "a connected socket")?;
        if u32::try_from(applied) != Ok(asked) {
            return Err(not_applied(key, &asked, &applied, "look for a program that changes sockets (BPF)"));
        }
    }
    Ok(())
}

/// The error of a connected socket that reads back another value.
pub(super) fn not_applied(
    option: &str,
    asked: &impl fmt::Display,
    applied: &impl fmt::Display,
    way_out: &str,
) -> Error {
    Error::Setup(format!(
        "`{option}` = {asked} was requested, but the connected socket reads back {applied}: {way_out}"
    ))
}

/// Marks all packets of the socket with a code point of differentiated services (RFC 2474), the
/// upper six bits of the traffic class. A mark that the kernel accepts but does not keep is an
/// error.
pub(crate) fn mark(socket: &Socket, local: IpAddr, dscp: u8, what: &impl fmt::Display) -> Result<()> {
    let class = u32::from(dscp) << 2;
    let (call, kept) = match local {
        IpAddr::V4(_) => ("setsockopt IP_TOS", socket.set_tos_v4(class).and_then(|()| socket.tos_v4())),
        IpAddr::V6(_) => {
            ("setsockopt IPV6_TCLASS", socket.set_tclass_v6(class).and_then(|()| socket.tclass_v6()))
        }
    };
    // The lower two bits are congestion notification, which TCP controls.
    if kept.or_setup(call, what)? & !3 == class {
        return Ok(());
    }
    Err(Error::setup(call, what, &std::io::Error::from_raw_os_error(libc::EINVAL)))
}

/// Sets the priority of an accepted socket's mark: it inherits only the mark (`sk_clone_lock` in
/// net/core/sock.c). Over IPv6 a mark has no priority.
pub(crate) fn prioritize(socket: &Socket, local: IpAddr, dscp: u8) -> Result<()> {
    if local.is_ipv6() {
        return Ok(());
    }
    // The kernel ignores a mark that is set already.
    mark(socket, local, 0, &"an accepted connection")?;
    mark(socket, local, dscp, &"an accepted connection")
}

/// Limits the kernel's rate to `bits` per second (`SO_MAX_PACING_RATE`). TCP paces by itself, with
/// or without the `fq` qdisc, and counts a segment's payload without its headers. It starts with
/// the eleventh segment, and sends at least two segments at a time (net/ipv4/tcp_output.c,
/// `tcp_update_skb_after_send` and `tcp_tso_autosize`).
pub(crate) fn pace(socket: &Socket, bits: u64, what: impl fmt::Display) -> Result<()> {
    let bytes = (bits / 8).max(1);
    let done = sys::set_option_bytes(
        socket.as_raw_fd(),
        libc::SOL_SOCKET,
        libc::SO_MAX_PACING_RATE,
        &bytes.to_ne_bytes(),
    );
    done.or_setup("setsockopt SO_MAX_PACING_RATE", what)
}

/// Removes the limit, so that queued data leave as soon as possible.
pub(crate) fn unpace(socket: &Socket) {
    let all = u64::MAX.to_ne_bytes();
    // On failure queued data take longer, within bounds set elsewhere.
    let _ = sys::set_option_bytes(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, &all);
}

/// Makes waits for data poll the device's queue for `time` before the thread sleeps. Returns a note
/// if that was not applied, with the reason and the fallback.
pub(crate) fn poll_busily(socket: &Socket, time: Duration) -> Option<Note> {
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
            let reason = match error.raw_os_error() {
                Some(libc::EPERM) => "it needs the privilege CAP_NET_ADMIN".to_owned(),
                Some(libc::ENOPROTOOPT) => "this kernel was built without it".to_owned(),
                _ => error.to_string(),
            };
            return Some(Note::NoBusyPolling { option: name.to_owned(), why: reason });
        }
    }
    None
}

/// Why active busy polling had no effect for a socket that has received something.
pub(crate) fn polled_nothing(socket: &Socket) -> Option<Note> {
    if matches!(sys::option_number(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_BUSY_POLL), Ok(0)) {
        return None;
    }
    match sys::option_number(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_INCOMING_NAPI_ID) {
        Ok(0) => Some(Note::NothingToPoll),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use socket2::{Domain, Type};

    #[test]
    fn integers_are_set_and_what_else_reads_back_is_an_error() {
        use words::Kind;
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        let plain = Traffic::new(Kind::TcpStream);
        let traffic = Traffic { nodelay: Some(true), notsent_lowat: Some(16_384), ..plain.clone() };
        set_integers(&socket, &traffic, &"a socket").unwrap();
        assert_eq!(check_integers(&socket, &traffic), Ok(()));
        let fd = socket.as_raw_fd();
        assert_eq!(sys::option_number(fd, libc::IPPROTO_TCP, libc::TCP_NOTSENT_LOWAT).unwrap(), 16_384);
        for (option, words) in [
            (libc::TCP_NOTSENT_LOWAT, ["`notsent_lowat` = 16384", "reads back 1", "BPF"]),
            (libc::TCP_NODELAY, ["`nodelay` = 1", "reads back 0", "BPF"]),
        ] {
            let changed = libc::c_int::from(option == libc::TCP_NOTSENT_LOWAT);
            sys::set_option(fd, libc::IPPROTO_TCP, option, changed).unwrap();
            let text = check_integers(&socket, &traffic).unwrap_err().to_string();
            assert!(words.iter().all(|word| text.contains(word)), "{text}");
            set_integers(&socket, &traffic, &"a socket").unwrap();
        }
        let datagrams = Socket::new(Domain::IPV4, Type::DGRAM, None).unwrap();
        assert_eq!(set_integers(&datagrams, &Traffic::new(Kind::UdpRr), &"a socket"), Ok(()));
        assert_eq!(check_integers(&datagrams, &Traffic::new(Kind::UdpRr)), Ok(()));
    }

    #[test]
    fn a_mark_is_kept_on_both_versions_of_ip() {
        for (local, domain) in [("127.0.0.1", Domain::IPV4), ("::1", Domain::IPV6)] {
            for kind in [Type::DGRAM, Type::STREAM] {
                let socket = Socket::new(domain, kind, None).unwrap();
                for dscp in [0, 8, 46, 63] {
                    mark(&socket, local.parse().unwrap(), dscp, &"a socket").unwrap();
                }
            }
        }
    }

    #[test]
    fn a_pace_is_in_bytes_and_never_zero() {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        let rate = || {
            let mut room = [0; 8];
            sys::option(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, &mut room).unwrap();
            u64::from_ne_bytes(room)
        };
        for (bits, bytes) in [(1, 1), (800, 100), (1_000_000_000_000, 125_000_000_000)] {
            pace(&socket, bits, "a socket").unwrap();
            assert_eq!(rate(), bytes);
        }
        unpace(&socket);
        assert_eq!(rate(), u64::MAX);
    }

    #[test]
    fn a_socket_that_received_nothing_has_no_queue() {
        let socket = Socket::new(Domain::IPV4, Type::DGRAM, None).unwrap();
        assert_eq!(polled_nothing(&socket), None, "it was not asked to poll");
        match poll_busily(&socket, Duration::from_micros(50)) {
            None => assert_eq!(polled_nothing(&socket), Some(Note::NothingToPoll)),
            Some(note) => {
                assert!(note.to_string().contains("CAP_NET_ADMIN"), "{note}");
                assert_eq!(polled_nothing(&socket), None);
            }
        }
    }
}
