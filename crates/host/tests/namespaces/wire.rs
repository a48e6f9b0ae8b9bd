//! A wire between two network namespaces: addresses, packets, MTU, counters, and its end.

use std::net::{SocketAddr, UdpSocket};
use std::process::Command;
use std::time::{Duration, Instant};

use netassay_host::namespace::new_net;
use netassay_host::{Counters, Error, Links};

use crate::harness::{Identity, Stage, become_ordinary, skipped};
use crate::peer::{Peer, add, gone};

const HERE: [&str; 2] = ["10.11.12.1/24", "fd00:11:12::1/64"];
const THERE: [&str; 2] = ["10.11.12.2/24", "fd00:11:12::2/64"];

/// Makes the wire, with its addresses, both ends up.
pub(crate) fn connect(stage: &mut Stage) -> Links {
    let mut links = Links::open().unwrap();
    links.create_veth(&stage.here, &stage.there, stage.peer.pid()).unwrap();
    links.quiet_ipv6(&stage.here).unwrap();
    let here = stage.here.clone();
    lay(stage, &mut links, &here);
    links
}

/// Gives both ends of a wire their addresses, here to `interface`, and sets them up.
pub(crate) fn lay(stage: &mut Stage, links: &mut Links, interface: &str) {
    HERE.iter().for_each(|address| add(links, interface, address));
    links.set_up(interface).unwrap();
    let there = stage.there.clone();
    assert_eq!(stage.peer.ask(&format!("up {there} {} {}", THERE[0], THERE[1])), "ok");
}

/// Sockets on both families, and where the peer echoes.
pub(crate) fn sockets(peer: &mut Peer) -> Vec<(UdpSocket, SocketAddr)> {
    let families = HERE.iter().zip(THERE).map(|(here, there)| {
        let bare = |address: &str| address.split_once('/').unwrap().0.to_owned();
        let at: SocketAddr = peer.ask(&format!("echo {}", bare(there))).parse().unwrap();
        let socket = UdpSocket::bind(format!(
            "{}:0",
            if at.is_ipv6() { format!("[{}]", bare(here)) } else { bare(here) }
        ))
        .unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        (socket, at)
    });
    families.collect()
}

pub(crate) fn round_trip(socket: &UdpSocket, to: SocketAddr, size: usize) {
    let sent: Vec<u8> = (0..size).map(|index| index as u8).collect();
    socket.send_to(&sent, to).unwrap();
    let mut buffer = vec![0; 65_536];
    let (length, from) = socket.recv_from(&mut buffer).unwrap();
    assert_eq!((&buffer[..length], from), (&sent[..], to));
}

pub(crate) fn exchange(stage: &mut Stage) {
    const ROUNDS: u64 = 100;
    const SIZE: usize = 500;
    let mut links = connect(stage);
    let link = links.find(&stage.here).unwrap();
    assert_eq!((link.kind.as_deref(), link.mtu, link.up, link.carrier), (Some("veth"), 1500, true, true));
    assert_eq!((link.min_mtu, link.max_mtu), (Some(68), Some(65_535)));
    let addresses = std::fs::read_to_string("/proc/thread-self/net/if_inet6").unwrap();
    let automatic = addresses.lines().find(|line| line.starts_with("fe80") && line.ends_with(&stage.here));
    assert_eq!(automatic, None, "quiet_ipv6 leaves no address that nobody asked for");
    let names: Vec<String> = links.list().unwrap().into_iter().map(|link| link.name).collect();
    assert_eq!(names, ["lo", &stage.here], "the other end was made in the peer's namespace");
    assert_eq!(stage.peer.ask("names"), format!("lo {}", stage.there));

    let sockets = sockets(&mut stage.peer);
    let theirs = |peer: &mut Peer, name: &str| -> Counters {
        serde_json::from_str(&peer.ask(&format!("counters {name}"))).unwrap()
    };
    let before = Counters::read(&mut links, &stage.here).unwrap();
    let their_before = theirs(&mut stage.peer, &stage.there);
    for _ in 0..ROUNDS {
        sockets.iter().for_each(|(socket, at)| round_trip(socket, *at, SIZE));
    }
    let passed = Counters::read(&mut links, &stage.here).unwrap().since(&before);
    let their_passed = theirs(&mut stage.peer, &stage.there).since(&their_before);

    // UDP and its headers count exactly; on the wire a few neighbour messages of ARP and IPv6 come
    // on top.
    assert_eq!((passed.udp.out_datagrams, passed.udp.in_datagrams), (2 * ROUNDS, 2 * ROUNDS), "{passed:?}");
    assert_eq!((their_passed.udp.in_datagrams, their_passed.udp.out_datagrams), (2 * ROUNDS, 2 * ROUNDS));
    let bytes = ROUNDS * (2 * SIZE as u64 + (14 + 20 + 8) + (14 + 40 + 8));
    for link in [passed.link, their_passed.link] {
        for (packets, total) in [(link.tx_packets, link.tx_bytes), (link.rx_packets, link.rx_bytes)] {
            assert!((2 * ROUNDS..2 * ROUNDS + 20).contains(&packets), "{link:?}");
            assert!((bytes..bytes + 20 * 100).contains(&total), "{link:?}");
        }
        assert_eq!((link.rx_dropped, link.tx_dropped, link.rx_errors, link.tx_errors), (0, 0, 0, 0));
    }
    assert_eq!((passed.udp.in_errors, passed.udp.no_ports, passed.ip.out_discards), (0, 0, 0));
    assert!(passed.context_switches.voluntary > 0, "{passed:?}");
    assert_eq!(links.queue(&stage.here).unwrap(), passed.queue, "no queue, no drops");
}

