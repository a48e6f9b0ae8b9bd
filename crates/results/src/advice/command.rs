//! The commands that set a switch, and those that undo it.

use std::fmt;

use crate::SwitchEffect;
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
    #[must_use]
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
        let mut commands: Vec<Self> = Vec::new();
        for factor in &effect.factors {
            let Some(switch) = Switch::named(factor) else { continue };
            commands.extend(of_switch(&switch, bare(factor), effect));
        }
        commands.sort_by_key(Self::turn);
        commands
    }

    /// Its host; `None`: both.
    #[must_use]
    pub fn side(&self) -> Option<Side> {
        match self {
            Self::Feature { side, .. } | Self::Mtu { side, .. } | Self::Sysctl { side, .. } => *side,
        }
    }

    /// The place in the order of commands: features that others need come first, such as
    /// scatter-gather and checksums before segmentation.
    pub(crate) fn turn(&self) -> u8 {
        match self {
            Self::Feature { on: true, name, .. } if name == "sg" || name.starts_with("tx-scatter") => 0,
            Self::Feature { on: true, name, .. }
                if ["tx", "rx"].contains(&name.as_str()) || name.contains("checksum") =>
            {
                1
            }
            Self::Feature { on: true, .. } => 2,
            Self::Feature { on: false, .. } => 3,
            Self::Mtu { .. } | Self::Sysctl { .. } => 4,
        }
    }

    pub(crate) fn value(&self) -> String {
        match self {
            Self::Feature { on, .. } => state(*on).to_owned(),
            Self::Mtu { bytes, .. } => bytes.to_string(),
            Self::Sysctl { value, .. } => value.clone(),
        }
    }

    /// The setting of the host, without its value: two commands of one host with the same target
    /// contradict each other if they differ.
    pub(crate) fn target(&self) -> String {
        match self {
            Self::Feature { interface, name, .. } => format!("{} {name}", interface.variable()),
            Self::Mtu { interface, .. } => format!("{} mtu", interface.variable()),
            Self::Sysctl { key, .. } => (*key).to_owned(),
        }
    }
}

/// The lines that a person types for these commands: features of one interface in one line.
///
/// A line that switches the groups of `ethtool` on restores the driver's defaults: the kernel keeps
/// that a feature without a group is wanted while those that it needs are off. So these are not in
/// the line.
pub(crate) fn lines(commands: &[HostCommand]) -> Vec<(Option<Side>, String)> {
    let is_group = |name: &str| feature::GROUPS.iter().any(|group| group.short == name);
    let follows = |command: &HostCommand| {
        let HostCommand::Feature { side, interface, name, on: true, .. } = command else { return false };
        let place = (side, interface);
        !is_group(name)
            && commands.iter().any(|other| {
                matches!(other, HostCommand::Feature { side, interface, name, on: true, .. }
                    if (side, interface) == place && ["sg", "tx"].contains(&name.as_str()))
            })
    };
    let mut lines: Vec<(Option<Side>, Option<HostInterface>, String)> = Vec::new();
    for command in commands.iter().filter(|command| !follows(command)) {
        let (side, of) = match command {
            HostCommand::Feature { side, interface, .. } => (*side, Some(*interface)),
            other => (other.side(), None),
        };
        let known =
            lines.iter_mut().find(|(known, interface, _)| of.is_some() && (*known, *interface) == (side, of));
        match (known, command) {
            (Some((_, _, line)), HostCommand::Feature { name, on, .. }) => {
                line.push_str(&format!(" {}", words::shell_command([name.as_str(), state(*on)])));
            }
            _ => lines.push((side, of, command.to_string())),
        }
    }
    lines.into_iter().map(|(side, _, line)| (side, line)).collect()
}

