use proptest::prelude::*;
use study::{DeviceSetting, TuningKey};

use super::*;
use crate::switches::tests::{effective, settled};

#[test]
fn a_difference_names_its_place_and_its_three_values() {
    let before =
        effective(settled(&[("rx-gro", true)], 1500), settled(&[("tx-tcp-segmentation", true)], 1500));
    let after =
        effective(settled(&[("rx-gro", false)], 1500), settled(&[("tx-tcp-segmentation", false)], 1500));
    let mut asked = Switches::default();
    asked.own.features.receiver.insert("tx-tcp-segmentation".into(), true);
    let found = drift(&before, &after, &asked).unwrap();
    assert_eq!(
        found.to_string(),
        "the receiver's tx-tcp-segmentation (requested: on) was on and is off; \
             the transmitter's rx-gro (not requested) was on and is off"
    );
    assert_eq!(
        serde_json::to_value(&found).unwrap()["drift"][0],
        serde_json::json!({
            "interface": {"side": "transmitter", "underlay": false},
            "setting": {"feature": {"name": "rx-gro", "asked": null, "before": true, "after": false}}
        })
    );
    assert_eq!(drift(&before, &before, &asked), None);
}

#[test]
fn the_interfaces_under_a_tunnel_are_distinguished_and_many_differences_are_counted() {
    let plain = settled(&[("a", true), ("b", true), ("c", true)], 1450);
    let changed = settled(&[], 1450);
    let under = |mtu| Some(BySide { transmitter: settled(&[], 1500), receiver: settled(&[], mtu) });
    let before = Effective { underlay: under(1500), ..effective(plain.clone(), plain.clone()) };
    let after = Effective { underlay: under(9000), ..effective(changed, plain) };
    let asked = Switches {
        underlay: InterfaceSwitches { mtu: Some(1500), ..Default::default() },
        ..Default::default()
    };
    let text = drift(&before, &after, &asked).unwrap().to_string();
    assert!(
        text.starts_with("the receiver's underlay's MTU (requested: 1500) was 1500 and is 9000; "),
        "{text}"
    );
    assert!(text.ends_with("; and 1 more"), "{text}");
}

#[test]
fn a_difference_names_the_setting_that_its_own_interface_was_asked_for() {
    let ring = DeviceSetting::RxRing;
    let settled = |size| Settled { device: BTreeMap::from([(ring, size)]), ..settled(&[], 1500) };
    let both = |size| BySide::from_fn(|_| settled(size));
    let effective =
        |size| Effective { underlay: Some(both(size)), ..effective(settled(size), settled(size)) };
    let asked = |transmitter, receiver| BySide {
        transmitter: BTreeMap::from([(ring, transmitter)]),
        receiver: BTreeMap::from([(ring, receiver)]),
    };
    let [own, underlay] =
        [asked(1, 2), asked(3, 4)].map(|devices| InterfaceSwitches { devices, ..Default::default() });
    let asked = Switches { own, underlay, ..Default::default() };
    let found = drift(&effective(8), &effective(9), &asked).unwrap().differences;
    let of = |side, underlay, asked| Difference {
        interface: InterfaceRole { side, underlay },
        setting: Setting::Device { setting: ring, asked: Some(asked), before: Some(8), after: Some(9) },
    };
    let (transmitter, receiver) = (Side::Transmitter, Side::Receiver);
    let expected =
        [of(transmitter, false, 1), of(receiver, false, 2), of(transmitter, true, 3), of(receiver, true, 4)];
    assert_eq!(found, expected);
}

fn any_settled() -> impl Strategy<Value = Settled> {
    let features = prop::collection::btree_map("[a-d]", any::<bool>(), 0..4);
    let setting = prop::sample::select(&DeviceSetting::ALL[4..8]);
    let device = prop::collection::btree_map(setting, 0_u32..2, 0..4);
    let tuning = prop::collection::btree_map(Just(TuningKey::Governor), "[ab]", 0..2);
    (features, 1500_u32..1502, device, tuning).prop_map(|(active, mtu, device, tuning)| Settled {
        mtu,
        active,
        refused: BTreeMap::new(),
        follow_on: BTreeMap::new(),
        device,
        tuning,
    })
}

proptest! {
    #[test]
    fn states_drift_exactly_where_their_fingerprints_differ(
        [one, two, three, four] in [any_settled(), any_settled(), any_settled(), any_settled()]
    ) {
        let (before, after) = (effective(one, two), effective(three, four));
        let found = drift(&before, &after, &Switches::default());
        prop_assert_eq!(found.is_some(), before.state() != after.state());
    }
}
