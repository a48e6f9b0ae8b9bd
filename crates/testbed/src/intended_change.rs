//! The changes that a study would make on a machine of the user's, before any is made.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use agent::message::{Answer, Request};
use host::journal::Change;
use host::machine::{MachineRequest, Target, governor, set_device, set_feature, set_link};
use host::{GROUP, InterfaceEnvironment, LEAST_IPV6_MTU, LocatedInterface, Vxlan};
use serde::Serialize;
use study::{BySide, DeviceSetting, Family, Scenario, Side, Tuning};
use words::shell_command;

use crate::error::Error;
use crate::hosts::{Hosts, MachineSideSettings};
use crate::launched_agent::answer;
use crate::path::node::TAPS;
use crate::path::{Addresses, TRAFFIC, UNDERLAY, free_number, numbered};
use crate::switches::Switches;
use crate::two_machines::{self, ConnectedMachine};

// The kernel's name of a feature that a port of a bridge must not have.
const LRO: &str = "rx-lro";

/// A change, as a command that a person could give, and the command that undoes it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct IntendedChange {
    pub change: String,
    /// The command that undoes it by hand, or a comment where there is none.
    pub undo: String,
}

impl IntendedChange {
    /// The changes on the machine of a side, each once. `both`: the interfaces of both sides;
    /// `now`: its own as it is; `own`: the families of which it gets netassay's addresses.
    pub fn on_machine(
        side: Side,
        (both, now): (&BySide<&LocatedInterface>, &InterfaceEnvironment),
        wanted: &[Switches],
        (own, scenario): (&[Family], Scenario),
    ) -> Vec<Self> {
        let located = both[side];
        let interface = located.interface.as_str();
        let (tunnel, guests) = (scenario.has_tunnel(), scenario.has_guests());
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
        let wanted = wanted.iter().map(|one| if tunnel { &one.underlay } else { &one.own });
        let is_set = |mtu: &u32| if bridged { *mtu > now.link.mtu } else { *mtu != now.link.mtu };
        let mtus: BTreeSet<u32> = wanted.clone().filter_map(|one| one.mtu).filter(is_set).collect();
        all.extend(mtus.into_iter().map(|mtu| Self::mtu(interface, mtu, now.link.mtu, &located.addresses)));
        let wanted = wanted.filter(|_| !bridged);
        let present = now.features.clone().unwrap_or_default();
        let changed: BTreeSet<(&String, bool)> = wanted
            .clone()
            .flat_map(|switches| &switches.features[side])
            .map(|(name, on)| (name, *on))
            .filter(|(name, on)| present.get(*name).is_some_and(|now| now.changeable && now.active != *on))
            .collect();
        all.extend(changed.into_iter().map(|(name, on)| Self::feature(interface, name, on)));
        let changed: BTreeSet<(DeviceSetting, u32, u32)> = wanted
            .flat_map(|switches| &switches.devices[side])
            .filter_map(|(setting, value)| Some((*setting, *value, now.device.get(setting)?.now)))
            .filter(|(_, value, now)| value != now)
            .collect();
        all.extend(changed.into_iter().map(|(setting, value, now)| {
            let set = |value| set_device(interface, setting, &setting.text(value));
            one(set(value), set(now))
        }));
        let number = free_number(both);
        let [vxlan, bridge] = numbered(number);
        // Other owners' interfaces have other groups, whatever their names are.
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

    /// The commands that undo all of it by hand: the last change first, each command once.
    pub fn undo_commands(all: &[Self]) -> Vec<String> {
        words::distinct(all.iter().rev().map(|one| one.undo.clone()))
    }

    /// A kernel that is booted once.
    pub fn kernel(release: &str) -> Self {
        Self {
            change: format!(
                "a restart with kernel {release}, which grub-reboot or kexec chooses for one boot"
            ),
            undo: "# the kernel: a reboot, since the default is unchanged".to_owned(),
        }
    }

    fn of_machine(changes: &[Change], cpu_latency: Option<u32>) -> Vec<Self> {
        let mut governors: BTreeMap<(String, String), Vec<u32>> = BTreeMap::new();
        let mut others: Vec<Self> = Vec::new();
        for change in changes {
            let Some(after) = &change.after else { continue };
            let command = |value| change.target.command(value);
            if let Target::Governor { cpu } = change.target {
                // CPUs with the same change share a command.
                let kind = (change.before.to_string(), after.to_string());
                governors.entry(kind).or_default().push(cpu);
            } else if let Some((change, undo)) = command(after).zip(command(&change.before)) {
                others.push(Self { change, undo });
            }
        }
        let governors = governors.into_iter().map(|((before, after), cpus)| {
            let cpus = host::affinity::format_cpu_list(&cpus);
            Self { change: governor(&cpus, &after), undo: governor(&cpus, &before) }
        });
        let latency = cpu_latency.map(|bound| Self {
            change: format!("/dev/cpu_dma_latency held open at {bound} µs by the agent"),
            undo: "# /dev/cpu_dma_latency: it ends with the agent".to_owned(),
        });
        governors.chain(others).chain(latency).collect()
    }

    pub(crate) fn feature(interface: &str, name: &str, on: bool) -> Self {
        let set = |on| set_feature(interface, name, if on { "on" } else { "off" });
        Self { change: set(on), undo: set(!on) }
    }

    pub(crate) fn mtu(interface: &str, to: u32, from: u32, addresses: &[(IpAddr, u8)]) -> Self {
        let set = |mtu: u32| set_link(interface, &["mtu", &mtu.to_string()]);
        // The kernel removes the addresses of IPv6 under an MTU that IPv6 does not allow.
        let lost = addresses.iter().filter(|(address, _)| address.is_ipv6() && to < LEAST_IPV6_MTU);
        let again = lost.map(|one| format!("; {}", change_address("replace", *one, interface)));
        Self { change: set(to), undo: set(from) + &again.collect::<String>() }
    }
}

fn change_address(verb: &str, (address, prefix): (IpAddr, u8), interface: &str) -> String {
    shell_command(["ip", "addr", verb, &format!("{address}/{prefix}"), "dev", interface])
}

impl Hosts {
    /// The changes on each machine, each once: for all conditions, or by some of them.
    ///
    /// # Errors
    /// [`Error::Failed`] for what a machine does not have, with its name.
    pub fn preview(
        &self,
        settings: &BySide<MachineSideSettings>,
        conditions: &[BySide<Tuning>],
    ) -> Result<BySide<Vec<IntendedChange>>, Error> {
        let mut machines = two_machines::machines(self)?;
        BySide::try_from_fn(|side| {
            let ConnectedMachine { agent, located } = &mut machines[side];
            let interface = &located.interface;
            let of_conditions =
                conditions.iter().map(|one| MachineRequest::of_condition(&one[side], interface));
            let mut requests = vec![settings[side].request(interface)];
            requests.extend(of_conditions);
            let mut all = Vec::new();
            for (place, request) in requests.iter().enumerate() {
                if request.is_empty() || requests[..place].contains(request) {
                    continue;
                }
                let answer = agent.call(&Request::PreviewMachine(request.clone()));
                let answer = answer.map_err(|error| error.or_not_set(self.end(side)))?;
                let changes = answer!(agent, answer, Answer::MachineChanged(changes) => changes);
                all.extend(IntendedChange::of_machine(&changes, request.cpu_latency));
            }
            Ok(all)
        })
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod preview_tests {
    use super::*;

    #[test]
    fn governors_of_several_cpus_are_one_command() {
        let change = |target, before: &str, after: &str| Change {
            number: 1,
            target,
            before: before.into(),
            after: Some(after.into()),
        };
        let governor = |cpu, before: &str| change(Target::Governor { cpu }, before, "performance");
        let ttl = Target::Sysctl { name: "net.ipv4.ip_default_ttl".to_owned() };
        let changes = [
            governor(0, "powersave\n"),
            governor(1, "powersave\n"),
            governor(2, "ondemand\n"),
            change(ttl, "64\n", "77"),
        ];
        let told: Vec<String> = IntendedChange::of_machine(&changes, Some(0))
            .iter()
            .map(|one| format!("{} | {}", one.change, one.undo))
            .collect();
        assert_eq!(
            told,
            [
                "cpupower --cpu 2 frequency-set --governor performance | cpupower --cpu 2 frequency-set --governor ondemand",
                "cpupower --cpu 0-1 frequency-set --governor performance | cpupower --cpu 0-1 frequency-set --governor powersave",
                "sysctl -w net.ipv4.ip_default_ttl=77 | sysctl -w net.ipv4.ip_default_ttl=64",
                "/dev/cpu_dma_latency held open at 0 µs by the agent | # /dev/cpu_dma_latency: it ends with the agent",
            ]
        );
    }
}