fn state(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

/// As a person types it, with the interface as a variable of the shell.
impl fmt::Display for HostCommand {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Feature { interface, name, on, .. } => {
                let switched = words::shell_command([name.as_str(), state(*on)]);
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

/// The name of a factor without its scope: `tso` of `transmitter.underlay.tso`.
pub(crate) fn bare(factor: &str) -> &str {
    factor.rsplit_once('.').map_or(factor, |(_, name)| name)
}

fn of_switch(switch: &Switch, name: &str, effect: &SwitchEffect) -> Vec<HostCommand> {
    match switch {
        Switch::Features(Offload { side, underlay, .. }) => {
            let interface = HostInterface::for_underlay(*underlay);
            vec![feature(*side, interface, name, effect.to == "on")]
        }
        Switch::Offloads { side, underlay } => offloads(*side, *underlay, effect),
        Switch::Mtu { underlay } => {
            let bytes = effect.to.parse().ok();
            let command = |bytes| HostCommand::Mtu {
                side: None,
                interface: HostInterface::for_underlay(*underlay),
                bytes,
            };
            bytes.map(command).into_iter().collect()
        }
        Switch::CongestionControl => {
            // Words that leave the choice to the kernel or to netassay name none.
            let is_name = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
            let name =
                effect.to.parse().ok().and_then(|one: CongestionControl| one.name().map(str::to_owned));
            let name = name.filter(|name| !name.starts_with('-') && name.chars().all(is_name));
            let key = "net.ipv4.tcp_congestion_control";
            name.map(|value| HostCommand::Sysctl { side: switch.side(), key, value }).into_iter().collect()
        }
    }
}

/// The features that read back otherwise, by the names of `ethtool`'s groups, which set every
/// member that an interface has; once where both hosts need the same.
fn offloads(side: Option<Side>, underlay: bool, effect: &SwitchEffect) -> Vec<HostCommand> {
    let interface = HostInterface::for_underlay(underlay);
    let of_side = |side: Side| -> Vec<(String, bool)> {
        let own = effect.features.iter().filter(|one| (one.side, one.underlay) == (side, underlay));
        let mut named: Vec<(String, bool)> = Vec::new();
        for one in own {
            let group = feature::GROUPS.iter().find(|group| group.members.contains(&one.feature.as_str()));
            let name = group.map_or(one.feature.as_str(), |group| group.short);
            if !named.iter().any(|(known, _)| known == name) {
                named.push((name.to_owned(), one.on));
            }
        }
        named
    };
    let commands = |side: Option<Side>, named: &[(String, bool)]| -> Vec<HostCommand> {
        named.iter().map(|(name, on)| feature(side, interface, name, *on)).collect()
    };
    let [one, other] = Side::BOTH.map(of_side);
    match side {
        None if one == other => commands(None, &one),
        None => [commands(Some(Side::Transmitter), &one), commands(Some(Side::Receiver), &other)].concat(),
        Some(Side::Transmitter) => commands(side, &one),
        Some(Side::Receiver) => commands(side, &other),
    }
}

fn feature(side: Option<Side>, interface: HostInterface, name: &str, on: bool) -> HostCommand {
    let group = feature::GROUPS.iter().find(|group| group.short == name || group.long == name);
    let (name, shown_as) = group.map_or((name, name), |group| (group.short, group.long));
    HostCommand::Feature { side, interface, name: name.to_owned(), shown_as: shown_as.to_owned(), on }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_restores_the_defaults_names_the_groups_of_ethtool() {
        let names = ["tx-gre-segmentation", "tx", "tx-udp-segmentation", "sg", "tso", "gso"];
        let set = |on| names.map(|name| feature(None, HostInterface::Traffic, name, on));
        let line = "ethtool -K \"$IF\" tx on sg on tso on gso on";
        assert_eq!(lines(&set(true)), [(None, line.to_owned())]);
        assert!(lines(&set(false))[0].1.contains("tx-gre-segmentation off"));
        let alone = [feature(None, HostInterface::Traffic, "tx-udp-segmentation", true)];
        assert_eq!(lines(&alone)[0].1, "ethtool -K \"$IF\" tx-udp-segmentation on");
    }

    #[test]
    fn a_feature_of_others_is_one_word_of_the_line_to_paste() {
        let one = |name| feature(None, HostInterface::Traffic, name, true);
        let commands = ["x; touch /tmp/owned", "tso", "$(id)\n"].map(one);
        assert_eq!(commands[0].to_string(), "ethtool -K \"$IF\" 'x; touch /tmp/owned' on");
        let line = "ethtool -K \"$IF\" 'x; touch /tmp/owned' on tso on '$(id) ' on";
        assert_eq!(lines(&commands), [(None, line.to_owned())]);
    }
}
