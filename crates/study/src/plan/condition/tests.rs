use super::*;
use crate::model::Scope;

/// The settings of both sides under these levels: name, side, level.
fn settings(levels: &[(&str, Option<Side>, &str)]) -> [SideSettings; 2] {
    let factors: Vec<Factor> = levels
        .iter()
        .map(|(name, side, level)| {
            let subject = Varied::named(Scope { side: *side, underlay: false }, name).unwrap();
            Factor { name: (*name).into(), subject, values: vec![level_value(level)] }
        })
        .collect();
    let levels: Vec<(&Factor, &Value)> = factors.iter().map(|factor| (factor, &factor.values[0])).collect();
    Side::BOTH.map(|side| SideSettings::from_levels(side, false, &levels))
}

fn level_value(level: &str) -> Value {
    match level {
        ON => Value::Switch(true),
        OFF => Value::Switch(false),
        DEFAULT => Value::Default,
        word => word.parse().map_or_else(|_| Value::Text(word.to_owned()), Value::Number),
    }
}

const DEFAULT: &str = "default";
const ON: &str = "on";
const OFF: &str = "off";
const NONE: &str = "none";
const TX: Option<Side> = Some(Side::Transmitter);

#[test]
fn a_named_feature_survives_the_shorthand() {
    let [transmitter, receiver] = settings(&[("gso", None, ON), ("offloads", None, NONE)]);
    assert_eq!(transmitter, receiver);
    let wanted = transmitter.wanted();
    assert!(wanted["tx-generic-segmentation"]);
    assert!(!wanted["tx-tcp-segmentation"]);
    assert_eq!(wanted.len(), feature::OFFLOADS.len());
}

#[test]
fn a_side_wins_over_both_whatever_comes_first() {
    for order in [[0, 1], [1, 0]] {
        let levels = [("tso", TX, OFF), ("tso", None, ON)];
        let [transmitter, receiver] = settings(&order.map(|index| levels[index]));
        assert!(transmitter.features.values().all(|on| !on));
        assert!(receiver.features.values().all(|on| *on));
        assert_eq!(receiver.features.len(), 5);
    }
}

#[test]
fn offloads_of_a_side_win_over_offloads() {
    for order in [[0, 1], [1, 0]] {
        let levels = [("offloads", TX, NONE), ("offloads", None, "default")];
        let [transmitter, receiver] = settings(&order.map(|index| levels[index]));
        assert_eq!(transmitter.offloads, Offloads::None);
        assert_eq!(receiver.offloads, Offloads::Default);
    }
}

#[test]
fn a_side_wins_over_both_for_a_device_and_its_default_too() {
    for order in [[0, 1, 2], [2, 1, 0]] {
        let levels = [("rx_ring", None, "256"), ("rx_ring", TX, "512"), ("adaptive_rx", None, ON)];
        let [transmitter, receiver] = settings(&order.map(|index| levels[index]));
        let of = |size| [(DeviceSetting::RxRing, size), (DeviceSetting::AdaptiveRx, 1)].into();
        assert_eq!((transmitter.device, receiver.device), (of(512), of(256)));
        let levels = [("rx_ring", None, "256"), ("rx_ring", TX, DEFAULT), ("adaptive_rx", None, OFF)];
        let [transmitter, receiver] = settings(&order.map(|index| levels[index]));
        assert_eq!(transmitter.device, [(DeviceSetting::AdaptiveRx, 0)].into());
        assert_eq!(receiver.device[&DeviceSetting::RxRing], 256);
    }
}

#[test]
fn a_side_wins_over_both_for_a_machine_too() {
    for order in [[0, 1, 2], [2, 1, 0]] {
        let levels = [("governor", None, "powersave"), ("governor", TX, DEFAULT), ("cpu_latency", TX, "0")];
        let [transmitter, receiver] = settings(&order.map(|index| levels[index])).map(|one| one.tuning);
        assert_eq!((transmitter.governor, transmitter.cpu_latency), (None, Some(0)));
        assert_eq!(receiver.governor.as_deref(), Some("powersave"));
        assert_eq!((transmitter.varied.len(), receiver.varied.len()), (2, 1));
    }
}

#[test]
fn a_kernel_name_wins_over_its_group() {
    for order in [[0, 1], [1, 0]] {
        let levels = [("tx-tcp6-segmentation", None, ON), ("tso", None, OFF)];
        let [transmitter, _] = settings(&order.map(|index| levels[index]));
        assert!(transmitter.features["tx-tcp6-segmentation"]);
        assert!(!transmitter.features["tx-tcp-segmentation"]);
    }
}

#[test]
fn a_feature_for_both_wins_over_the_offloads_of_a_side() {
    let [transmitter, _] = settings(&[("offloads", TX, NONE), ("sg", None, ON)]);
    assert!(transmitter.wanted()["tx-scatter-gather"]);
}

#[test]
fn the_underlay_is_set_apart_from_the_tunnel() {
    let factor = |name: &str, level| {
        let subject = Varied::from_name(name).unwrap();
        Factor { name: name.into(), subject, values: vec![level_value(level)] }
    };
    let factors = [
        factor("tso", ON),
        factor("underlay.tso", OFF),
        factor("transmitter.underlay.offloads", NONE),
        factor("receiver.underlay.tso", ON),
    ];
    let levels: Vec<(&Factor, &Value)> = factors.iter().map(|factor| (factor, &factor.values[0])).collect();
    let of = |side, underlay| SideSettings::from_levels(side, underlay, &levels);
    let tso = |settings: SideSettings| settings.wanted()["tx-tcp-segmentation"];
    for side in Side::BOTH {
        assert!(tso(of(side, false)) && of(side, false).features.len() == 5);
    }
    assert!(!tso(of(Side::Transmitter, true)) && tso(of(Side::Receiver, true)));
    assert_eq!(of(Side::Transmitter, true).offloads, Offloads::None);
    assert_eq!(of(Side::Receiver, true).offloads, Offloads::Default);
}

#[test]
fn the_default_asks_for_nothing() {
    assert!(SideSettings::default().wanted().is_empty());
}
