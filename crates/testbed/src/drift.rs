//! Differences of switches from an earlier reading.

use std::collections::{BTreeMap, BTreeSet};

use record::{Difference, Drift, Interface, Setting};
use study::{BySide, Effective, Settled, Side};

use crate::switches::{InterfaceSwitches, Switches};

/// Compares two readings by [`Effective::state`]; `None` if they agree.
pub fn drift(before: &Effective, after: &Effective, asked: &Switches) -> Option<Drift> {
    let both = interfaces(after).zip(interfaces(before));
    let differences: Vec<Difference> = both
        .flat_map(|((interface, now), (_, then))| {
            let asked = if interface.underlay { &asked.underlay } else { &asked.own };
            differences(interface, asked, then, now)
        })
        .collect();
    (!differences.is_empty()).then_some(Drift { differences })
}

fn interfaces(effective: &Effective) -> impl Iterator<Item = (Interface, &Settled)> {
    let receiver = effective.receiver.as_ref().map(|settled| (Side::Receiver, settled));
    let ends = std::iter::once((Side::Transmitter, &effective.transmitter)).chain(receiver);
    let under = effective.underlay.iter().flat_map(BySide::each_ref);
    let read_back = |underlay| move |(side, settled)| (Interface { side, underlay }, settled);
    ends.map(read_back(false)).chain(under.map(read_back(true)))
}

fn differences(
    interface: Interface,
    asked: &InterfaceSwitches,
    then: &Settled,
    now: &Settled,
) -> Vec<Difference> {
    let of = |setting| Difference { interface, setting };
    let side = interface.side;
    let mtu = (now.mtu != then.mtu)
        .then(|| of(Setting::Mtu { asked: asked.mtu, before: then.mtu, after: now.mtu }));
    let features = in_both(&then.active, &now.active)
        .filter(|(_, before, after)| before.unwrap_or(false) != after.unwrap_or(false))
        .map(|(name, before, after)| {
            let asked = asked.features[side].get(name).copied();
            of(Setting::Feature { name: name.clone(), asked, before, after })
        });
    let (past, present) = (then.steady(), now.steady());
    let device = in_both(&past, &present).filter(|(_, before, after)| before != after);
    let device = device.map(|(setting, before, after)| {
        let asked = asked.devices[side].get(setting).copied();
        of(Setting::Device { setting: *setting, asked, before, after })
    });
    let machine = in_both(&then.tuning, &now.tuning)
        .filter(|(_, before, after)| before != after)
        .map(|(key, before, after)| of(Setting::Machine { key: *key, before, after }));
    mtu.into_iter().chain(features).chain(device).chain(machine).collect()
}

fn in_both<'m, K: Ord, V: Clone>(
    then: &'m BTreeMap<K, V>,
    now: &'m BTreeMap<K, V>,
) -> impl Iterator<Item = (&'m K, Option<V>, Option<V>)> {
    let keys: BTreeSet<&K> = then.keys().chain(now.keys()).collect();
    keys.into_iter().map(|key| (key, then.get(key).cloned(), now.get(key).cloned()))
}

#[cfg(test)]
mod tests {
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
            interface: Interface { side, underlay },
            setting: Setting::Device { setting: ring, asked: Some(asked), before: Some(8), after: Some(9) },
        };
        let (transmitter, receiver) = (Side::Transmitter, Side::Receiver);
        let expected = [
            of(transmitter, false, 1),
            of(receiver, false, 2),
            of(transmitter, true, 3),
            of(receiver, true, 4),
        ];
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
}
