//! Advice drawn from stored studies: which switch to set on which side, what that changes, what it
//! costs elsewhere, and the commands that do it and undo it.
//!
//! [`Advice::of`] gives all of it as data; [`Advice::blocks`] and [`Advice::script`] put it into
//! words. Nothing is recommended that the study did not prove, and
//! no opinion is built in: what is known of a switch is what `report` found in the runs.
//!
//! Pure: no I/O.

mod advice;
mod checks;
mod command;
mod depends;
mod found;
mod goal;
mod judge;
mod more;
mod phrase;
mod planned;
mod recommendation;
mod request;
mod row;
mod script;
mod sentences;
mod summary;
mod view;
mod workload_advice;

pub use advice::Advice;
pub use checks::Checked;
pub use command::{Command, Interface};
pub use depends::{AsLeft, DependsOn};
pub use found::StudyAdvice;
pub use goal::Goal;
pub use judge::Standing;
pub use more::More;
pub use planned::{Planned, Setting};
pub use recommendation::Recommendation;
pub use request::Request;
pub use row::{Condition, Row};
pub use summary::{Scope, Summary};
pub use view::Detail;
pub use workload_advice::WorkloadAdvice;
