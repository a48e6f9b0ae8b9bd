//! Interfaces that discard: what is sent through them is counted, and goes nowhere.

use std::net::{IpAddr, SocketAddr, UdpSocket};

use netassay_host::{Counters, DiscardDevice, Error, Links};

use crate::harness::{Identity, Stage};

const NEAR: [&str; 2] = ["198.18.0.1", "2001:2::1"];
const FAR: [&str; 2] = ["198.18.0.2", "2001:2::2"];
const SIZE: usize = 18;
const COUNT: u64 = 1000;
/// Multicast listener reports for the interface's own addresses, which IPv6 sends by itself, twice
/// each.
const NOISE: u64 = 10;

pub(crate) fn each(stage: &mut Stage) {
    let mut links = Links::open().unwrap();
    let mut there = 0;
    for device in DiscardDevice::ALL {
        match links.create_discard(&stage.here, Some(device)) {
            Ok(made) => {
                assert_eq!(made, (device, Vec::new()));
                println!("note: {device} is there");
                there += 1;
                discards(&mut links, &stage.here, device);
                links.delete(&stage.here).unwrap();
            }
            Err(error) => refused(stage.identity, device, &error),
        }
        let left: Vec<String> = links.list().unwrap().into_iter().map(|link| link.name).collect();
        assert_eq!(left, ["lo"], "after {device}");
    }
    assert!(there > 0, "no discarding device at all");
}

pub(crate) fn found(stage: &mut Stage) {
    let mut links = Links::open().unwrap();
    let (made, lacking) = links.create_discard(&stage.here, None).unwrap();
    let before = DiscardDevice::ALL.iter().position(|device| *device == made).unwrap();
    assert_eq!(lacking.len(), before, "{made}: {lacking:?}");
    for (device, why) in DiscardDevice::ALL.iter().zip(&lacking) {
        assert!(why.contains(&device.to_string()) || why.contains("XDP"), "{why}");
    }
    discards(&mut links, &stage.here, made);
    let twice = links.create_discard(&stage.here, Some(made)).unwrap_err();
    assert_eq!(twice.errno(), Some(17), "{twice}");
}

/// Checks the error of a missing device: one that this kernel is built without, or XDP for users
/// other than the machine's root.
fn refused(identity: Identity, device: DiscardDevice, error: &Error) {
    let text = error.to_string();
    match device {
        DiscardDevice::VethXdp if identity == Identity::User => {
            assert!(text.contains("XDP") && text.contains("it needs root"), "{text}");
        }
        _ => assert!(text.contains("this kernel is built without it"), "{text}"),
    }
    println!("note: {device} is refused as it should be: {text}");
}

fn discards(links: &mut Links, name: &str, device: DiscardDevice) {
    for (near, prefix) in NEAR.into_iter().zip([24, 64]) {
        links.add_address(name, near.parse().unwrap(), prefix).unwrap();
    }
    links.set_up(name).unwrap();
    for far in FAR {
        links.add_neighbour_behind_discard(name, far.parse().unwrap()).unwrap();
    }
    for (near, far) in NEAR.into_iter().zip(FAR) {
        let before = Counters::read(links, name).unwrap();
        let address = |text: &str, port| SocketAddr::new(text.parse::<IpAddr>().unwrap(), port);
        let socket = UdpSocket::bind(address(near, 0)).unwrap();
        socket.connect(address(far, 9)).unwrap();
        for _ in 0..COUNT {
            assert_eq!(socket.send(&[0x55; SIZE]).unwrap(), SIZE);
        }
        let passed = settled(links, name, &before);
        let ethernet = if device == DiscardDevice::VethXdp { 0 } else { 14 };
        let headers: u64 = ethernet + if near.contains('.') { 20 + 8 } else { 40 + 8 };
        let (packets, bytes) = (passed.link.tx_packets, passed.link.tx_bytes);
        assert!((COUNT..=COUNT + NOISE).contains(&packets), "{near}: {passed:?}");
        let expected = COUNT * (SIZE as u64 + headers);
        assert!((expected..=expected + NOISE * 120).contains(&bytes), "{near}: {passed:?}");
        assert_eq!((passed.link.tx_dropped, passed.link.rx_packets), (0, 0), "{near}: {passed:?}");
        assert_eq!((passed.udp.in_errors, passed.ip.out_discards), (0, 0), "{near}: {passed:?}");
    }
}

/// The counters once all sent packets are counted: the far end of a veth counts its drops in XDP in
/// batches.
fn settled(links: &mut Links, name: &str, before: &Counters) -> Counters {
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    loop {
        let passed = Counters::read(links, name).unwrap().since(before);
        if passed.link.tx_packets >= COUNT || std::time::Instant::now() > deadline {
            return passed;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}
