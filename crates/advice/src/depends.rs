//! On which other switches an effect depends.

use report::Change;
use serde::Serialize;

/// A change with all other switches as advice leaves them: on, but for those that it sets off.
#[derive(Debug, Clone, Serialize)]
pub struct AsLeft {
    /// The other factors that the advice sets off.
    pub off: Vec<String>,
    /// The change of the goal's metric, or of both sides' metrics; empty where this state was not
    /// measured with the switch both on and off.
    pub changes: Vec<Change>,
}

/// A switch on which the effect of another one depends: its changes at both levels of this one are
/// proven to differ, and one of them is not proven to serve the goal.
#[derive(Debug, Clone, Serialize)]
pub struct DependsOn {
    /// The factor of the study.
    pub factor: String,
    /// The level at which the advice leaves it.
    pub left: String,
    /// Its other level.
    pub other: String,
    /// The changes with it at `left`, each the mean over the states of all remaining switches.
    pub with_left: Vec<Change>,
    /// The changes with it at `other`.
    pub with_other: Vec<Change>,
}
