//! What a testbed's switches read back follows from what is asked for, whatever was asked for
//! before: else a run's state would hang on the order of the runs.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::collections::BTreeMap;
use std::time::Duration;

use agent::Interrupt;
use common::Bench;
use study::{BySide, Placement, Scenario, Tuning, TuningKey, feature};
use testbed::{InterfaceSwitches, RunOrder, Switches, Testbed, TestbedOptions};

fn build(bench: &Bench, scenario: Scenario) -> Testbed {
    let cpus = testbed::split_cpus(&host::affinity::usable());
    let options = TestbedOptions::new(scenario, bench.path("netassay"), cpus, !common::is_root());
    Testbed::build(&options, &Interrupt::new().unwrap()).unwrap()
}

/// States that differ in every way that switches have.
fn states() -> Vec<Switches> {
    let off = || feature::OFFLOADS.iter().map(|name| ((*name).to_owned(), false)).collect::<BTreeMap<_, _>>();
    let segmentation = || BTreeMap::from([("tx-tcp-segmentation".to_owned(), false)]);
    let no = BTreeMap::new;
    let interfaces = |mtu, transmitter, receiver| InterfaceSwitches {
        mtu,
        features: BySide { transmitter, receiver },
        ..InterfaceSwitches::default()
    };
    let own = [
        interfaces(None, no(), no()),
        interfaces(None, off(), off()),
        interfaces(None, off(), no()),
        interfaces(None, no(), off()),
        interfaces(Some(9000), segmentation(), no()),
        interfaces(Some(1000), no(), no()),
    ];
    let underlay = interfaces(Some(1600), off(), off());
    let own = own.into_iter().map(|own| Switches { own, ..Switches::default() });
    own.chain([Switches { underlay, ..Switches::default() }]).collect()
}

fn expect_no_memory(scenario: Scenario) {
    let bench = Bench::new();
    let states = states();
    let fresh: Vec<_> = states.iter().map(|state| build(&bench, scenario).settle(state).unwrap()).collect();
    for first in &states {
        let mut testbed = build(&bench, scenario);
        testbed.settle(first).unwrap();
        for (state, fresh) in states.iter().zip(&fresh) {
            let drift = testbed::drift(fresh, &testbed.settle(state).unwrap(), state);
            assert_eq!(drift, None, "{scenario}: {state:?}, after {first:?} and those before it");
        }
    }
}

#[test]
#[ignore = "the gate proves this with VXLAN, which has all switches"]
fn loopback_returns_to_its_defaults_whatever_was_first() {
    expect_no_memory(Scenario::Loopback);
}

#[test]
#[ignore = "the gate proves this with VXLAN, which has all switches"]
fn veth_returns_to_its_defaults_whatever_was_first() {
    expect_no_memory(Scenario::Veth);
}

#[test]
fn vxlan_returns_to_its_defaults_whatever_was_first() {
    expect_no_memory(Scenario::Vxlan);
}

#[test]
#[ignore = "the gate proves this with VXLAN, which has all switches"]
fn discard_returns_to_its_defaults_whatever_was_first() {
    expect_no_memory(Scenario::Discard);
}

/// Below 1280 bytes the kernel takes an interface's IPv6 away, and does not give it back with a
/// larger MTU.
#[test]
#[ignore = "the gate proves this with VXLAN (`traffic_vxlan`)"]
fn loopback_has_ipv6_again_after_an_mtu_too_small_for_it() {
    let bench = Bench::new();
    let mut testbed = build(&bench, Scenario::Loopback);
    let own = InterfaceSwitches { mtu: Some(1000), ..InterfaceSwitches::default() };
    testbed.settle(&Switches { own, ..Switches::default() }).unwrap();
    testbed.settle(&Switches::default()).unwrap();
    let (ramp, window) = (Duration::from_millis(20), Duration::from_millis(100));
    // Its connection cannot be made without the address.
    let traffic = load::Traffic::new(load::Kind::TcpStream);
    let order =
        RunOrder { traffic, family: study::Family::Ipv6, ramp, window, step: RunOrder::step_of(window) };
    testbed.run(&order, &mut || {}).unwrap();
}

/// In namespaces each end has the CPUs of its side to choose from.
#[test]
fn veth_places_the_work_of_an_end_and_takes_it_back() {
    if !common::is_root() {
        return common::skip("veth_places_the_work_of_an_end_and_takes_it_back", "not root");
    }
    for scenario in [Scenario::Veth, Scenario::Vxlan] {
        let bench = Bench::new();
        let mut testbed = build(&bench, scenario);
        let home = testbed.transmitter.cpus.clone();
        let placed = |placement: Option<Placement>| {
            let varied = [TuningKey::Placement].into();
            let transmitter = Tuning { varied, placement, ..Tuning::default() };
            Switches { tuning: BySide { transmitter, receiver: Tuning::default() }, ..Switches::default() }
        };
        let [first, last] = [home[0], home[home.len() - 1]];
        let mut settle = |placement| {
            let effective = testbed.settle(&placed(placement)).map_err(|error| error.to_string())?;
            let read = effective.underlay.map_or(effective.transmitter, |under| under.transmitter).tuning;
            Ok::<_, String>((read[&TuningKey::Placement].clone(), testbed.transmitter.cpus.clone()))
        };
        let all = host::affinity::format_cpu_list(&home);
        let untouched = (format!("irq {all} traffic {all}"), home.clone());
        assert_eq!(settle(None), Ok(untouched.clone()));
        let one = Some(Placement { irq: first, traffic: last });
        assert_eq!(settle(one), Ok((format!("irq {first} traffic {last}"), vec![last])));
        assert_eq!(settle(None), Ok(untouched));
        let refused = settle(Some(Placement { irq: first, traffic: 60_000 })).unwrap_err();
        let why = format!("the traffic cannot run on CPU 60000: it may use the CPUs {all}");
        assert!(refused.contains("the transmitter") && refused.contains(&why), "{refused}");
    }
}