pub(crate) fn mtu(stage: &mut Stage) {
    const SIZE: usize = 8000;
    let mut links = connect(stage);
    let sockets = sockets(&mut stage.peer);
    let fragments = |links: &mut Links| {
        let before = Counters::read(links, &stage.here).unwrap();
        sockets.iter().for_each(|(socket, at)| round_trip(socket, *at, SIZE));
        Counters::read(links, &stage.here).unwrap().since(&before).ip.frag_creates
    };
    // 8008 bytes in fragments of 1480 (IPv4) and 1448 (IPv6) bytes: 6 each.
    assert_eq!(fragments(&mut links), 12);
    links.set_mtu(&stage.here, 9000).unwrap();
    assert_eq!(stage.peer.ask(&format!("mtu {} 9000", stage.there)), "ok");
    assert_eq!(links.find(&stage.here).unwrap().mtu, 9000);
    assert_eq!(fragments(&mut links), 0);

    let error = links.set_mtu(&stage.here, 100_000).unwrap_err();
    assert_eq!(error.errno(), Some(22), "{error}");
    let text = error.to_string();
    assert!(
        text.contains(&format!("cannot set the MTU of interface {:?} to 100000 bytes", stage.here)),
        "{text}"
    );
    assert!(text.contains("the kernel says: mtu greater than device maximum"), "{text}");
}

pub(crate) fn queue_drops(stage: &mut Stage) {
    let mut links = connect(stage);
    // A bucket so small and slow that most of a burst does not fit.
    let slow = [
        "qdisc",
        "add",
        "dev",
        &stage.here,
        "root",
        "tbf",
        "rate",
        "80kbit",
        "burst",
        "2000",
        "limit",
        "4000",
    ];
    match Command::new("tc").args(slow).output() {
        Err(error) => return skipped("queue_drops_are_counted", &format!("tc (iproute2): {error}")),
        Ok(output) if !output.status.success() => {
            let reason = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return skipped("queue_drops_are_counted", &format!("tc: {reason}"));
        }
        Ok(_) => {}
    }
    let (socket, at) = &sockets(&mut stage.peer)[0];
    round_trip(socket, *at, 10);
    let before = Counters::read(&mut links, &stage.here).unwrap();
    for _ in 0..100 {
        socket.send_to(&[0; 1000], at).unwrap();
    }
    let passed = Counters::read(&mut links, &stage.here).unwrap().since(&before);
    assert!((80..100).contains(&passed.queue.drops), "{passed:?}");
    assert!(passed.queue.overlimits > 0, "{passed:?}");
    // The rest was sent, or waits in the queue of 4000 bytes.
    let waiting = 100 - passed.queue.drops - passed.link.tx_packets;
    assert!(waiting <= 4, "{waiting} packets of 1042 bytes: {passed:?}");
}

