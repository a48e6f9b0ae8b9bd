//! Advice drawn from stored studies: which switch to set on which side, what that changes, what it
//! costs elsewhere, and the commands that do it and undo it.
//!
//! [`Advice::from_studies`] gives all of it as data; [`Advice::blocks`] and [`Advice::script`] put
//! it into words. Nothing is recommended that the study did not prove, and no opinion is built in:
//! what is known of a switch is what `report` found in the runs.
//!
//! Pure: no I/O.

mod advice_row;
mod advise;
mod checks;
mod command;
mod goal;
mod judge;
mod phrase;
mod planned;
mod recommendation;
mod script;
mod sentences;
mod settling_study;
mod study_advice;
mod summary;
mod view;
mod workload_advice;

pub use advice_row::{AdviceRow, SwitchLevel};
pub use advise::{Advice, AdviceRequest};
pub use checks::DependenceTests;
pub use command::{HostCommand, HostInterface};
pub use goal::AdviceGoal;
pub use judge::Standing;
pub use planned::{PlannedSetting, PlannedSettings};
pub use recommendation::{AsLeft, DependsOn, Recommendation};
pub use settling_study::SettlingStudy;
pub use study_advice::StudyAdvice;
pub use summary::{AdviceSummary, SummaryScope};
pub use view::AdviceDetail;
pub use workload_advice::WorkloadAdvice;
