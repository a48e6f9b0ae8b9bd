//! Sending to nobody: the interface that throws everything away counts what was sent into it,
//! whichever device it is, over both families, with and without checksums, as root and as an
//! ordinary user.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::print_stdout, reason = "where a refusal is told")]

mod common;

use std::time::Duration;

use agent::Interrupt;
use common::{Bench, is_root, links, skip};
use host::DiscardDevice;
use record::Note;
use study::Scenario;
use testbed::{Error, InterfaceSwitches, RunAccount, RunOrder, Switches, Testbed, TestbedOptions};

/// Multicast listener reports for the interface's own addresses: IPv6 sends them by itself within
/// its first seconds.
const NOISE: u64 = 10;

fn build(bench: &Bench, device: Option<DiscardDevice>, rootless: bool) -> Result<Testbed, Error> {
    let cpus = testbed::split_cpus(&host::affinity::usable());
    let options = TestbedOptions {
        discard_device: device,
        ..TestbedOptions::new(Scenario::Discard, bench.path("netassay"), cpus, rootless)
    };
    Testbed::build(&options, &Interrupt::new().unwrap())
}

fn order(ipv6: bool) -> RunOrder {
    RunOrder {
        traffic: load::Traffic { flows: 2, ..load::Traffic::new(load::Kind::Pps) },
        family: study::Family::from_ipv6(ipv6),
        ramp: Duration::from_millis(20),
        window: Duration::from_millis(300),
        step: Duration::from_millis(10),
    }
}

fn run(testbed: &mut Testbed, order: &RunOrder) -> RunAccount {
    testbed.run(order, &mut || {}).unwrap_or_else(|error| panic!("{order:?}: {error}"))
}

/// What the callers handed over is what the interface counted, from the first packet to the last.
fn expect_all_counted(account: &RunAccount, order: &RunOrder, ethernet: u64) {
    assert!(account.receiver.is_none());
    let whole = &account.transmitter.whole;
    let (sent, link) = (whole.outcome.sent, whole.counters.link);
    assert!(sent.messages > 100, "{order:?}: {sent:?}");
    // A veth whose far end is not served in time drops, and tells the sender so (`ENOBUFS`); the
    // others cannot.
    let offered = sent.messages + sent.no_buffers;
    let arrived = link.tx_packets + link.tx_dropped;
    assert!((offered..=offered + NOISE).contains(&arrived), "{sent:?} {link:?}");
    assert!(ethernet == 0 || link.tx_dropped == 0, "{link:?}");
    assert_eq!(link.rx_packets, 0, "{link:?}");
    let datagram = u64::from(order.traffic.message)
        + 8
        + if order.family == study::Family::Ipv6 { 40 } else { 20 }
        + ethernet;
    let least = link.tx_packets.saturating_sub(NOISE) * datagram;
    assert!((least..=link.tx_packets * datagram + NOISE * 120).contains(&link.tx_bytes), "{link:?}");
    let window = &account.transmitter.window;
    assert!(window.counters.link.tx_packets > 0 && window.load.sent.messages > 0, "{window:?}");
    assert!(window.cpu.busy() > 0);
}

fn each_way(testbed: &mut Testbed, ethernet: u64) {
    let plain = order(false);
    let mut unchecked = order(false);
    unchecked.traffic.checksum = false;
    let mut large = order(true);
    (large.traffic.message, large.traffic.flows) = (1400, 1);
    for order in [plain, unchecked, order(true), large] {
        expect_all_counted(&run(testbed, &order), &order, ethernet);
    }
}

fn each_device(test: &str, rootless: bool) {
    let before = links();
    let bench = Bench::new();
    let mut there = 0;
    for device in DiscardDevice::ALL {
        let mut testbed = match build(&bench, Some(device), rootless) {
            Ok(testbed) => testbed,
            Err(error) => {
                let text = error.to_string();
                let missing = text.contains("this kernel is built without it");
                assert!(missing || (rootless && text.contains("XDP") && text.contains("root")), "{text}");
                println!("note: {test}: refused as it should be: {text}");
                continue;
            }
        };
        there += 1;
        assert!(matches!(testbed.notes[0], Note::Discards { device: found, .. } if found == device));
        let environment = testbed.environment().unwrap();
        assert_eq!(environment.discard_device, Some(device));
        assert_eq!(environment.receiver, None);
        each_way(&mut testbed, if device == DiscardDevice::VethXdp { 0 } else { 14 });
        let agent = format!("/proc/{}", testbed.transmitter.pid());
        drop(testbed);
        assert!(!std::path::Path::new(&agent).exists(), "{device}'s agent is still there");
    }
    assert!(there > 0, "no discarding device at all");
    assert_eq!(links(), before);
}

#[test]
#[ignore = "the gate proves this as an ordinary user"]
fn traffic_discard_as_root() {
    if !is_root() {
        return skip("traffic_discard_as_root", "not root");
    }
    each_device("traffic_discard_as_root", false);
}

#[test]
fn traffic_discard_rootless() {
    each_device("traffic_discard_rootless", true);
}

#[test]
fn the_device_is_found_and_recorded() {
    let bench = Bench::new();
    let mut testbed = build(&bench, None, true).unwrap();
    let found = testbed.environment().unwrap().discard_device.unwrap();
    let lacking = DiscardDevice::ALL.iter().take_while(|device| **device != found).count();
    let noted = Note::Discards { device: found, lacking: DiscardDevice::ALL[..lacking].to_vec() };
    assert_eq!(testbed.notes[0], noted);
    let told = testbed.environment().unwrap().discard_devices_lacking;
    assert_eq!(told.map(|told| told.len()), Some(lacking));
    let own = InterfaceSwitches { mtu: Some(4000), ..InterfaceSwitches::default() };
    let switches = Switches { own, ..Switches::default() };
    let effective = testbed.settle(&switches).unwrap();
    assert_eq!((effective.transmitter.mtu, effective.receiver), (4000, None));
}

#[test]
fn a_run_that_needs_a_receiver_is_refused_without_one() {
    let bench = Bench::new();
    let mut testbed = build(&bench, None, true).unwrap();
    for kind in load::Kind::ALL.into_iter().filter(|kind| *kind != load::Kind::Pps) {
        let order = RunOrder { traffic: load::Traffic::new(kind), ..order(false) };
        let error = testbed.run(&order, &mut || {}).unwrap_err();
        assert!(error.to_string().contains(&format!("{kind} needs a receiver")), "{error}");
        assert!(error.testbed_is_well());
    }
    run(&mut testbed, &order(false));
}
