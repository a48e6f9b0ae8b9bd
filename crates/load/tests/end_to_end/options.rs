//! Socket options that show: the mark of packets, busy polling that cannot be had or cannot act,
//! Nagle's delay.

use std::io::Read;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::time::Duration;

use crate::namespace::enter_namespace;
use crate::support::{PATIENCE, finish, run, spec, start, step, traffic};
use netassay_load::{CongestionControl, Endpoint, Kind, Phase, Reader, Spec, Traffic};

const WINDOW: Duration = Duration::from_millis(50);
const DSCP: u8 = 46;

fn set(socket: &impl AsRawFd, level: i32, name: i32) {
    let one: libc::c_int = 1;
    // SAFETY: pointer and size are those of a number that outlives the call.
    let done = unsafe {
        libc::setsockopt(socket.as_raw_fd(), level, name, (&raw const one).cast(), size_of_val(&one) as u32)
    };
    assert_eq!(done, 0, "{}", std::io::Error::last_os_error());
}

/// A socket that is told each packet's traffic class.
fn observer(local: &str) -> UdpSocket {
    let socket = UdpSocket::bind((local, 0)).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    match local.parse().unwrap() {
        IpAddr::V4(_) => set(&socket, libc::IPPROTO_IP, libc::IP_RECVTOS),
        IpAddr::V6(_) => set(&socket, libc::IPPROTO_IPV6, libc::IPV6_RECVTCLASS),
    }
    socket
}

/// Receives a datagram: its length, its sender and its traffic class.
fn observe(socket: &UdpSocket) -> (usize, SocketAddr, u8) {
    let (mut room, mut control) = ([0u8; 2048], [0u64; 16]);
    // SAFETY: zeros are null pointers and lengths of 0.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    let mut part = libc::iovec { iov_base: room.as_mut_ptr().cast(), iov_len: room.len() };
    header.msg_iov = &raw mut part;
    header.msg_iovlen = 1;
    header.msg_control = control.as_mut_ptr().cast();
    header.msg_controllen = size_of_val(&control);
    // Looks at it first: std tells who sent it.
    let from = socket.peek_from(&mut [0; 2048]).unwrap().1;
    // SAFETY: all that the header points to outlives the call.
    let got = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut header, 0) };
    assert!(got >= 0, "{}", std::io::Error::last_os_error());
    // SAFETY: the kernel has filled in the header and the control data that it points to.
    let class = unsafe {
        let message = libc::CMSG_FIRSTHDR(&raw const header);
        assert!(!message.is_null(), "no traffic class came with the datagram");
        *libc::CMSG_DATA(message)
    };
    (got.unsigned_abs(), from, class)
}

#[test]
fn datagrams_of_both_ends_are_marked() {
    for local in ["127.0.0.1", "::1"] {
        for connected in [true, false] {
            let traffic = Traffic { dscp: Some(DSCP), connected, ..traffic(Kind::UdpRr) };
            let spec = Spec { traffic, ..spec(Kind::UdpRr, local) };
            // The transmitter asks a socket of the test's, which sees the class of its requests.
            let server = observer(local);
            let mut transmitter = Endpoint::connect(&spec, &[server.local_addr().unwrap()]).unwrap();
            transmitter.start().unwrap();
            // The empty datagram before the first request is marked too.
            for len in [0, 64] {
                assert_eq!(observe(&server), (len, transmitter.addresses()[0], DSCP << 2));
            }
            // And another one asks the receiver.
            let client = observer(local);
            let mut receiver = Endpoint::bind(&spec).unwrap();
            client.send_to(&[], receiver.addresses()[0]).unwrap();
            receiver.attach(&[client.local_addr().unwrap()]).unwrap();
            receiver.start().unwrap();
            client.send_to(&[1; 64], receiver.addresses()[0]).unwrap();
            assert_eq!(observe(&client), (32, receiver.addresses()[0], DSCP << 2));
        }
    }
}

