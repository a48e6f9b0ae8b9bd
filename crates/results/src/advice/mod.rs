//! Advice drawn from stored studies: which switch to set on which side, what that changes, what it
//! costs elsewhere, and the commands that do it and undo it.
//!
//! A recommendation rests on proof in the study alone, and no opinion is built in:
//! [`crate::SwitchEffects`] has all that is known of a switch.

mod advise;
mod checks;
mod command;
mod goal;
mod judge;
mod over_pairs;
mod recommendation;
mod row;

pub use advise::{
    Advice, AdviceRequest, AdviceSummary, GoalAdvice, StudyAdvice, SummaryScope, WorkloadAdvice,
};
pub use checks::DependenceTests;
pub use command::{HostCommand, HostInterface};
pub use goal::AdviceGoal;
pub use judge::Standing;
pub use over_pairs::{ExceptedPair, FleetAdvice, FleetAdviceRow, PairsAdvice};
pub use recommendation::{AsLeft, DependsOn, Recommendation, SettlingStudy};
pub use row::AdviceRow;
