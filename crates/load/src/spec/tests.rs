use super::*;
use std::time::Duration;

use crate::endpoint::threads;
use proptest::prelude::*;
use words::{KEYS, Key, Kind, MAX_FLOWS, MAX_THREADS, Pacing, Percent, Shape, Value, Workload};

fn good() -> Spec {
    let traffic = Traffic { message: 1472, ..Traffic::new(Kind::UdpStream) };
    Spec { traffic, local: "127.0.0.1".parse().unwrap(), cpus: vec![], interface: None }
}

fn refused(change: impl FnOnce(&mut Spec)) -> String {
    let mut spec = good();
    change(&mut spec);
    spec.validate().unwrap_err().to_string()
}

#[test]
fn hostile_values_are_refused_by_name() {
    good().validate().unwrap();
    assert_eq!(refused(|s| s.traffic.flows = 0), "`flows` must be 1 to 100000; change `flows` = 0");
    assert!(refused(|s| (s.traffic.message, s.local) = (65_528, "::1".parse().unwrap())).contains("65527"));
    assert!(refused(|s| s.cpus = vec![0, u32::MAX]).starts_with("`cpus` = 4294967295: "));
    assert!(refused(|s| s.local = "0.0.0.0".parse().unwrap()).starts_with("`local` = 0.0.0.0: "));
    assert!(refused(|s| s.local = "ff02::1".parse().unwrap()).contains("multicast"));
    assert!(refused(|s| s.local = "fe80::1".parse().unwrap()).contains("link-local"));
    assert!(refused(|s| s.local = "::ffff:127.0.0.1".parse().unwrap()).contains("IPv4 address"));
}

/// A value of a key's type, in its range or not.
fn any_value(key: &'static Key) -> BoxedStrategy<Value> {
    match key.shape {
        Shape::Number(..) => prop_oneof![0u64..4, 1020u64..1030, 65_500u64..65_540, 0..=u64::from(u32::MAX)]
            .prop_map(Value::Number)
            .boxed(),
        Shape::Switch => any::<bool>().prop_map(Value::Switch).boxed(),
        Shape::Pace => "[1-9][0-9]{0,3}[kMG]bit"
            .prop_map(|pace| Pacing::parse(&pace).map_or(Value::Default, Value::Pace))
            .boxed(),
        Shape::Share => "[1-9][0-9]?(\\.[0-9]{1,4})?%"
            .prop_map(|share| Percent::parse(&share).map_or(Value::Default, Value::Share))
            .boxed(),
        Shape::Time(..) => (0u64..1 << 40).prop_map(|ns| Value::Time(Duration::from_nanos(ns))).boxed(),
        Shape::Word(words) => {
            prop::sample::select(words.spellings()).prop_map(|word| Value::Text(word.to_owned())).boxed()
        }
        Shape::Name(_) => "[a-z_/]{0,20}".prop_map(Value::Text).boxed(),
    }
}

/// The defaults of a kind, with any value of a few keys: then some specs are valid.
fn any_spec() -> impl Strategy<Value = Spec> {
    let value = (0..KEYS.len())
        .prop_map(|at| &KEYS[at])
        .prop_flat_map(|key| any_value(key).prop_map(move |value| (key.name, value)));
    let values = proptest::collection::vec(value, 0..KEYS.len());
    let cpus = proptest::collection::vec(prop_oneof![0u32..4, any::<u32>()], 0..3);
    let kind = prop::sample::select(&Kind::ALL[..]);
    (kind, values, any::<IpAddr>(), cpus).prop_map(|(kind, values, local, cpus)| {
        let mut workload = Workload::new(kind);
        values.iter().for_each(|(key, value)| Key::find(key).unwrap().set(&mut workload, value));
        Spec { traffic: workload.traffic, local, cpus, interface: None }
    })
}

proptest! {
    #[test]
    fn an_accepted_workload_is_possible(spec in any_spec()) {
        if spec.validate().is_err() {
            return Ok(());
        }
        prop_assert!((1..=MAX_FLOWS).contains(&spec.traffic.flows));
        prop_assert!(spec.traffic.message > 0);
        prop_assert_eq!(spec.traffic.response > 0, spec.traffic.kind.is_rr());
        if spec.traffic.kind.is_udp() {
            prop_assert!(spec.traffic.message <= 65_527 && spec.traffic.response <= 65_527);
        }
        prop_assert!(spec.traffic.checksum || (spec.traffic.kind.is_udp() && spec.local.is_ipv4()));
        prop_assert!(spec.traffic.sender.sends(spec.traffic.kind));
        prop_assert!(spec.traffic.lanes() <= 2 * MAX_FLOWS);
        prop_assert!((1..=MAX_THREADS).contains(&threads(&spec.traffic, spec.cpus.len())));
        prop_assert!(threads(&spec.traffic, 1) == spec.traffic.flows || spec.traffic.unshareable().is_none());
        prop_assert!(spec.cpus.iter().all(|cpu| *cpu < sys::MAX_CPUS));
    }

    #[test]
    fn a_spec_survives_the_wire(spec in any_spec()) {
        let text = serde_json::to_string(&spec).unwrap();
        prop_assert_eq!(serde_json::from_str::<Spec>(&text).unwrap(), spec);
    }

    #[test]
    fn validation_never_panics_on_what_a_peer_sends(text in ".{0,200}") {
        if let Ok(spec) = serde_json::from_str::<Spec>(&text) {
            let _ = spec.validate();
        }
    }
}
