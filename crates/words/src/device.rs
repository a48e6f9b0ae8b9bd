//! The settings of a network device beside its features: its rings, its interrupt coalescing, its
//! queues, its pause frames.

use crate::scenario::Scenario;
use crate::value::Value;

crate::vocabulary! {
    /// A setting of a network device, as `ethtool` shows and sets it.
    #[derive(PartialOrd, Ord)]
    pub enum DeviceSetting: "a setting of a network device" {
        /// Descriptors of each receive ring (`ethtool -G … rx`).
        RxRing = "rx_ring";
        /// Descriptors of each transmit ring (`ethtool -G … tx`).
        TxRing = "tx_ring";
        /// How many µs a receive interrupt is delayed (`ethtool -C … rx-usecs`).
        RxUsecs = "rx_usecs";
        /// After how many received frames an interrupt is raised (`ethtool -C … rx-frames`).
        RxFrames = "rx_frames";
        /// How many µs a transmit interrupt is delayed (`ethtool -C … tx-usecs`).
        TxUsecs = "tx_usecs";
        /// After how many sent frames an interrupt is raised (`ethtool -C … tx-frames`).
        TxFrames = "tx_frames";
        /// Whether the driver chooses `rx_usecs` and `rx_frames` (`ethtool -C … adaptive-rx`).
        AdaptiveRx = "adaptive_rx";
        /// Whether the driver chooses `tx_usecs` and `tx_frames` (`ethtool -C … adaptive-tx`).
        AdaptiveTx = "adaptive_tx";
        /// Queues that both receive and transmit (`ethtool -L … combined`).
        Queues = "queues";
        /// Queues that only receive (`ethtool -L … rx`).
        RxQueues = "rx_queues";
        /// Queues that only transmit (`ethtool -L … tx`).
        TxQueues = "tx_queues";
        /// Whether pause frames are negotiated with the link's other end (`ethtool -A … autoneg`).
        PauseAutoneg = "pause_autoneg";
        /// Whether received pause frames are obeyed (`ethtool -A … rx`).
        PauseRx = "pause_rx";
        /// Whether pause frames are sent when the receive ring is full (`ethtool -A … tx`).
        PauseTx = "pause_tx";
    }
}

impl DeviceSetting {
    /// The greatest value that a study may ask for: descriptors, µs, frames or queues. No device
    /// has so many of any.
    pub const MOST: u32 = 1_000_000;

    /// Whether it is on (1) or off (0), and no number.
    #[must_use]
    pub fn is_switch(self) -> bool {
        self.ethtool().is_switch
    }

    /// How `ethtool` sets it.
    #[must_use]
    pub fn ethtool(self) -> EthtoolOption {
        let number = |option, parameter| EthtoolOption { option, parameter, is_switch: false };
        let switch = |option, parameter| EthtoolOption { option, parameter, is_switch: true };
        match self {
            Self::RxRing => number("-G", "rx"),
            Self::TxRing => number("-G", "tx"),
            Self::RxUsecs => number("-C", "rx-usecs"),
            Self::RxFrames => number("-C", "rx-frames"),
            Self::TxUsecs => number("-C", "tx-usecs"),
            Self::TxFrames => number("-C", "tx-frames"),
            Self::AdaptiveRx => switch("-C", "adaptive-rx"),
            Self::AdaptiveTx => switch("-C", "adaptive-tx"),
            Self::Queues => number("-L", "combined"),
            Self::RxQueues => number("-L", "rx"),
            Self::TxQueues => number("-L", "tx"),
            Self::PauseAutoneg => switch("-A", "autoneg"),
            Self::PauseRx => switch("-A", "rx"),
            Self::PauseTx => switch("-A", "tx"),
        }
    }

    /// The switch that, while it is on, leaves this number to the driver.
    #[must_use]
    pub fn chosen_by(self) -> Option<Self> {
        match self {
            Self::RxUsecs | Self::RxFrames => Some(Self::AdaptiveRx),
            Self::TxUsecs | Self::TxFrames => Some(Self::AdaptiveTx),
            _ => None,
        }
    }

    /// Whether it is a number of queues.
    #[must_use]
    pub fn is_count_of_queues(self) -> bool {
        self.ethtool().option == Self::Queues.ethtool().option
    }

