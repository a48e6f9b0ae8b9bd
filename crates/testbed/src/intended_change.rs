//! The changes that a study would make on a machine of the user's, before any is made.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use host::machine::{set_device, set_feature, set_link};
use host::{GROUP, InterfaceEnvironment, LEAST_IPV6_MTU, LocatedInterface, Vxlan};
use serde::Serialize;
use study::{BySide, DeviceSetting, Family, Scenario, Side};
use words::shell_command;

use crate::path::address::{Addresses, TRAFFIC, UNDERLAY};
use crate::path::node::TAPS;
use crate::path::tunnel::{free_number, numbered};
use crate::switches::Switches;

/// The kernel's name of a feature that a port of a bridge must not have.
const LRO: &str = "rx-lro";

/// A change, as a command that a person could give, and the command that undoes it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct IntendedChange {
    /// The command that makes the change.
    pub change: String,
    /// The command that undoes it by hand, or a comment where there is none.
    pub undo: String,
}

impl IntendedChange {
    /// The changes on the machine of a side in a scenario, each once. `both`: the interfaces of
    /// both sides; `now`: its own as it is; `own`: the families of which it gets addresses of
    /// netassay's.
    #[must_use]
    pub fn on_machine(
        side: Side,
        (both, now): (&BySide<&LocatedInterface>, &InterfaceEnvironment),
        wanted: &[Switches],
        (own, scenario): (&[Family], Scenario),
    ) -> Vec<Self> {
        let located = both[side];
        let interface = located.interface.as_str();
        let (tunnel, guests) = (scenario.has_tunnel(), scenario.has_guests());
        // The switches are those of the interface itself, of what is under the tunnel, or a
        // guest's.
        let bridged = guests && !tunnel;
        let one = |change: String, undo: String| Self { change, undo };
        let mut all = Vec::new();
        if !now.link.up {
            let set = |state| set_link(interface, &[state]);
            all.push(one(set("up"), set("down")));
        }
        if !bridged {
            let addresses: Addresses = if tunnel { UNDERLAY[side] } else { TRAFFIC[side] };
            // An address that is there already stays.
            let new = addresses.with_prefixes(own).into_iter().filter(|one| !located.addresses.contains(one));
            all.extend(new.map(|(address, prefix)| {
                let say = |verb| change_address(verb, (address, prefix), interface);
                one(say("add"), say("del"))
            }));
        }
        let mtu = |switches: &Switches| if tunnel { switches.underlay.mtu } else { switches.mtu };
        let is_set = |mtu: &u32| if bridged { *mtu > now.link.mtu } else { *mtu != now.link.mtu };
        let mtus: BTreeSet<u32> = wanted.iter().filter_map(mtu).filter(is_set).collect();
        all.extend(mtus.into_iter().map(|mtu| Self::mtu(interface, mtu, now.link.mtu, &located.addresses)));
        let wanted = if bridged { &[] } else { wanted };
        let present = now.features.clone().unwrap_or_default();
        let changed: BTreeSet<(&String, bool)> = wanted
            .iter()
            .flat_map(|switches| features(switches, side, tunnel))
            .map(|(name, on)| (name, *on))
            .filter(|(name, on)| present.get(*name).is_some_and(|now| now.changeable && now.active != *on))
            .collect();
        all.extend(changed.into_iter().map(|(name, on)| Self::feature(interface, name, on)));
        let changed: BTreeSet<(DeviceSetting, u32, u32)> = wanted
            .iter()
            .flat_map(
                |switches| if tunnel { &switches.underlay.devices[side] } else { &switches.devices[side] },
            )
            .filter_map(|(setting, value)| Some((*setting, *value, now.device.get(setting)?.now)))
            .filter(|(_, value, now)| value != now)
            .collect();
        all.extend(changed.into_iter().map(|(setting, value, now)| {
            let set = |value| set_device(interface, setting, &setting.text(value));
            one(set(value), set(now))
        }));
        let number = free_number(both);
        let [vxlan, bridge] = numbered(number);
        // Others have other groups, whatever the names of their interfaces are.
        let mut make = |change: String| all.push(one(change, format!("ip link del group {GROUP}")));
        if tunnel {
            let (id, port) = Vxlan::numbered(number);
            let over = shell_command(["dev", interface]);
            make(format!("ip link add {vxlan} group {GROUP} type vxlan id {id} dstport {port} {over} …"));
        }
        if guests {
            make(format!("ip link add {bridge} group {GROUP} type bridge"));
            let tap = TAPS[side];
            make(format!("ip tuntap add {tap} mode tap; {}", set_link(tap, &["group", &GROUP.to_string()])));
        }
        if bridged {
            let mut undo = set_link(interface, &["nomaster"]);
            // The kernel turns it off on a port.
            if present.get(LRO).is_some_and(|now| now.changeable && now.active) {
                undo += &format!("; {}", set_feature(interface, LRO, "on"));
            }
            all.push(one(set_link(interface, &["master", &bridge]), undo));
        }
        all
    }

    /// The commands that undo all of it by hand, in an order that works: the last change first,
    /// each command once.
    #[must_use]
    pub fn undo_commands(all: &[Self]) -> Vec<String> {
        let mut commands: Vec<String> = Vec::new();
        for one in all.iter().rev() {
            if !commands.contains(&one.undo) {
                commands.push(one.undo.clone());
            }
        }
        commands
    }

    /// A kernel that is booted once.
    #[must_use]
    pub fn kernel(release: &str) -> Self {
        Self {
            change: format!(
                "a restart with kernel {release}, which grub-reboot or kexec chooses for one boot"
            ),
            undo: "# the kernel: a reboot, since the default is unchanged".to_owned(),
        }
    }

    pub(crate) fn feature(interface: &str, name: &str, on: bool) -> Self {
        let set = |on| set_feature(interface, name, if on { "on" } else { "off" });
        Self { change: set(on), undo: set(!on) }
    }

    /// Another MTU, in bytes, of an interface with these addresses: a small one removes those of
    /// IPv6.
    pub(crate) fn mtu(interface: &str, to: u32, from: u32, addresses: &[(IpAddr, u8)]) -> Self {
        let set = |mtu: u32| set_link(interface, &["mtu", &mtu.to_string()]);
        let lost = addresses.iter().filter(|(address, _)| address.is_ipv6() && to < LEAST_IPV6_MTU);
        let again = lost.map(|one| format!("; {}", change_address("replace", *one, interface)));
        Self { change: set(to), undo: set(from) + &again.collect::<String>() }
    }
}

fn change_address(verb: &str, (address, prefix): (IpAddr, u8), interface: &str) -> String {
    shell_command(["ip", "addr", verb, &format!("{address}/{prefix}"), "dev", interface])
}

/// The features of the machine's own interface.
fn features(switches: &Switches, side: Side, tunnel: bool) -> &BTreeMap<String, bool> {
    match (side, tunnel) {
        (Side::Transmitter, false) => &switches.transmitter,
        (Side::Receiver, false) => &switches.receiver,
        (Side::Transmitter, true) => &switches.underlay.transmitter,
        (Side::Receiver, true) => &switches.underlay.receiver,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_change_is_told_once_with_the_command_that_undoes_it() {
        let environment = host::Environment::read(&["lo"], "1");
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
        let small = Switches { mtu: Some(1000), transmitter: off(), ..Switches::default() };
        let ring = |size| {
            let mut switches = Switches { mtu: Some(1500), ..small.clone() };
            switches.devices.transmitter.insert(DeviceSetting::RxRing, size);
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
        let big = Switches { mtu: Some(9000), ..small.clone() };
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
}
