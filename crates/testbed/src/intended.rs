//! The changes that a study would make on a machine of the user's, before any is made.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use host::machine::{set_device, set_feature, set_link};
use host::{InterfaceEnvironment, LEAST_IPV6_MTU, Located};
use study::{DeviceSetting, Family, Scenario, Side};
use text::command;

use crate::path::address::{Addresses, TRAFFIC, UNDERLAY};
use crate::path::node::{BRIDGE, TAPS};
use crate::path::tunnel::TUNNEL;
use crate::switches::Switches;

/// One change, as a command that a person could give, and the command that undoes it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Intended {
    /// What would be done.
    pub change: String,
    /// How to undo it by hand.
    pub undo: String,
}

impl Intended {
    /// The changes on the machine of a side in a scenario, each once. `located`: its interface;
    /// `now`: as it is; `own`: the families of which it gets addresses of netassay's.
    #[must_use]
    pub fn on(
        side: Side,
        (located, now): (&Located, &InterfaceEnvironment),
        wanted: &[Switches],
        (own, scenario): (&[Family], Scenario),
    ) -> Vec<Self> {
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
            all.extend(addresses.with_prefixes(own).into_iter().map(|(address, prefix)| {
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
        if tunnel {
            all.push(one(format!("ip link add {TUNNEL} type vxlan …"), format!("ip link del {TUNNEL}")));
        }
        if guests {
            all.push(one(format!("ip link add {BRIDGE} type bridge"), format!("ip link del {BRIDGE}")));
            let tap = TAPS[side];
            all.push(one(format!("ip tuntap add {tap} mode tap"), format!("ip tuntap del {tap} mode tap")));
        }
        if bridged {
            all.push(one(set_link(interface, &["master", BRIDGE]), set_link(interface, &["nomaster"])));
        }
        all
    }

    /// A kernel that is booted once.
    #[must_use]
    pub fn kernel(release: &str) -> Self {
        Self {
            change: format!(
                "a restart with kernel {release}, which grub-reboot or kexec chooses for one boot"
            ),
            undo: "reboot: the default kernel is unchanged".to_owned(),
        }
    }

    /// A feature that is switched.
    pub(crate) fn feature(interface: &str, name: &str, on: bool) -> Self {
        let set = |on| set_feature(interface, name, if on { "on" } else { "off" });
        Self { change: set(on), undo: set(!on) }
    }

    /// Another MTU, in bytes, of an interface with these addresses: a small one removes those of
    /// IPv6.
    pub(crate) fn mtu(interface: &str, to: u32, from: u32, addresses: &[(IpAddr, u8)]) -> Self {
        let set = |mtu: u32| set_link(interface, &["mtu", &mtu.to_string()]);
        let lost = addresses.iter().filter(|(address, _)| address.is_ipv6() && to < LEAST_IPV6_MTU);
        let again = lost.map(|one| format!("; {}", change_address("add", *one, interface)));
        Self { change: set(to), undo: set(from) + &again.collect::<String>() }
    }
}

fn change_address(verb: &str, (address, prefix): (IpAddr, u8), interface: &str) -> String {
    command(["ip", "addr", verb, &format!("{address}/{prefix}"), "dev", interface])
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
        now.device.insert(DeviceSetting::RxRing, host::DeviceValue { now: 512, most: Some(4096) });
        let located = Located {
            interface: "eth1".to_owned(),
            mtu: 1500,
            addresses: vec![("192.0.2.1".parse().unwrap(), 24), ("2001:db8::1".parse().unwrap(), 64)],
            near: Vec::new(),
            carries: false,
            has_ipv6: true,
            default_has_ipv6: true,
        };
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
        let told = Intended::on(
            Side::Transmitter,
            (&located, &now),
            &[plain, small.clone(), same, less.clone(), less],
            (&Family::ALL, Scenario::Ssh),
        );
        let lines: Vec<String> = told.iter().map(|one| format!("{} | {}", one.change, one.undo)).collect();
        assert_eq!(
            lines,
            [
                "ip addr add 198.18.0.1/24 dev eth1 | ip addr del 198.18.0.1/24 dev eth1",
                "ip addr add 2001:2::1/64 dev eth1 | ip addr del 2001:2::1/64 dev eth1",
                "ip link set dev eth1 mtu 1000 | ip link set dev eth1 mtu 1500; ip addr add 2001:db8::1/64 dev eth1",
                "ethtool -K eth1 tx-tcp-segmentation off | ethtool -K eth1 tx-tcp-segmentation on",
                "ethtool -G eth1 rx 256 | ethtool -G eth1 rx 512",
            ]
        );
        // With a tunnel the switches are the tunnel's, which ends with it.
        let told = Intended::on(
            Side::Receiver,
            (&located, &now),
            std::slice::from_ref(&small),
            (&[], Scenario::SshVxlan),
        );
        let undone = |told: &[Intended]| told.iter().map(|one| one.undo.clone()).collect::<Vec<_>>();
        assert_eq!(undone(&told), ["ip link del vxlan0"]);
        // Between guests they are a guest's; the interface only lets its longest packets pass.
        let big = Switches { mtu: Some(9000), ..small.clone() };
        let told =
            Intended::on(Side::Transmitter, (&located, &now), &[small, big], (&Family::ALL, Scenario::Vm));
        assert_eq!(
            undone(&told),
            [
                "ip link set dev eth1 mtu 1500",
                "ip link del bridge0",
                "ip tuntap del tap-transmit mode tap",
                "ip link set dev eth1 nomaster",
            ]
        );
    }
}
