//! What a stored study holds and what is asked of it: plan, runs, questions, and what its accounts
//! say of the runs.

pub(crate) mod acted;
pub(crate) mod ambient;
pub(crate) mod congestion_control;
pub(crate) mod decided;
pub(crate) mod disturbed;
pub(crate) mod error;
pub(crate) mod exact;
pub(crate) mod limits;
pub(crate) mod looks;
pub(crate) mod means;
pub(crate) mod metric;
pub(crate) mod missing;
pub(crate) mod notes;
pub(crate) mod outcomes;
pub(crate) mod stored;
pub(crate) mod subject;
pub(crate) mod target;
pub(crate) mod truth;
pub(crate) mod unmeasured;
