//! What is read from a stored study: plan, runs, questions, and the runs' accounts.

pub(crate) mod acted;
pub(crate) mod ambient;
pub(crate) mod chosen;
pub(crate) mod congestion_control;
pub(crate) mod decided;
pub(crate) mod differences;
pub(crate) mod disturbed;
pub(crate) mod error;
pub(crate) mod exact;
pub(crate) mod leaves;
pub(crate) mod limits;
pub(crate) mod looks;
pub(crate) mod matched;
pub(crate) mod means;
pub(crate) mod metric;
pub(crate) mod missing;
pub(crate) mod notes;
pub(crate) mod outcomes;
pub(crate) mod pairs;
pub(crate) mod series;
pub(crate) mod stored;
pub(crate) mod subject;
pub(crate) mod target;
pub(crate) mod truth;
pub(crate) mod unmeasured;
