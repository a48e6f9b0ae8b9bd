use std::collections::BTreeMap;

use super::*;
use crate::switches::InterfaceSwitches;

#[test]
fn each_change_is_told_once_with_the_command_that_undoes_it() {
    let environment = host::HostEnvironment::read(&["lo"], "1");
    let mut now = environment.interfaces["lo"].clone().unwrap();
    now.link.mtu = 1500;
    let lro = host::FeatureState { active: true, wanted: true, changeable: true };
    now.features.as_mut().unwrap().insert(LRO.to_owned(), lro);
    now.device.insert(DeviceSetting::RxRing, host::DeviceValue { now: 512, most: Some(4096) });
    let located = LocatedInterface {
        interface: "eth1".to_owned(),
        mtu: 1500,
        addresses: vec![("192.0.2.1".parse().unwrap(), 24), ("2001:db8::1".parse().unwrap(), 64)],
        near: Vec::new(),
        carries: false,
        has_ipv6: true,
        default_has_ipv6: true,
        taken: vec![0],
    };
    let other = LocatedInterface { taken: vec![1], ..located.clone() };
    let both = BySide { transmitter: &located, receiver: &other };
    let off = || BTreeMap::from([("tx-tcp-segmentation".to_owned(), false)]);
    let plain = Switches::default();
    let features = BySide { transmitter: off(), receiver: BTreeMap::new() };
    let own = InterfaceSwitches { mtu: Some(1000), features, ..Default::default() };
    let small = Switches { own, ..Switches::default() };
    let ring = |size| {
        let mut switches = small.clone();
        switches.own.mtu = Some(1500);
        switches.own.devices.transmitter.insert(DeviceSetting::RxRing, size);
        switches
    };
    // 512 descriptors are what the device has.
    let [same, less] = [512, 256].map(ring);
    let told = IntendedChange::on_machine(
        Side::Transmitter,
        (&both, &now),
        &[plain, small.clone(), same, less.clone(), less],
        (&Family::ALL, Scenario::Ssh),
    );
    let changes = |all: &[IntendedChange]| all.iter().map(|one| one.change.clone()).collect::<Vec<_>>();
    let lines: Vec<String> = told.iter().map(|one| format!("{} | {}", one.change, one.undo)).collect();
    assert_eq!(
        lines,
        [
            "ip addr add 198.18.0.1/24 dev eth1 | ip addr del 198.18.0.1/24 dev eth1",
            "ip addr add 2001:2::1/64 dev eth1 | ip addr del 2001:2::1/64 dev eth1",
            "ip link set dev eth1 mtu 1000 | ip link set dev eth1 mtu 1500; ip addr replace 2001:db8::1/64 dev eth1",
            "ethtool -K eth1 tx-tcp-segmentation off | ethtool -K eth1 tx-tcp-segmentation on",
            "ethtool -G eth1 rx 256 | ethtool -G eth1 rx 512",
        ]
    );
    // With a tunnel the switches are the tunnel's, which ends with it.
    let told = IntendedChange::on_machine(
        Side::Receiver,
        (&both, &now),
        std::slice::from_ref(&small),
        (&[], Scenario::SshVxlan),
    );
    assert_eq!(
        changes(&told),
        ["ip link add vxlan2 group 1852142689 type vxlan id 44 dstport 14791 dev eth1 …"]
    );
    assert_eq!(IntendedChange::undo_commands(&told), ["ip link del group 1852142689"]);
    // Between guests they are a guest's; the interface only lets its longest packets pass.
    let mut big = small.clone();
    big.own.mtu = Some(9000);
    let told = IntendedChange::on_machine(
        Side::Transmitter,
        (&both, &now),
        &[small, big],
        (&Family::ALL, Scenario::Vm),
    );
    assert_eq!(
        changes(&told),
        [
            "ip link set dev eth1 mtu 9000",
            "ip link add bridge2 group 1852142689 type bridge",
            "ip tuntap add tap-transmit mode tap; ip link set dev tap-transmit group 1852142689",
            "ip link set dev eth1 master bridge2",
        ]
    );
    assert_eq!(
        IntendedChange::undo_commands(&told),
        [
            "ip link set dev eth1 nomaster; ethtool -K eth1 rx-lro on",
            "ip link del group 1852142689",
            "ip link set dev eth1 mtu 1500",
        ]
    );
    // Addresses that are there already are nobody's to remove.
    let own = TRAFFIC.transmitter.with_prefixes(&Family::ALL);
    let located = LocatedInterface { addresses: own, ..located.clone() };
    let both = BySide { transmitter: &located, receiver: &other };
    let told =
        IntendedChange::on_machine(Side::Transmitter, (&both, &now), &[], (&Family::ALL, Scenario::Ssh));
    assert_eq!(told, []);
}