pub(crate) fn vanishes(stage: &mut Stage) {
    let mut links = connect(stage);
    links.delete(&stage.here).unwrap();
    assert!(gone(&mut links, &stage.here));
    assert_eq!(stage.peer.ask(&format!("gone {}", stage.there)), "true");

    let mut links = connect(stage);
    stage.peer.kill();
    assert!(gone(&mut links, &stage.here), "the namespace died with its only process, and the wire with it");
    let error = Counters::read(&mut links, &stage.here).unwrap_err();
    assert!(matches!(error, Error::NoInterface { .. }), "{error}");
}

pub(crate) fn refusals(stage: &mut Stage) {
    let mut links = connect(stage);
    let name = stage.here.clone();
    let missing = |result: Result<(), Error>, action: &str| {
        let error = result.unwrap_err();
        assert!(matches!(&error, Error::NoInterface { name, .. } if name == "nothing"), "{error:?}");
        assert!(
            error.to_string().contains(action) && error.to_string().contains("no interface \"nothing\""),
            "{error}"
        );
    };
    missing(links.find("nothing").map(drop), "read the state of");
    missing(links.set_up("nothing"), "set interface \"nothing\" up");
    missing(links.set_mtu("nothing", 1500), "MTU");
    missing(links.add_address("nothing", [10, 0, 0, 1].into(), 24), "read the state of");
    missing(links.delete("nothing"), "delete");
    missing(links.queue("nothing").map(drop), "read the state of");
    missing(Counters::read(&mut links, "nothing").map(drop), "read the state of");

    let twice = links.create_veth(&name, "other", stage.peer.pid()).unwrap_err();
    assert_eq!(twice.errno(), Some(17), "{twice}");
    let dead = links.create_veth("one", "two", 4_000_000).unwrap_err().to_string();
    assert!(dead.contains("process 4000000") && dead.contains("No such process"), "{dead}");
    let address = links.add_address(&name, [10, 11, 12, 1].into(), 24).unwrap_err().to_string();
    assert!(address.contains("10.11.12.1/24") && address.contains("File exists"), "{address}");
    std::fs::write(format!("/proc/sys/net/ipv6/conf/{name}/disable_ipv6"), "1").unwrap();
    let off = links.add_address(&name, "fd00::1".parse().unwrap(), 64).unwrap_err().to_string();
    assert!(off.contains("fd00::1/64") && off.contains("disable_ipv6"), "{off}");
    assert!(matches!(links.find("a name with spaces"), Err(Error::InterfaceName { .. })));
    // The socket still answers after all these errors.
    assert_eq!(links.find(&name).unwrap().name, name);
}

pub(crate) fn without_privileges(stage: &mut Stage) {
    assert_eq!(stage.identity, Identity::Root);
    let mut links = connect(stage);
    become_ordinary();
    // The kernel asks both who opened the socket and who uses it.
    for mut links in [links.list().map(|_| links).unwrap(), Links::open().unwrap()] {
        let error = links.set_mtu(&stage.here, 1400).unwrap_err();
        assert_eq!(error.errno(), Some(1), "{error}");
        assert!(error.to_string().contains("CAP_NET_ADMIN"), "{error}");
        assert_eq!(links.find(&stage.here).unwrap().mtu, 1500, "looking is free to everybody");
    }
}

/// Not a limit that a busy machine could break: the times are shown, and only absurd ones fail.
pub(crate) fn fast(stage: &mut Stage) {
    const ROUNDS: usize = 20;
    let namespace = || {
        let start = Instant::now();
        new_net().unwrap();
        start.elapsed()
    };
    let mut walls: Vec<_> = (0..ROUNDS).map(|_| std::thread::spawn(namespace).join().unwrap()).collect();
    let mut made = Vec::new();
    let mut deleted = Vec::new();
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let mut links = connect(stage);
        made.push(start.elapsed());
        let start = Instant::now();
        links.delete(&stage.here).unwrap();
        deleted.push(start.elapsed());
    }
    let summary = |times: &mut Vec<Duration>| {
        times.sort_unstable();
        format!("median {:.2?}, worst {:.2?}", times[ROUNDS / 2], times[ROUNDS - 1])
    };
    println!("note: network namespace made: {}", summary(&mut walls));
    println!("note: wire made (veth, 4 addresses, both ends up): {}", summary(&mut made));
    println!("note: wire deleted: {}", summary(&mut deleted));
    assert!(made[ROUNDS / 2] < Duration::from_secs(1), "{made:?}");
}
