//! The commands that set a switch, and those that undo it.

use std::fmt;

use crate::{SwitchEffect, grouped};
use serde::Serialize;
use study::{CongestionControl, Offload, Side, Switch, feature};

/// One setting of a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HostCommand {
    /// A feature of an interface, on or off.
    Feature {
        /// The host; `None`: both.
        side: Option<Side>,
        /// The interface.
        interface: HostInterface,
        /// The name for `ethtool -K`.
        name: String,
        /// The name in the output of `ethtool -k`.
        shown_as: String,
        /// The state.
        on: bool,
    },
    /// The MTU of an interface.
    Mtu {
        /// The host; `None`: both.
        side: Option<Side>,
        /// The interface.
        interface: HostInterface,
        /// In bytes.
        bytes: u32,
    },
    /// A setting of the kernel.
    Sysctl {
        /// The host; `None`: both.
        side: Option<Side>,
        /// Its key.
        key: &'static str,
        /// Its value.
        value: String,
    },
}

/// An interface of a host, which the reader must name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HostInterface {
    /// The one that the traffic uses.
    Traffic,
    /// The one under the tunnel.
    Underlay,
}

impl HostInterface {
    fn for_underlay(underlay: bool) -> Self {
        if underlay { Self::Underlay } else { Self::Traffic }
    }

    /// The variable of the shell that names it.
    pub fn variable(self) -> &'static str {
        match self {
            Self::Traffic => "IF",
            Self::Underlay => "UNDERLAY_IF",
        }
    }
}

impl HostCommand {
    /// The commands that make this change, requirements first; empty if no command has the level.
    pub(crate) fn for_effect(effect: &SwitchEffect) -> Vec<Self> {
        let of_factor = |factor: &String| {
            // `tso` of `transmitter.underlay.tso`.
            let name = factor.rsplit('.').next()?;
            Some(of_switch(&Switch::named(factor)?, name, effect))
        };
        let mut commands: Vec<Self> = effect.factors.iter().filter_map(of_factor).flatten().collect();
        commands.sort_by_key(Self::order);
        commands
    }

    /// Its host; `None`: both.
    pub fn side(&self) -> Option<Side> {
        match self {
            Self::Feature { side, .. } | Self::Mtu { side, .. } | Self::Sysctl { side, .. } => *side,
        }
    }

    /// The place in the order of commands, features that others need (scatter-gather) first.
    pub fn order(&self) -> u8 {
        match self {
            Self::Feature { on: false, .. } => 3,
            Self::Feature { name, .. } if name == "sg" || name.starts_with("tx-scatter") => 0,
            Self::Feature { name, .. } if name == "tx" || name == "rx" || name.contains("checksum") => 1,
            Self::Feature { .. } => 2,
            Self::Mtu { .. } | Self::Sysctl { .. } => 4,
        }
    }
}

pub(crate) fn on_or_off(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

impl fmt::Display for HostCommand {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Feature { interface, name, on, .. } => {
                let switched = words::shell_command([name.as_str(), on_or_off(*on)]);
                write!(out, "ethtool -K \"${}\" {switched}", interface.variable())
            }
            Self::Mtu { interface, bytes, .. } => {
                write!(out, "ip link set dev \"${}\" mtu {bytes}", interface.variable())
            }
            Self::Sysctl { key, value, .. } => {
                out.write_str(&words::shell_command(["sysctl", "-w", &format!("{key}={value}")]))
            }
        }
    }
}

fn of_switch(switch: &Switch, name: &str, effect: &SwitchEffect) -> Vec<HostCommand> {
    match switch {
        Switch::Features(Offload { side, underlay, .. }) => {
            vec![feature(*side, HostInterface::for_underlay(*underlay), name, effect.to == "on")]
        }
        Switch::Offloads { side, underlay } => offloads(*side, *underlay, effect),
        Switch::Mtu { underlay } => {
            let interface = HostInterface::for_underlay(*underlay);
            let bytes = effect.to.parse::<u32>().into_iter();
            bytes.map(|bytes| HostCommand::Mtu { side: None, interface, bytes }).collect()
        }
        Switch::CongestionControl => {
            // Words that leave the choice to the kernel or to netassay name none.
            let chosen = effect.to.parse::<CongestionControl>().ok();
            // The name is from the study's file, and people run the command.
            let is_name = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
            let name = chosen.as_ref().and_then(CongestionControl::name);
            let name = name.filter(|name| !name.starts_with('-') && name.chars().all(is_name));
            let (side, key) = (switch.side(), "net.ipv4.tcp_congestion_control");
            name.map(|name| HostCommand::Sysctl { side, key, value: name.to_owned() }).into_iter().collect()
        }
    }
}

fn offloads(side: Option<Side>, underlay: bool, effect: &SwitchEffect) -> Vec<HostCommand> {
    let commands = |host: Side, side: Option<Side>| {
        let own = effect.features.get(&(host, underlay)).into_iter().flatten();
        let named = own.map(|(name, on)| {
            // The name of one of `ethtool`'s groups sets every member.
            let group = feature::GROUPS.iter().find(|group| group.members.contains(&name.as_str()));
            (group.map_or(name.as_str(), |group| group.short), *on)
        });
        let features = grouped(named).into_iter();
        features
            .map(|(name, on)| feature(side, HostInterface::for_underlay(underlay), name, on[0]))
            .collect::<Vec<_>>()
    };
    let Some(side) = side else {
        // One command for both hosts, unless they need different ones.
        let [one, other] = Side::BOTH.map(|host| commands(host, None));
        if one == other {
            return one;
        }
        return Side::BOTH.map(|host| commands(host, Some(host))).concat();
    };
    commands(side, Some(side))
}

fn feature(side: Option<Side>, interface: HostInterface, name: &str, on: bool) -> HostCommand {
    let group = feature::GROUPS.iter().find(|group| group.short == name || group.long == name);
    let (name, shown_as) = group.map_or((name, name), |group| (group.short, group.long));
    HostCommand::Feature { side, interface, name: name.to_owned(), shown_as: shown_as.to_owned(), on }
}
