//! Factors that are switches of a host: settings that an administrator can change.

use words::Side;

use crate::model::design::Offload;
use crate::model::factor::Subject;

/// A setting of the hosts that a factor changes. Factors of the traffic, the testbed or the kernel
/// are no switches.
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
        match Subject::from_name(factor)? {
            Subject::Feature(..) => Offload::named(factor).map(Self::Features),
            Subject::Offloads(scope) => Some(Self::Offloads { side: scope.side, underlay: scope.underlay }),
            Subject::Mtu => Some(Self::Mtu { underlay: false }),
            Subject::Underlay("mtu") => Some(Self::Mtu { underlay: true }),
            Subject::Key(key) if key.name == "congestion_control" => Some(Self::CongestionControl),
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
