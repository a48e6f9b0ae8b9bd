//! The settings of a network device beside its features: its rings, its interrupt coalescing, its
//! queues, its pause frames, the selection of a receive queue.

use crate::flow_hash;
use crate::scenario::Scenario;
use crate::value::Value;

/// Declares the settings: of each its word, the kind of its value, and the option and parameter of
/// `ethtool`.
macro_rules! device_settings {
    ($($(#[doc = $meaning:literal])+ $name:ident = $word:literal, $form:ident $option:literal $parameter:literal;)+) => {
        crate::vocabulary! {
            /// A setting of a network device, as `ethtool` shows and sets it.
            #[derive(PartialOrd, Ord)]
            pub enum DeviceSetting: "a setting of a network device" {
                $($(#[doc = $meaning])+ $name = $word;)+
            }
        }

        impl DeviceSetting {
            /// The kind of value that it takes.
            pub fn form(self) -> DeviceForm {
                match self {
                    $(Self::$name => DeviceForm::$form,)+
                }
            }

            /// The `ethtool` option that sets it, such as `-G`: settings with the same one are set
            /// together.
            pub fn ethtool_option(self) -> &'static str {
                match self {
                    $(Self::$name => $option,)+
                }
            }

            /// Its parameter of that option, such as `rx`.
            pub fn ethtool_parameter(self) -> &'static str {
                match self {
                    $(Self::$name => $parameter,)+
                }
            }
        }
    };
}

device_settings! {
    /// Descriptors of each receive ring (`ethtool -G … rx`).
    RxRing = "rx_ring", Number "-G" "rx";
    /// Descriptors of each transmit ring (`ethtool -G … tx`).
    TxRing = "tx_ring", Number "-G" "tx";
    /// The delay of a receive interrupt in µs (`ethtool -C … rx-usecs`).
    RxUsecs = "rx_usecs", Number "-C" "rx-usecs";
    /// After how many received frames an interrupt is raised (`ethtool -C … rx-frames`).
    RxFrames = "rx_frames", Number "-C" "rx-frames";
    /// The delay of a transmit interrupt in µs (`ethtool -C … tx-usecs`).
    TxUsecs = "tx_usecs", Number "-C" "tx-usecs";
    /// After how many sent frames an interrupt is raised (`ethtool -C … tx-frames`).
    TxFrames = "tx_frames", Number "-C" "tx-frames";
    /// Whether the driver chooses `rx_usecs` and `rx_frames` (`ethtool -C … adaptive-rx`).
    AdaptiveRx = "adaptive_rx", Switch "-C" "adaptive-rx";
    /// Whether the driver chooses `tx_usecs` and `tx_frames` (`ethtool -C … adaptive-tx`).
    AdaptiveTx = "adaptive_tx", Switch "-C" "adaptive-tx";
    /// Queues that both receive and transmit (`ethtool -L … combined`).
    Queues = "queues", Number "-L" "combined";
    /// Queues that only receive (`ethtool -L … rx`).
    RxQueues = "rx_queues", Number "-L" "rx";
    /// Queues that only transmit (`ethtool -L … tx`).
    TxQueues = "tx_queues", Number "-L" "tx";
    /// Whether pause frames are negotiated with the link's other end (`ethtool -A … autoneg`).
    PauseAutoneg = "pause_autoneg", Switch "-A" "autoneg";
    /// Whether received pause frames are obeyed (`ethtool -A … rx`).
    PauseRx = "pause_rx", Switch "-A" "rx";
    /// Whether pause frames are sent when the receive ring is full (`ethtool -A … tx`).
    PauseTx = "pause_tx", Switch "-A" "tx";
    /// Which fields of TCP over IPv4 select the receive queue (`ethtool -N … rx-flow-hash
    /// tcp4`).
    FlowHashTcp4 = "flow_hash_tcp4", Fields "-N" "rx-flow-hash tcp4";
    /// Which fields of UDP over IPv4 select the receive queue (`ethtool -N … rx-flow-hash
    /// udp4`).
    FlowHashUdp4 = "flow_hash_udp4", Fields "-N" "rx-flow-hash udp4";
    /// Which fields of TCP over IPv6 select the receive queue (`ethtool -N … rx-flow-hash
    /// tcp6`).
    FlowHashTcp6 = "flow_hash_tcp6", Fields "-N" "rx-flow-hash tcp6";
    /// Which fields of UDP over IPv6 select the receive queue (`ethtool -N … rx-flow-hash
    /// udp6`).
    FlowHashUdp6 = "flow_hash_udp6", Fields "-N" "rx-flow-hash udp6";
}

/// The kind of value that a setting takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceForm {
    /// A number.
    Number,
    /// A switch: on (1) or off (0).
    Switch,
    /// Fields of a packet, as bits ([`flow_hash`]).
    Fields,
}

impl DeviceSetting {
    /// The greatest value that a study may ask for: descriptors, µs, frames or queues. No device
    /// has so many of any.
    pub const MOST: u32 = 1_000_000;

    /// Whether it is on (1) or off (0), and no number.
    pub fn is_switch(self) -> bool {
        self.form() == DeviceForm::Switch
    }

    /// The switch that, while it is on, leaves this number to the driver.
    pub fn chosen_by(self) -> Option<Self> {
        match self {
            Self::RxUsecs | Self::RxFrames => Some(Self::AdaptiveRx),
            Self::TxUsecs | Self::TxFrames => Some(Self::AdaptiveTx),
            _ => None,
        }
    }

    /// Whether it is a number of queues.
    pub fn is_count_of_queues(self) -> bool {
        self.ethtool_option() == Self::Queues.ethtool_option()
    }

    /// A value of it as text: `256`, `on`, or `sdfn`.
    pub fn text(self, value: u32) -> String {
        match self.form() {
            DeviceForm::Number => value.to_string(),
            DeviceForm::Switch => if value == 0 { "off" } else { "on" }.to_owned(),
            DeviceForm::Fields => flow_hash::text(value),
        }
    }

    /// The value of a text as [`DeviceSetting::text`] writes it.
    pub fn of_text(self, text: &str) -> Option<u32> {
        match (self.form(), text) {
            (DeviceForm::Number, number) => number.parse().ok(),
            (DeviceForm::Switch, "on") => Some(1),
            (DeviceForm::Switch, "off") => Some(0),
            (DeviceForm::Switch, _) => None,
            (DeviceForm::Fields, fields) => flow_hash::of_text(fields),
        }
    }

    /// The value of a level of a study; `None` for `default`, which changes nothing.
    pub fn of_level(self, level: &Value) -> Option<u32> {
        match level {
            Value::Switch(on) => Some(u32::from(*on)),
            Value::Number(number) => u32::try_from(*number).ok(),
            Value::Text(fields) => flow_hash::mask(fields),
            _ => None,
        }
    }

    /// Whether no interface of a scenario has it. A tunnel's own interface has none of them: those
    /// of its `underlay` may.
    pub fn is_absent(self, scenario: Scenario, underlay: bool) -> bool {
        match scenario {
            Scenario::Loopback | Scenario::Discard => true,
            _ if scenario.has_tunnel() && !underlay => true,
            Scenario::Veth | Scenario::Vxlan => !matches!(self, Self::RxQueues | Self::TxQueues),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_is_another_parameter_of_ethtool() {
        let mut seen = std::collections::HashSet::new();
        for setting in DeviceSetting::ALL {
            assert!(seen.insert((setting.ethtool_option(), setting.ethtool_parameter())), "{setting}");
            let chooser = setting.chosen_by();
            assert!(chooser.is_none_or(|chooser| chooser.is_switch() && !setting.is_switch()), "{setting}");
        }
    }

    #[test]
    fn a_level_is_a_number_a_switch_or_the_default() {
        assert_eq!(DeviceSetting::RxRing.of_level(&Value::Number(256)), Some(256));
        assert_eq!(DeviceSetting::RxRing.of_level(&Value::Default), None);
        assert_eq!(DeviceSetting::PauseRx.of_level(&Value::Switch(true)), Some(1));
        assert_eq!(DeviceSetting::FlowHashUdp4.of_level(&Value::Text("sdfn".to_owned())), Some(0xf0));
    }

    #[test]
    fn a_scenario_without_a_device_has_no_settings_of_it() {
        for (setting, scenario, underlay, expected) in [
            (DeviceSetting::RxRing, Scenario::Ssh, false, false),
            (DeviceSetting::RxRing, Scenario::Vm, false, false),
            (DeviceSetting::RxRing, Scenario::SshVxlan, true, false),
            (DeviceSetting::RxRing, Scenario::SshVxlan, false, true),
            (DeviceSetting::RxRing, Scenario::Veth, false, true),
            (DeviceSetting::RxRing, Scenario::Vxlan, true, true),
            (DeviceSetting::RxQueues, Scenario::Loopback, false, true),
            (DeviceSetting::RxQueues, Scenario::Discard, false, true),
            (DeviceSetting::RxQueues, Scenario::Veth, false, false),
        ] {
            assert_eq!(setting.is_absent(scenario, underlay), expected, "{setting} {scenario}");
        }
    }

    proptest! {
        #[test]
        fn a_value_survives_as_text(setting in prop::sample::select(&DeviceSetting::ALL[..]), number in any::<u32>()) {
            let value = if setting.is_switch() { number % 2 } else { number };
            prop_assert_eq!(setting.of_text(&setting.text(value)), Some(value));
        }
    }
}
