//! Which combinations of offloads a study measures.

use serde::{Deserialize, Serialize};

use crate::model::dropped::Dropped;

pub(crate) mod fraction;
mod offload;
pub(crate) mod rows;
pub(crate) mod spelling;

pub use offload::Offload;

/// Chosen on and off states of some offloads. Every condition of the plan has the level `on` or
/// `off` of each of [`Design::factors`], and reads back as that.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Design {
    /// Which combinations.
    pub kind: DesignKind,
    /// The names of its factors; those of a ladder in the order in which they go off.
    pub factors: Vec<String>,
    /// Of a fraction: pairs of factors whose joint effects cannot be told from each other, in
    /// groups.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<Vec<[String; 2]>>,
    /// Combinations that were asked for and read back as others; known once the switches were tried
    /// out. Where conditions differ in more than the design (two network interfaces, say), one
    /// combination may be here more than once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unreachable: Vec<Unreachable>,
    /// Factors that left the design, because no interface here can switch them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<Dropped>,
}

/// A combination that cannot be reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unreachable {
    /// The requested state of each of [`Design::factors`]; `true` is on.
    pub asked: Vec<bool>,
    /// The state that the factors read back.
    pub reads: Vec<bool>,
}

words::vocabulary! {
    /// Which combinations of offloads.
    pub enum DesignKind: "a design" {
        /// All on, then one after the other goes off and stays off.
        Ladder = "ladder";
        /// Every combination that can be reached.
        Factorial = "factorial";
        /// A fraction of them that still tells the main effects apart.
        Fractional = "fractional";
    }
}