    /// A value of it as text: `256`, or `on`.
    #[must_use]
    pub fn text(self, value: u32) -> String {
        match (self.is_switch(), value) {
            (false, number) => number.to_string(),
            (true, 0) => "off".to_owned(),
            (true, _) => "on".to_owned(),
        }
    }

    /// The value of a text as [`DeviceSetting::text`] writes it.
    #[must_use]
    pub fn of_text(self, text: &str) -> Option<u32> {
        match (self.is_switch(), text) {
            (true, "on") => Some(1),
            (true, "off") => Some(0),
            (true, _) => None,
            (false, number) => number.parse().ok(),
        }
    }

    /// The value of a level of a study; `None` for `default`, which changes nothing.
    #[must_use]
    pub fn of_level(self, level: &Value) -> Option<u32> {
        match level {
            Value::Switch(on) => Some(u32::from(*on)),
            Value::Number(number) => u32::try_from(*number).ok(),
            _ => None,
        }
    }

    /// Why no interface of a scenario has it, as the end of a sentence; `None` if some may. A
    /// tunnel's own interface has none of them: those of its `underlay` may.
    #[must_use]
    pub fn absent(self, scenario: Scenario, underlay: bool) -> Option<&'static str> {
        let is_of_veth = matches!(self, Self::RxQueues | Self::TxQueues);
        match scenario {
            Scenario::Loopback => Some("which has no device: its interface is `lo`"),
            Scenario::Discard => Some("which has no device: its interface discards what it gets"),
            _ if scenario.has_tunnel() && !underlay => Some("whose tunnel has no device of its own"),
            Scenario::Veth | Scenario::Vxlan if !is_of_veth => {
                Some("whose virtual Ethernet interfaces have only `rx_queues` and `tx_queues`")
            }
            _ => None,
        }
    }
}

/// How `ethtool` sets a setting: `ethtool -G eth0 rx 256`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EthtoolOption {
    /// The option, for example `-G`: settings with the same one are set together.
    pub option: &'static str,
    /// Its parameter, for example `rx`.
    pub parameter: &'static str,
    is_switch: bool,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_is_another_parameter_of_ethtool() {
        let mut seen = std::collections::HashSet::new();
        for setting in DeviceSetting::ALL {
            let EthtoolOption { option, parameter, .. } = setting.ethtool();
            assert!(seen.insert((option, parameter)), "{setting}");
            let chooser = setting.chosen_by();
            assert!(chooser.is_none_or(|chooser| chooser.is_switch() && !setting.is_switch()), "{setting}");
        }
    }

    #[test]
    fn a_level_is_a_number_a_switch_or_the_default() {
        assert_eq!(DeviceSetting::RxRing.of_level(&Value::Number(256)), Some(256));
        assert_eq!(DeviceSetting::RxRing.of_level(&Value::Default), None);
        assert_eq!(DeviceSetting::PauseRx.of_level(&Value::Switch(true)), Some(1));
    }

    #[test]
    fn a_scenario_without_a_device_says_what_it_has() {
        let absent = |scenario, underlay| DeviceSetting::RxRing.absent(scenario, underlay);
        assert_eq!(absent(Scenario::Ssh, false), None);
        assert_eq!(absent(Scenario::Vm, false), None);
        assert_eq!(absent(Scenario::SshVxlan, true), None);
        assert!(absent(Scenario::SshVxlan, false).unwrap().contains("tunnel"));
        assert!(absent(Scenario::Veth, false).unwrap().contains("rx_queues"));
        assert!(absent(Scenario::Vxlan, true).unwrap().contains("rx_queues"));
        for scenario in [Scenario::Loopback, Scenario::Discard] {
            assert!(DeviceSetting::ALL.iter().all(|setting| setting.absent(scenario, false).is_some()));
        }
        assert_eq!(DeviceSetting::RxQueues.absent(Scenario::Veth, false), None);
    }

    proptest! {
        #[test]
        fn a_value_survives_as_text(setting in prop::sample::select(&DeviceSetting::ALL[..]), number in any::<u32>()) {
            let value = if setting.is_switch() { number % 2 } else { number };
            prop_assert_eq!(setting.of_text(&setting.text(value)), Some(value));
        }
    }
}
