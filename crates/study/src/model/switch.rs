//! Factors that are switches of a host: settings that an administrator can change.

use std::fmt;

use words::{Side, Word};

use crate::model::Varied;

/// A setting of the hosts that a factor changes; not of the traffic, testbed or kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Switch {
    /// Features of interfaces.
    Features(Offload),
    /// All offloads of interfaces.
    Offloads {
        /// The side; `None`: both.
        side: Option<Side>,
        /// Whether it is about the interfaces under the tunnel.
        underlay: bool,
    },
    /// The MTU of the interfaces of both sides.
    Mtu {
        /// Whether it is about the interfaces under the tunnel.
        underlay: bool,
    },
    /// TCP's congestion control.
    CongestionControl,
}

impl Switch {
    /// The switch that a factor's name means; `None` if the factor is no switch.
    pub fn named(factor: &str) -> Option<Self> {
        match Varied::from_name(factor)? {
            Varied::Feature(..) => Offload::named(factor).map(Self::Features),
            Varied::Offloads(scope) => Some(Self::Offloads { side: scope.side, underlay: scope.underlay }),
            Varied::Mtu => Some(Self::Mtu { underlay: false }),
            Varied::Underlay("mtu") => Some(Self::Mtu { underlay: true }),
            Varied::Key(key) if key.name == "congestion_control" => Some(Self::CongestionControl),
            _ => None,
        }
    }

    /// Its side; `None` for both.
    pub fn side(&self) -> Option<Side> {
        match self {
            Self::Features(Offload { side, .. }) | Self::Offloads { side, .. } => *side,
            // The sender's congestion control decides.
            Self::CongestionControl => Some(Side::Transmitter),
            Self::Mtu { .. } => None,
        }
    }
}

pub(crate) const UNDERLAY: &str = "underlay";

/// Interfaces: of one side or of both; the ones that the traffic uses, or those under its tunnel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Scope {
    pub(crate) side: Option<Side>,
    pub(crate) underlay: bool,
}

impl Scope {
    /// The scope at the beginning of a name, and the rest: `transmitter.underlay.tso`.
    pub(crate) fn split(name: &str) -> (Self, &str) {
        let (side, rest) = match name.split_once('.').map(|(side, rest)| (Side::from_word(side), rest)) {
            Some((Some(side), rest)) => (Some(side), rest),
            _ => (None, name),
        };
        match rest.split_once('.') {
            Some((UNDERLAY, rest)) => (Self { side, underlay: true }, rest),
            _ => (Self { side, underlay: false }, rest),
        }
    }

    /// The scope that a word selects inside this one: `transmitter`, and in it `underlay`.
    pub(crate) fn within(self, word: &str) -> Option<Self> {
        match Side::from_word(word) {
            Some(side) if self == Self::default() => Some(Self { side: Some(side), ..self }),
            None if word == UNDERLAY && !self.underlay => Some(Self { underlay: true, ..self }),
            _ => None,
        }
    }

    /// The scope in a file's name: `tx-ul-`.
    pub(crate) fn short(&self) -> String {
        let side = self.side.map_or(String::new(), |side| format!("{}-", side.short()));
        if self.underlay { format!("{side}ul-") } else { side }
    }
}

/// Writes the scope as a prefix of a name: empty, or with the point at its end.
impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(side) = self.side {
            write!(f, "{side}.")?;
        }
        if self.underlay { write!(f, "{UNDERLAY}.") } else { Ok(()) }
    }
}

/// Features that a factor switches together, and the interfaces it switches them on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offload {
    /// The side; `None`: both.
    pub side: Option<Side>,
    /// Whether it is about the interfaces under the tunnel.
    pub underlay: bool,
    /// The features, by kernel name.
    pub features: Vec<&'static str>,
}

impl Offload {
    /// The feature that a name means: `transmitter.underlay.tx-udp_tnl-segmentation`.
    pub fn named(factor: &str) -> Option<Self> {
        match Varied::from_name(factor)? {
            Varied::Feature(scope, features) => {
                Some(Self { side: scope.side, underlay: scope.underlay, features })
            }
            _ => None,
        }
    }

    /// Whether both switch the same feature of the same interface.
    pub fn overlaps(&self, other: &Self) -> bool {
        let sides_meet = self.side.is_none() || other.side.is_none() || self.side == other.side;
        sides_meet
            && self.underlay == other.underlay
            && self.features.iter().any(|feature| other.features.contains(feature))
    }
}

words::vocabulary! {
    /// The shorthand for all offloads of an interface.
    #[derive(Default)]
    pub enum Offloads: "a state of the offloads" {
        /// As the machine sets them when the interface comes up.
        Default = "default", default;
        /// All of them off.
        None = "none";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_host_can_be_set_to_is_a_switch() {
        for (factor, side) in [
            ("tso", None),
            ("transmitter.underlay.tx-udp_tnl-segmentation", Some(Side::Transmitter)),
            ("receiver.offloads", Some(Side::Receiver)),
            ("mtu", None),
            ("underlay.mtu", None),
            ("congestion_control", Some(Side::Transmitter)),
        ] {
            assert_eq!(Switch::named(factor).map(|switch| switch.side()), Some(side), "{factor}");
        }
        for factor in ["workload", "scenario", "family", "message", "sender", "kernel", "twin", "nonsense"] {
            assert_eq!(Switch::named(factor), None, "{factor}");
        }
    }
}

#[cfg(test)]
mod scope_tests {
    use super::*;

    #[test]
    fn a_scope_is_what_it_was_written_as() {
        for (name, scope, rest) in [
            ("tso", "", "tso"),
            ("transmitter.tso", "transmitter.", "tso"),
            ("underlay.mtu", "underlay.", "mtu"),
            ("receiver.underlay.tx-udp_tnl-segmentation", "receiver.underlay.", "tx-udp_tnl-segmentation"),
            ("underlay.receiver.tso", "underlay.", "receiver.tso"),
            ("sender.tso", "", "sender.tso"),
        ] {
            let (found, left) = Scope::split(name);
            assert_eq!((found.to_string().as_str(), left), (scope, rest), "{name}");
        }
    }

    #[test]
    fn a_side_holds_an_underlay_and_not_the_other_way_round() {
        let none = Scope::default();
        let side = none.within("transmitter").unwrap();
        assert_eq!(side.within("underlay").unwrap().to_string(), "transmitter.underlay.");
        assert_eq!(side.within("receiver"), None);
        assert_eq!(none.within("underlay").unwrap().within("receiver"), None);
        assert_eq!(none.within("tso"), None);
    }
}
