//! A factor of a design: some features of some interfaces, on or off.

use words::Side;

use crate::model::factor::Subject;

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
    /// The feature that a factor's name means: `tso`,
    /// `transmitter.underlay.tx-udp_tnl-segmentation`. `None` if it names no feature.
    pub fn named(factor: &str) -> Option<Self> {
        match Subject::from_name(factor)? {
            Subject::Feature(scope, features) => {
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
