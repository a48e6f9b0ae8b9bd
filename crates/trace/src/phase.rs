//! The journey that a stage belongs to.

use serde::{Deserialize, Serialize};

use crate::layer::Layer;

/// The journey that a stage is a part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JourneyPhase {
    /// The sending thread's.
    Out,
    /// A CPU's, before it has a packet.
    Leading,
    /// A packet's, which a CPU hands from function to function.
    Arriving,
    /// The reading thread's.
    Reading,
}

impl JourneyPhase {
    /// The phases of stages in these lanes. A path that begins in an interrupt comes in; its reader
    /// begins with the first stage of the application. Which stages lead to a packet is known when
    /// their places are chosen: until then they are [`JourneyPhase::Arriving`].
    pub fn of_layers(lanes: impl Iterator<Item = Layer> + Clone) -> impl Iterator<Item = Self> {
        let comes_in = lanes.clone().next() == Some(Layer::Interrupt);
        let border = lanes.clone().position(|lane| lane == Layer::Application).unwrap_or(usize::MAX);
        lanes.enumerate().map(move |(index, _)| match comes_in {
            false => Self::Out,
            true if index < border => Self::Arriving,
            true => Self::Reading,
        })
    }

    /// The constant `PHASE` of a program (`bpf/maps.h`).
    pub(crate) fn number(self) -> u64 {
        match self {
            Self::Out => 0,
            Self::Leading => 1,
            Self::Arriving => 2,
            Self::Reading => 3,
        }
    }
}
