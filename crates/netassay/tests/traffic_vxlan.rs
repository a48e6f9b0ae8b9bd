//! Traffic through a tunnel: over both families of underlay, as root and without, with the tunnel's
//! switches and MTU and those of what carries it each on their own.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::print_stdout, reason = "where the time that building takes is told")]

mod common;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use agent::Interrupt;
use common::{Bench, is_root, links, skip};
use host::Vxlan;
use study::{BootState, BySide, Effective, Family, Fragments, Scenario};
use testbed::{InterfaceSwitches, RunAccount, RunOrder, Switches, Testbed, TestbedOptions};

/// Segmentation of what goes through a tunnel, by what carries it: without an outer checksum, as
/// over IPv4, and with one, as over IPv6.
const SEGMENTATION: [&str; 2] = ["tx-udp_tnl-segmentation", "tx-udp_tnl-csum-segmentation"];

fn build(bench: &Bench, family: Family, rootless: bool) -> Testbed {
    let cpus = testbed::split_cpus(&host::affinity::usable());
    let state = BootState { underlay_family: family, ..Scenario::Vxlan.into() };
    let options = TestbedOptions::new(state, bench.path("netassay"), cpus, rootless);
    Testbed::build(&options, &Interrupt::new().unwrap()).unwrap()
}

fn off(features: &[&str]) -> BTreeMap<String, bool> {
    features.iter().map(|name| ((*name).to_owned(), false)).collect()
}

/// The MTUs of the tunnel and of its underlay.
#[track_caller]
fn expect_mtus(effective: &Effective, inner: u32, outer: u32) {
    let receiver = effective.receiver.as_ref().unwrap();
    assert_eq!([effective.transmitter.mtu, receiver.mtu], [inner; 2]);
    assert!(
        effective.underlay.as_ref().unwrap().each_ref().into_iter().all(|(_, settled)| settled.mtu == outer)
    );
}

/// Whether the transmitter's tunnel, and its underlay, have this feature.
fn has(effective: &Effective, feature: &str) -> [bool; 2] {
    [&effective.transmitter, &effective.underlay.as_ref().unwrap().transmitter]
        .map(|settled| settled.active[feature])
}

/// One stream of TCP, of which bytes must arrive. On a busy machine its first packet may be lost,
/// and is sent again after 200 ms: the window is longer.
fn run(testbed: &mut Testbed, ipv6: bool) -> RunAccount {
    let traffic = load::Traffic { message: 65_536, ..load::Traffic::new(load::Kind::TcpStream) };
    let (ramp, window) = (Duration::from_millis(50), Duration::from_millis(600));
    let order =
        RunOrder { traffic, family: Family::from_ipv6(ipv6), ramp, window, step: RunOrder::step_of(window) };
    let account = testbed.run(&order, &mut || {}).unwrap();
    let received = account.receiver.as_ref().unwrap().window.load.received.bytes;
    assert!(received > 100_000, "{received} bytes arrived");
    account
}

/// Bytes per packet of the transmitter's underlay.
fn outer_packet(account: &RunAccount) -> f64 {
    let link = account.transmitter.window.underlay.unwrap().link;
    link.tx_bytes as f64 / link.tx_packets as f64
}

