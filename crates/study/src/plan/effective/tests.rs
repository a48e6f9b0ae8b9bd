use std::collections::BTreeMap;

use words::{DeviceSetting, TuningKey};

use super::*;

fn settled(active: &[(&str, bool)], mtu: u32) -> Settled {
    Settled {
        mtu,
        active: active.iter().map(|(name, on)| ((*name).to_owned(), *on)).collect(),
        refused: BTreeMap::new(),
        follow_on: BTreeMap::new(),
        device: BTreeMap::new(),
        tuning: BTreeMap::new(),
    }
}

type FeatureLevels<'f> = &'f [(&'f str, bool)];

/// Both ends, and under a tunnel as many interfaces as are given.
fn effective(
    [transmitter, receiver]: [FeatureLevels<'_>; 2],
    mtu: u32,
    under: Option<[FeatureLevels<'_>; 2]>,
) -> Effective {
    Effective {
        transmitter: settled(transmitter, mtu),
        receiver: Some(settled(receiver, mtu)),
        underlay: under.map(|[transmitter, receiver]| BySide {
            transmitter: settled(transmitter, 1600),
            receiver: settled(receiver, 1600),
        }),
        fragments: None,
    }
}

const A: FeatureLevels<'_> = &[("a", true)];
const NOT_A: FeatureLevels<'_> = &[("a", false)];

#[test]
fn mtu_side_feature_and_underlay_tell_states_apart() {
    let base = effective([A, &[]], 1500, Some([A, &[]]));
    let mut wide = base.clone();
    wide.underlay.as_mut().unwrap().transmitter.mtu = 9000;
    for other in [
        effective([&[], A], 1500, Some([A, &[]])),
        effective([NOT_A, &[]], 1500, Some([A, &[]])),
        effective([A, &[]], 9000, Some([A, &[]])),
        effective([A, &[]], 1500, None),
        effective([A, &[]], 1500, Some([&[], A])),
        wide,
    ] {
        assert_ne!(base.state(), other.state(), "{other:?}");
    }
    let ring = |size| {
        let mut state = base.clone();
        state.transmitter.device.insert(DeviceSetting::RxRing, size);
        state
    };
    assert_ne!(ring(256).state(), ring(512).state());
    assert_eq!(ring(512).against(&ring(256)), "transmitter: rx_ring 512");
    let governor = |name: &str| {
        let mut state = base.clone();
        state.transmitter.tuning.insert(TuningKey::Governor, name.to_owned());
        state
    };
    assert_ne!(governor("performance").state(), governor("powersave").state());
    assert_eq!(governor("performance").against(&governor("powersave")), "transmitter: governor performance");
    // A feature that is off, or was refused, counts like a missing one.
    let mut same = effective([A, NOT_A], 1500, Some([&[("a", true), ("b", false)], &[]]));
    same.transmitter.refused.insert("b".into(), "fixed".into());
    same.transmitter.active.insert("b".into(), false);
    assert_eq!(base.state(), same.state());
}

#[test]
fn differences_are_named_by_side() {
    const AB: FeatureLevels<'_> = &[("a", true), ("b", false)];
    let (on, off): (FeatureLevels<'_>, FeatureLevels<'_>) = (&[("c", true)], &[("c", false)]);
    let plain = effective([AB, A], 1500, None);
    let tunnel = effective([AB, A], 1500, Some([on, on]));
    for (other, base, words) in [
        (plain.clone(), &plain, ""),
        (effective([&[("a", false), ("b", true)], A], 1500, None), &plain, "transmitter: off a, on b"),
        (effective([AB, A], 9000, None), &plain, "both ends: mtu 9000"),
        (effective([AB, A], 1500, Some([off, on])), &tunnel, "transmitter's underlay: off c"),
        (effective([AB, A], 9000, Some([off, off])), &tunnel, "both ends: mtu 9000; both underlays: off c"),
    ] {
        assert_eq!(other.against(base), words);
    }
    let alone = |mtu| Effective { receiver: None, ..effective([AB, A], mtu, None) };
    assert_eq!(alone(9000).against(&alone(1500)), "transmitter: mtu 9000");
}
