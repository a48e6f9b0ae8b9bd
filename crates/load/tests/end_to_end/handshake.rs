//! The packets that set a connection up: options that come too late for them are seen nowhere else.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

use crate::namespace::enter_namespace;
use crate::support::{run, spec, traffic};
use netassay_load::{Kind, Spec, Traffic};

/// TCP's flags of a packet (RFC 9293, section 3.1).
const SYN: u8 = 2;
const ACK: u8 = 16;
/// TCP's option for window scaling (RFC 7323, section 2.2).
const WINDOW_SCALE: u8 = 3;

/// A packet that sets a connection up.
#[derive(Clone, Copy, Debug)]
struct Handshake {
    is_answer: bool,
    dscp: u8,
    window_scale: Option<u8>,
}

impl Handshake {
    /// Reads a packet from its IP header on; `None` if it sets no TCP connection up.
    fn parse(packet: &[u8]) -> Option<Self> {
        let first = *packet.first()?;
        let (class, tcp) = match first >> 4 {
            4 if packet.get(9) == Some(&6) => (*packet.get(1)?, usize::from(first & 15) * 4),
            6 if packet.get(6) == Some(&6) => ((first << 4) | (packet.get(1)? >> 4), 40),
            _ => return None,
        };
        let tcp = packet.get(tcp..)?;
        let (length, flags) = (usize::from(tcp.get(12)? >> 4) * 4, *tcp.get(13)?);
        let is_handshake = flags & SYN != 0;
        is_handshake.then(|| Self {
            is_answer: flags & ACK != 0,
            dscp: class >> 2,
            window_scale: window_scale(tcp.get(20..length).unwrap_or_default()),
        })
    }
}

fn window_scale(mut options: &[u8]) -> Option<u8> {
    loop {
        match *options {
            [WINDOW_SCALE, 3, scale, ..] => return Some(scale),
            [1, ..] => options = &options[1..],
            [kind, length, ..] if kind != 0 && length >= 2 => {
                options = options.get(usize::from(length)..)?;
            }
            _ => return None,
        }
    }
}

/// A socket that receives all packets of this network namespace, from their IP header on.
fn capture() -> OwnedFd {
    let all = i32::from((libc::ETH_P_ALL as u16).to_be());
    // SAFETY: the call takes three numbers.
    let fd = unsafe { libc::socket(libc::AF_PACKET, libc::SOCK_DGRAM | libc::SOCK_NONBLOCK, all) };
    assert!(fd >= 0, "{}", std::io::Error::last_os_error());
    // SAFETY: the descriptor has just been opened, and nobody else has it.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

fn captured(socket: &OwnedFd) -> Vec<Handshake> {
    let mut room = [0u8; 256];
    let mut found = Vec::new();
    loop {
        // SAFETY: pointer and size are those of `room`, which outlives the call.
        let got = unsafe { libc::recv(socket.as_raw_fd(), room.as_mut_ptr().cast(), room.len(), 0) };
        let Ok(got) = usize::try_from(got) else { return found };
        found.extend(Handshake::parse(&room[..got]));
    }
}

#[test]
fn the_handshake_has_the_mark_and_the_window_scaling_that_were_asked_for() {
    const TEST: &str = "the_handshake_has_the_mark_and_the_window_scaling_that_were_asked_for";
    if !enter_namespace(TEST, &[]) {
        return;
    }
    for local in ["127.0.0.1", "::1"] {
        let of = |dscp, socket_buffer| {
            let packets = capture();
            let traffic = Traffic { dscp, socket_buffer, ..traffic(Kind::TcpRr) };
            run(&Spec { traffic, ..spec(Kind::TcpRr, local) }, Duration::from_millis(20));
            let found = captured(&packets);
            let first = |is_answer| found.iter().find(|one| one.is_answer == is_answer).copied().unwrap();
            (first(false), first(true))
        };
        let (request, answer) = of(Some(46), Some(8192));
        assert_eq!((request.dscp, answer.dscp), (46, 46), "{local}");
        assert_eq!((request.window_scale, answer.window_scale), (Some(0), Some(0)), "{local}");
        let (request, answer) = of(None, None);
        assert_eq!((request.dscp, answer.dscp), (0, 0), "{local}");
        assert!(request.window_scale > Some(0) && answer.window_scale > Some(0), "{request:?} {answer:?}");
    }
}