fn check(family: Family, rootless: bool) {
    let bench = Bench::new();
    let mut testbed = build(&bench, family, rootless);
    let ipv6 = family == Family::Ipv6;
    let overhead = Vxlan::overhead(ipv6);
    let segmentation = SEGMENTATION[usize::from(ipv6)];

    let plain = testbed.settle(&Switches::default()).unwrap();
    expect_mtus(&plain, 1500 - overhead, 1500);
    assert_eq!((has(&plain, segmentation), plain.fragments), ([false, true], None), "{plain:#?}");
    for inner_ipv6 in [false, true] {
        // One packet of the underlay carries what will be many: the tunnel's headers are put before
        // each by the kernel or a device later.
        let account = run(&mut testbed, inner_ipv6);
        assert!(outer_packet(&account) > 3000.0, "{}", outer_packet(&account));
        let (tunnel, underlay) =
            (account.transmitter.window.counters.link, account.transmitter.window.underlay.unwrap().link);
        assert!(tunnel.tx_packets > 0 && underlay.tx_bytes > tunnel.tx_bytes / 2, "{tunnel:?} {underlay:?}");
        let far = account.receiver.unwrap().window.underlay.unwrap();
        assert!(far.link.rx_packets > 0);
        assert_eq!(far.ip.reasm_fails + account.transmitter.window.underlay.unwrap().ip.frag_creates, 0);
    }

    // The underlay's switch acts there, and leaves the tunnel's alone.
    let underlay = at_transmitter(off(&[segmentation]));
    let below = testbed.settle(&Switches { underlay, ..Switches::default() }).unwrap();
    assert_eq!(has(&below, segmentation), [false, false]);
    assert_eq!(has(&below, "tx-tcp-segmentation"), has(&plain, "tx-tcp-segmentation"));
    assert_ne!(below.state(), plain.state());
    assert!(outer_packet(&run(&mut testbed, false)) < 1515.0);

    // And the other way round.
    let own = at_transmitter(off(&["tx-tcp-segmentation", "tx-generic-segmentation"]));
    let above = testbed.settle(&Switches { own, ..Switches::default() }).unwrap();
    assert_eq!(has(&above, "tx-tcp-segmentation"), [false, true]);
    assert_eq!(has(&above, segmentation), [false, true]);
    let account = run(&mut testbed, false);
    let link = account.transmitter.window.counters.link;
    assert!(link.tx_bytes / link.tx_packets < 1500, "{link:?}");

    // A larger underlay lets the tunnel grow with it; what does not fit is sent in fragments, and
    // said.
    let underlay = with_mtu(9000);
    let jumbo = testbed.settle(&Switches { underlay, ..Switches::default() }).unwrap();
    expect_mtus(&jumbo, 9000 - overhead, 9000);
    let tight = testbed.settle(&Switches { own: with_mtu(1500), ..Switches::default() }).unwrap();
    expect_mtus(&tight, 1500, 1500);
    let fragments = Fragments { inner: 1500, needed: 1500 + overhead, outer: 1500 };
    assert_eq!(tight.fragments, Some(fragments));
    let fitting = testbed.settle(&Switches::default()).unwrap();
    assert_eq!(fitting, plain);
    run(&mut testbed, true);

    // Too small for IPv6, which the kernel then takes away: it is back with the next condition.
    testbed.settle(&Switches { own: with_mtu(1000), ..Switches::default() }).unwrap();
    run(&mut testbed, false);
    assert_eq!(testbed.settle(&Switches::default()).unwrap(), plain);
    run(&mut testbed, true);

    let environment = serde_json::to_value(testbed.environment().unwrap()).unwrap();
    for (side, underlay) in [("transmitter", "transmit0"), ("receiver", "receive0")] {
        let interfaces = &environment[side]["interfaces"];
        assert_eq!(interfaces["vxlan0"]["link"]["kind"], "vxlan");
        assert!(interfaces[underlay]["features"][segmentation]["active"].as_bool().unwrap());
    }
    assert_eq!(environment["underlay_family"], if ipv6 { "ipv6" } else { "ipv4" });
    drop(testbed);
    assert!(!links().iter().any(|link| link.contains("vxlan")), "{:?}", links());
}

fn with_mtu(mtu: u32) -> InterfaceSwitches {
    InterfaceSwitches { mtu: Some(mtu), ..InterfaceSwitches::default() }
}

fn at_transmitter(transmitter: BTreeMap<String, bool>) -> InterfaceSwitches {
    let features = BySide { transmitter, receiver: BTreeMap::new() };
    InterfaceSwitches { features, ..InterfaceSwitches::default() }
}

#[test]
#[ignore = "the gate proves this over IPv6 as an ordinary user"]
fn traffic_vxlan_over_ipv4_as_root() {
    if !is_root() {
        return skip("traffic_vxlan_over_ipv4_as_root", "not root");
    }
    check(Family::Ipv4, false);
}

#[test]
#[ignore = "the gate proves this over IPv6 as an ordinary user"]
fn traffic_vxlan_over_ipv6_as_root() {
    if !is_root() {
        return skip("traffic_vxlan_over_ipv6_as_root", "not root");
    }
    check(Family::Ipv6, false);
}

#[test]
#[ignore = "the gate proves this over IPv6 as an ordinary user"]
fn traffic_vxlan_over_ipv4_rootless() {
    check(Family::Ipv4, true);
}

#[test]
fn traffic_vxlan_over_ipv6_rootless() {
    check(Family::Ipv6, true);
}

#[test]
#[ignore = "asserts a time: needs a quiet machine"]
fn traffic_vxlan_testbed_is_soon_there_and_gone() {
    let bench = Bench::new();
    let mut times: Vec<Duration> = (0..9)
        .map(|_| {
            let begun = Instant::now();
            drop(build(&bench, Family::Ipv4, !is_root()));
            begun.elapsed()
        })
        .collect();
    times.sort_unstable();
    println!("note: testbed vxlan built and torn down: median {:.1?} of {times:.1?}", times[4]);
    assert!(times[0] < Duration::from_secs(2), "{times:?}");
}