#[test]
fn segments_of_both_ends_are_marked() {
    // A raw socket gets a copy of every segment with its IP header; in a namespace of its own those
    // of this test only.
    if !enter_namespace("segments_of_both_ends_are_marked", &[]) {
        return;
    }
    let (domain, protocol) = (socket2::Domain::IPV4, socket2::Protocol::TCP);
    let mut raw = socket2::Socket::new(domain, socket2::Type::RAW, Some(protocol)).unwrap();
    raw.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    for kind in [Kind::TcpStream, Kind::TcpRr, Kind::TcpCrr] {
        let traffic = Traffic { dscp: Some(DSCP), rate: kind.is_rr().then_some(50), ..traffic(kind) };
        let ends = start(&Spec { traffic, ..spec(kind, "127.0.0.1") });
        let port = ends.1.addresses()[0].port().to_be_bytes();
        let (mut asked, mut answered) = (0, 0);
        let mut room = [0; 1 << 16];
        // What opens a connection, and what carries data, of either end. Others may be nobody's any
        // more.
        while asked < 3 || answered < 3 {
            let Ok(got) = raw.read(&mut room) else { continue };
            let (class, tcp) = (room[1], &room[usize::from(room[0] & 15) * 4..got]);
            let (opens, data) = (tcp[13] & 2 != 0, tcp.len() > usize::from(tcp[12] >> 4) * 4);
            let acknowledges = kind == Kind::TcpStream && tcp[..2] == port;
            if opens || data || acknowledges {
                assert_eq!(class & !3, DSCP << 2, "{kind}: {tcp:?}");
                if tcp[..2] == port { answered += 1 } else { asked += 1 }
            }
        }
        step(&ends, Phase::Tail);
        finish(ends);
        while raw.read(&mut room).is_ok() {}
    }
}

#[test]
fn busy_polling_that_cannot_act_is_reported() {
    // Over loopback no packet comes from a queue that could be polled; and without the privilege
    // there is nothing to try.
    for kind in [Kind::UdpStream, Kind::TcpStream, Kind::UdpRr, Kind::TcpRr, Kind::TcpCrr] {
        for local in ["127.0.0.1", "::1"] {
            let traffic = Traffic { busy_poll: Some(Duration::from_micros(50)), ..traffic(kind) };
            let (sent, received) = run(&Spec { traffic, ..spec(kind, local) }, WINDOW);
            assert!(received.received.messages > 0, "{kind}: {received:?}");
            assert_eq!(received.notes.len(), 1, "{kind}: {received:?}");
            let note = received.notes[0].to_string();
            assert!(note.contains("SO_INCOMING_NAPI_ID is 0") || note.contains("CAP_NET_ADMIN"), "{note}");
            assert!(note.ends_with("slept instead"), "{note}");
            assert!(sent.notes.len() <= 1, "{kind}: {sent:?}");
        }
    }
}

#[test]
fn without_the_privilege_busy_polling_falls_back_and_says_so() {
    // In a thread, whose children inherit what it lacks.
    std::thread::spawn(|| {
        drop_network_privilege();
        for kind in [Kind::UdpRr, Kind::TcpRr, Kind::TcpCrr] {
            let traffic = Traffic { busy_poll: Some(Duration::from_micros(50)), ..traffic(kind) };
            let (sent, received) = run(&Spec { traffic, ..spec(kind, "127.0.0.1") }, WINDOW);
            assert!(sent.sent.transactions > 0, "{kind}: {sent:?}");
            for outcome in [sent, received] {
                let [note] = &outcome.notes[..] else { panic!("{kind}: {:?}", outcome.notes) };
                let note = note.to_string();
                // Which of the options is refused first differs between kernels.
                assert!(note.starts_with("busy polling not applied (SO_"), "{note}");
                assert!(
                    note.ends_with(": it needs the privilege CAP_NET_ADMIN; receivers slept instead"),
                    "{note}"
                );
            }
        }
    })
    .join()
    .unwrap();
}

