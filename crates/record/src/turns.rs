//! A condition's turns in a flow.

use serde::{Deserialize, Serialize};

use crate::side::Measured;

/// One side's account of one condition's turns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InTurns {
    /// The sum of the counted parts of its turns. Their clocks are over the whole flow, and their
    /// lateness is the worst of all turns.
    pub sum: Measured,
    /// Each counted turn, in order.
    pub turns: Vec<CountedTurn>,
    /// The work in each part of its counted turns.
    pub response: Response,
    /// The edges of each counted turn.
    pub edges: Vec<Edge>,
}

/// The total work of an end, at the edges of the part of a turn that is not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edge {
    /// Bytes that it had sent when the turn began.
    pub sent: u64,
    /// Bytes that it had received when the counted part began.
    pub received: u64,
}

/// A counted turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CountedTurn {
    /// Its number in the flow, from 0.
    pub number: u32,
    /// The condition of the turn before, as an index into the flow's conditions.
    pub after: u8,
    /// The length of its counted part, in ns.
    pub ns: u64,
    /// The work in it: bytes received, transactions done, or packets sent where nobody receives.
    pub work: u64,
}

/// The work in each tenth of a condition's turns, the part included that is not counted: how it
/// answers to a switch.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Response {
    /// Turns after one of the same condition, in which nothing was switched.
    pub after_itself: [Slice; TENTHS],
    /// Turns after one of another condition.
    pub after_another: [Slice; TENTHS],
}

/// The parts of a turn.
pub const TENTHS: usize = 10;

/// A part of a turn, summed over several turns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slice {
    /// Its length, in ns.
    pub ns: u64,
    /// The work in it.
    pub work: u64,
}

/// The turns in which a run shared a flow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turns {
    /// The length of a turn, in ns.
    pub turn_ns: u64,
    /// Its first part, which is not counted, in ns.
    pub settle_ns: u64,
    /// The condition's index among the flow's conditions.
    pub own: u8,
    /// Each counted turn, in order, by the side that the traffic reaches.
    pub turns: Vec<CountedTurn>,
    /// The work in each part of them.
    pub response: Response,
    /// The bytes of a TCP stream that arrived in counted parts after turns of other conditions, and
    /// had been sent in these; not recorded by earlier builds.
    #[serde(default)]
    pub from_others: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_of_a_build_that_did_not_count_bytes_from_others_is_read() {
        let turns = Turns {
            turn_ns: 5,
            settle_ns: 1,
            own: 0,
            turns: Vec::new(),
            response: Response::default(),
            from_others: 0,
        };
        let mut stored = serde_json::to_value(&turns).expect("turns are JSON");
        assert!(stored.as_object_mut().is_some_and(|fields| fields.remove("from_others").is_some()));
        assert_eq!(serde_json::from_value::<Turns>(stored).expect("it has every other field"), turns);
    }
}