/// Takes `CAP_NET_ADMIN` from the calling thread (capset(2), version 3 of its header: two words of
/// each set).
fn drop_network_privilege() {
    const VERSION_3: u32 = 0x2008_0522;
    const NET_ADMIN: u32 = 12;
    let header = [VERSION_3, 0];
    let mut sets = [0u32; 6];
    // SAFETY: the header and six words are what version 3 reads and writes; 0 is the calling
    // thread.
    unsafe {
        assert_eq!(libc::syscall(libc::SYS_capget, header.as_ptr(), sets.as_mut_ptr()), 0);
        // The lower words: effective, permitted, inheritable.
        sets[..3].iter_mut().for_each(|set| *set &= !(1 << NET_ADMIN));
        assert_eq!(libc::syscall(libc::SYS_capset, header.as_ptr(), sets.as_ptr()), 0);
    }
}

#[test]
fn nagles_delay_can_be_had() {
    // The kernel holds a small segment back while an earlier one is not acknowledged; the work is
    // done either way.
    for nodelay in [Some(true), Some(false)] {
        let traffic = Traffic { nodelay, in_flight: 8, reader: Reader::Recv, ..traffic(Kind::TcpRr) };
        let (sent, _) = run(&Spec { traffic, ..spec(Kind::TcpRr, "127.0.0.1") }, WINDOW);
        assert!(sent.sent.transactions > 0, "{sent:?}");
    }
}

#[test]
fn what_connected_sockets_have_is_reported_at_both_ends() {
    for kind in [Kind::TcpStream, Kind::TcpRr, Kind::TcpCrr, Kind::UdpStream] {
        for local in ["127.0.0.1", "::1"] {
            let plain = Traffic { flows: 2, dscp: Some(DSCP), socket_buffer: Some(100_000), ..traffic(kind) };
            let tcp = kind != Kind::UdpStream;
            let traffic = Traffic {
                congestion_control: if tcp { named("reno") } else { CongestionControl::Unpaced },
                nodelay: tcp.then_some(kind == Kind::TcpStream),
                ..plain
            };
            // Both ends read it back, or the run fails.
            let traffic = Traffic { notsent_lowat: tcp.then_some(1 << 17), ..traffic };
            let (sent, received) = run(&Spec { traffic, ..spec(kind, local) }, WINDOW);
            for outcome in [&sent, &received] {
                let [one] = outcome.applied.as_slice() else {
                    panic!("{kind} {local}: {:?}", outcome.applied)
                };
                assert_eq!((one.dscp, one.buffers.send, one.buffers.receive), (DSCP, 200_000, 200_000));
                // An accepted socket has it only if it is given it anew.
                let priority = if local == "::1" { 0 } else { 4 };
                assert_eq!(one.priority, priority, "{kind} {local}");
                let Some(tcp) = &one.tcp else { continue };
                assert_eq!((tcp.congestion_control.as_str(), tcp.nodelay), ("reno", kind == Kind::TcpStream));
                assert!(tcp.mss > 500 && tcp.window_scales[0] <= 14, "{tcp:?}");
            }
            // With `tcp_crr` whichever thread is free accepts.
            assert_eq!((sent.applied[0].flows, tcp), (2, sent.applied[0].tcp.is_some()), "{kind} {local}");
        }
    }
}

#[test]
fn a_congestion_control_that_the_kernel_lacks_is_refused() {
    for kind in [Kind::TcpStream, Kind::TcpRr, Kind::TcpCrr] {
        let traffic = Traffic { congestion_control: named("no_such"), ..traffic(kind) };
        let words = Endpoint::bind(&Spec { traffic, ..spec(kind, "::1") }).unwrap_err().to_string();
        assert!(words.contains("congestion control `no_such` not available"), "{words}");
    }
}

fn named(name: &str) -> CongestionControl {
    CongestionControl::Named(name.to_owned())
}
